"""The whole experiment: our program and the same protocol with POT, on all cores."""

import json
import os
import shutil
import subprocess
import sys

from compare import domains, pot_side

PART = "experiment"
METHODS = ["1nn", "ot-exact", "ot-it", "ot-laplace", "ot-lpl1", "ot-gl"]


def run(ours, journal, work, config, deadline, quick, say):
    if domains.data_folder() is None:
        say("OTDA_DATA names no folder: the part `experiment` is left out")
        return
    pairs, trials = (["D-W"], 1) if quick else (["C-A", "D-W"], 2)
    jobs = os.cpu_count()
    key = {"part": PART, "program": ours.identity, "pairs": pairs, "trials": trials, "deadline": deadline}
    if journal.find(**key):
        return
    say(f"experiment: ours on {', '.join(pairs)}")
    our_units, our_seconds = run_ours(ours, work, config, pairs, trials, jobs)
    say(f"experiment: ours took {our_seconds:.1f} s; POT's turn")
    pot_units, pot_seconds = run_pot(pairs, trials, jobs, deadline, say)
    journal.add({**key, "jobs": jobs, "ours": {"units": our_units, "seconds": our_seconds},
                 "pot": {"units": pot_units, "seconds": pot_seconds}})


def run_ours(ours, work, config, pairs, trials, jobs):
    """The units, and the seconds between the start of the run and its end as the manifest has them."""
    out = work / "experiment"
    shutil.rmtree(out, ignore_errors=True)
    command = [str(ours.program), str(config), "--pairs", ",".join(pairs), "--trials", str(trials),
               "--methods", ",".join(METHODS), "--jobs", str(jobs), "--out", str(out), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    units = []
    for line in (out / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "scored" not in record["ending"]:
            sys.exit(f"our {record['method']} failed on {record['pair']}: {record['ending']}")
        scored = record["ending"]["scored"]
        units.append({"pair": record["pair"].replace("->", "-"), "trial": record["trial"], "method": record["method"],
                      "accuracy": scored["test"]["accuracy"], "seconds": record["seconds"],
                      "points": len(scored["tried"])})
    return units, json.loads((out / "manifest.json").read_text(encoding="utf-8"))["seconds"]


def run_pot(pairs, trials, jobs, deadline, say):
    wanted = {"pairs": pairs, "trials": trials, "methods": METHODS, "jobs": jobs, "deadline": deadline}
    # A process a core, each on one thread.
    process = subprocess.Popen([sys.executable, "-m", "compare.pot_experiment", json.dumps(wanted)],
                               stdout=subprocess.PIPE, text=True, env=pot_side.environment(1))
    units, seconds = [], None
    for line in process.stdout:
        answer = json.loads(line)
        if "method" in answer:
            units.append(answer)
            say(f"experiment: POT {answer['method']} on {answer['pair']}, trial {answer['trial']}: "
                f"{answer['seconds']:.1f} s, {answer['points']} of {answer['of']} points, {answer['accuracy']:.3f}")
        else:
            seconds = answer["seconds"]
    if process.wait() != 0 or seconds is None:
        sys.exit("the experiment with POT failed")
    return units, seconds
