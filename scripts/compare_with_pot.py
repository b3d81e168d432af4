#!/usr/bin/env python3
"""Measures our program against POT 0.9.7 and scikit-learn: same arrays, one run, one machine.

How, from the root of the workspace (Linux, Python 3.11 or newer, a network or a local package index, and the real
data in the folder that OTDA_DATA names):

    python3 scripts/compare_with_pot.py                        # everything; half an hour on two idle cores
    python3 scripts/compare_with_pot.py --quick                # C→A and small clouds, a few minutes
    python3 scripts/compare_with_pot.py --part growth,limits   # these parts only

writes pot.md and pot.csv to results/compare/ (with --quick to the folder of its work). The parts are

    solvers      each solver on C→A, U→M, P1→P2 and P2→P1, on one thread and on all cores
    growth       time and peak memory against n, on clouds of 250 … 8000 samples
    experiment   Table 3's protocol with all OT methods, two trials of C→A and D→W
    limits       our inner loops beside the bandwidth of memory and faer's matrix product, and for each shape that the
                 journal has the least that a solver must spend

What is measured is kept in a journal in target/compare/ as it comes: a run that was interrupted goes on where it was,
and measurements of another program are not mixed in; --fresh starts over. The report is made of all that the journal has of
this program. Leave the machine alone meanwhile.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from compare import environment

if environment.is_installed():
    from compare import experiment_part, growth_part, limits_part, report, solver_part
    from compare.journal import Journal
    from compare.measure import Laboratory
    from compare.our_side import OurSide
    from compare.pot_side import PotSide

ROOT = Path(__file__).resolve().parents[1]
PARTS = ["solvers", "growth", "experiment", "limits"]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main():
    arguments = parse_arguments()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if not environment.is_installed():
        sys.exit(environment.run_inside(__file__, work / "python"))
    print(environment.versions(), flush=True)
    start = time.monotonic()

    def say(text):
        print(f"{time.monotonic() - start:7.1f} s  {text}", flush=True)

    journal_file = work / "journal.jsonl"
    if arguments.fresh:
        journal_file.unlink(missing_ok=True)
    journal = Journal(journal_file)
    ours = OurSide(arguments.runner or build(["-p", "runner"], "runner"), work)
    pot = PotSide()
    try:
        measure(arguments, Laboratory(ours, pot, journal, work, arguments.limit, arguments.budget), say)
    finally:
        pot.close()
    out = arguments.out or (work if arguments.quick else ROOT / "results" / "compare")
    out.mkdir(parents=True, exist_ok=True)
    command = shlex.join(["python3", "scripts/compare_with_pot.py", *sys.argv[1:]])
    report.write(journal, ours.identity, out, command)
    say(f"wrote {out / 'pot.md'} and {out / 'pot.csv'}")


def measure(arguments, laboratory, say):
    ours, journal, work = laboratory.ours, laboratory.journal, laboratory.work
    if "solvers" in arguments.part:
        solver_part.run(laboratory, arguments.quick, say)
    if "growth" in arguments.part:
        growth_part.run(laboratory, arguments.quick, say)
    if "experiment" in arguments.part:
        config = ROOT / "configs" / "office.toml"
        experiment_part.run(ours, journal, work, config, arguments.deadline, arguments.quick, say)
    if "limits" in arguments.part:
        limits_part.run(ours, journal, ROOT, build, say)


def build(packages, program):
    """Builds with the profile that users run, and returns the path of the program."""
    subprocess.run(["cargo", "build", "--locked", *packages], check=True, cwd=ROOT)
    return TARGET / "debug" / program


def parse_arguments():
    summary, _, details = __doc__.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=summary, epilog=details, formatter_class=raw)
    parser.add_argument("--part", type=parts, default=PARTS, metavar="PARTS", help=f"of {','.join(PARTS)} [default: all]")
    parser.add_argument("--runner", type=Path, metavar="FILE", help="our program [default: built from these sources]")
    parser.add_argument("--out", type=Path, metavar="DIR", help="writes pot.md and pot.csv to this folder")
    parser.add_argument("--work", type=Path, metavar="DIR", default=TARGET / "compare",
                        help="for the journal, arrays and the Python environment [default: target/compare]")
    parser.add_argument("--budget", type=float, default=20, metavar="SECONDS",
                        help="for POT's repetitions of one solve [default: %(default)g]")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS",
                        help="after which one solve of POT is given up, other than emd [default: %(default)g]")
    parser.add_argument("--deadline", type=float, default=900, metavar="SECONDS",
                        help="after which the experiment with POT tries one grid point a unit and extrapolates "
                             "[default: %(default)g]")
    parser.add_argument("--quick", action="store_true", help="C→A, two small clouds, one trial of D→W")
    parser.add_argument("--fresh", action="store_true", help="forgets what was measured before")
    return parser.parse_args()


def parts(text):
    wanted = text.split(",")
    unknown = set(wanted) - set(PARTS)
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: known are {', '.join(PARTS)}")
    return wanted


if __name__ == "__main__":
    main()
