#!/usr/bin/env python3
"""Compares the solvers of this workspace with POT (Python Optimal Transport) on the same arrays.

Why: two implementations that were written independently and agree are unlikely to share a mistake.
Where a problem has one solution (OT-exact, OT-IT), the objectives have to be equal. Where POT stops early
or minimizes something else (OT-GL, OT-LpL1, OT-Laplace), one function of this script evaluates the plans
of both, and ours must not be worse.

How, from the root of the workspace (needs Python 3.11 or newer and a network, or a local package index):

    python3 scripts/cross_check_pot.py                 # all problems
    python3 scripts/cross_check_pot.py --quick         # the synthetic one only
    python3 scripts/cross_check_pot.py --out results   # writes results/solvers.md, too

POT goes into a virtual environment in a temporary folder, which is removed at the end. The real data is
read from the folder that the environment variable OTDA_DATA names (office_surf/*.mat, digits/*.mat), if any.
The exit code is 1 if a row of the table says WORSE or UNEQUAL.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from compare import environment

if environment.is_installed():
    import numpy as np
    import ot

    from compare import domains, time_limit
    from compare.objective import LP_OFFSET, LP_POWER, TRADE_OFF, laplace, laplace_gradient, marginal_error, objective
    from compare.problems import NEIGHBOURS, Problem

SEED = 20
LAMBDA_GRID = [1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3]

EXACT_TOLERANCE = 1e-9
TOLERANCE = 1e-6
REPORT_TOLERANCE = 1e-9  # between the objective that we print and the one that this script computes
OUR_MARGINAL_ERROR = 1e-9
CONVERGED_MARGINAL_ERROR = 1e-9  # of POT's OT-IT
ADMISSIBLE_MARGINAL_ERROR = 1e-6  # of POT's other plans
SINKHORN_SECONDS = 10  # POT's limit for one OT-IT
POT_SECONDS = 30  # and for anything else


def main():
    arguments = parse_arguments()
    if not environment.is_installed():
        sys.exit(environment.run_inside(__file__))
    versions = environment.versions()
    print(f"{versions}\n", flush=True)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for problem in build_problems(arguments.quick):
            ours = OurSolvers(shlex.split(arguments.runner), problem, Path(folder))
            for row in compare(problem, ours):
                print(row.as_progress(), file=sys.stderr, flush=True)
                rows.append(row)
    report = markdown(rows, versions)
    print(report)
    if arguments.out:
        (arguments.out / "solvers.md").write_text(report, encoding="utf-8")
    failures = sum(row.fails() for row in rows)
    if failures:
        sys.exit(f"{failures} of {len(rows)} rows are worse or unequal")


def parse_arguments():
    summary, _, details = __doc__.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=summary, epilog=details, formatter_class=raw)
    parser.add_argument("--runner", default="cargo run -q -p runner --", metavar="COMMAND",
                        help="our program [default: %(default)s]")
    parser.add_argument("--out", type=Path, metavar="DIR", help="writes solvers.md to this folder")
    parser.add_argument("--quick", action="store_true", help="the synthetic problem only")
    return parser.parse_args()


# The problems -------------------------------------------------------------------------------------------


def build_problems(quick):
    yield synthetic()
    if quick:
        return
    if domains.data_folder() is None:
        print("OTDA_DATA names no folder: the real problems are left out\n")
        return
    yield office()
    yield digits()


def synthetic():
    random = np.random.default_rng(SEED)
    centres = random.standard_normal((3, 5))
    source_labels, target_labels = np.arange(80) % 3, np.arange(100) % 3
    source = centres[source_labels] + random.standard_normal((80, 5))
    target = centres[target_labels] + random.standard_normal((100, 5)) + 1
    weights = [(0.1, 1), (1, 0.1), (1, 1), (1, 10), (1, 100), (10, 1), (10, 100)]
    return Problem("blobs", source, source_labels, target, weights, [(0.001, 1), (1, 0.1), (1, 1), (10, 10)])


def office():
    weights = [(10, 1), (10, 100), (100, 10), (100, 100), (100, 1000)]
    return draw("C→A", weights, [(0.001, 1), (100, 0.1), (100, 1)])


def digits():
    weights = [(0.01, 1), (0.1, 0.1), (0.1, 10), (1, 1)]
    return draw("U→M", weights, [(0.001, 1), (0.1, 0.1), (0.1, 1)])


def draw(name, group_weights, laplace_weights):
    """20 source samples a class, and half of the target."""
    (features, labels), target = map(domains.load, name.split("→"))
    random = np.random.default_rng(SEED)
    drawn = np.concatenate([random.permutation(np.flatnonzero(labels == label))[:20] for label in np.unique(labels)])
    half = random.permutation(len(target[0]))[: len(target[0]) // 2]
    return Problem(name, features[drawn], labels[drawn], target[0][half], group_weights, laplace_weights)


# The two sides ------------------------------------------------------------------------------------------


class OurSolvers:
    """`runner adapt` on the arrays of one problem."""

    def __init__(self, command, problem, folder):
        self.command, self.problem, self.plan_file = command, problem, folder / "plan.npy"
        self.files = {name: folder / f"{name}.npy" for name in ["source", "labels", "target"]}
        for name, file in self.files.items():
            np.save(file, getattr(problem, name))

    def solve(self, method, entropy_weight, weight):
        """The objective, the report and what is wrong with them, if anything."""
        arguments = ["adapt", "--method", method, "--plan", str(self.plan_file)]
        for name, value in [*self.files.items(), ("lambda", entropy_weight), ("eta", weight)]:
            arguments += [f"--{name}", str(value)] if value is not None else []
        done = subprocess.run(self.command + arguments, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(self.command + arguments)}\n{done.stderr}")
        report, plan = json.loads(done.stdout), np.load(self.plan_file)
        total = objective(self.problem, method, entropy_weight, weight, plan)
        fault = None
        if not np.all(plan >= 0) or marginal_error(self.problem, plan) > OUR_MARGINAL_ERROR:
            fault = "WORSE: our plan's marginals are off"
        elif abs(report["objective"]["total"] - total) > REPORT_TOLERANCE * abs(total):
            fault = "UNEQUAL: our report and our plan"
        return total, report, fault


def run_pot(problem, solve, seconds, largest_marginal_error):
    """POT's plan, or None and the reason why it is none; and the seconds it took."""
    plan, failure, spent = time_limit.run(solve, seconds)
    if failure:
        return None, failure, spent
    if not np.all(np.isfinite(plan)):
        return None, "NaN", spent
    error = marginal_error(problem, plan)
    if error > largest_marginal_error:
        return None, f"marginals off by {error:.0e}", spent
    return plan, None, spent


# The comparison -----------------------------------------------------------------------------------------


@dataclass
class Row:
    problem: str
    method: str
    pot_call: str
    entropy_weight: float
    weight: float
    ours: float
    pot: float
    verdict: str
    our_seconds: float
    pot_seconds: float

    def as_cells(self):
        def number(value, style):
            return "—" if value is None else format(value, style)

        difference = None if self.pot is None else (self.ours - self.pot) / abs(self.pot)
        return [self.problem, self.method, self.pot_call, number(self.entropy_weight, "g"), number(self.weight, "g"),
                number(self.ours, ".9g"), number(self.pot, ".9g"), number(difference, "+.1e"), self.verdict,
                number(self.our_seconds, ".3g"), number(self.pot_seconds, ".3g")]

    def fails(self):
        return self.verdict.startswith(("WORSE", "UNEQUAL"))

    def as_progress(self):
        return " ".join(self.as_cells())


def compare(problem, ours):
    a, b = problem.masses
    cost, labels = problem.cost, problem.labels

    def rows(method, entropy_weight, weight, pot_calls, seconds=POT_SECONDS, largest=ADMISSIBLE_MARGINAL_ERROR):
        our_total, report, fault = ours.solve(method, entropy_weight, weight)
        for name, solve in pot_calls.items():
            plan, failure, pot_seconds = run_pot(problem, solve, seconds, largest)
            pot_total = None if plan is None else objective(problem, method, entropy_weight, weight, plan)
            verdict = fault or judge(method, our_total, pot_total, failure)
            if report["stop"] != "converged":
                verdict += f" (ours: {report['stop']})"
            yield Row(problem.name, method, name, entropy_weight, weight, our_total, pot_total, verdict,
                      report["seconds"], pot_seconds)

    exact = {"emd": lambda: ot.emd(a, b, cost, numItermax=10**7)}
    yield from rows("ot-exact", None, None, exact)

    for reg in LAMBDA_GRID:
        sinkhorn = {"sinkhorn_log": lambda: ot.bregman.sinkhorn_log(a, b, cost, reg, numItermax=10**7, stopThr=2e-11)}
        yield from rows("ot-it", reg, None, sinkhorn, SINKHORN_SECONDS, CONVERGED_MARGINAL_ERROR)

    solvers = {"ot-gl": ot.da.sinkhorn_l1l2_gl, "ot-lpl1": ot.da.sinkhorn_lpl1_mm}
    for method, solver in solvers.items():
        for reg, eta in problem.group_weights:
            calls = {
                f"{solver.__name__} {outer}×{inner}":
                    lambda outer=outer, inner=inner: solver(a, labels, b, cost, reg, eta, outer, inner)
                for outer, inner in [(10, 200), (50, 2000)]
            }
            yield from rows(method, reg, eta, calls)

    for reg, eta in problem.laplace_weights:
        calls = {
            "emd_laplace": lambda: ot.da.emd_laplace(
                a, b, problem.source, problem.target, cost, sim_param=NEIGHBOURS, eta=eta, alpha=1 - TRADE_OFF),
            "optim.gcg 50×2000": lambda: ot.optim.gcg(
                a, b, cost, reg, eta, lambda plan: laplace(problem, plan), lambda plan: laplace_gradient(problem, plan),
                numItermax=50, numInnerItermax=2000),
        }
        yield from rows("ot-laplace", reg, eta, calls)


def judge(method, our_total, pot_total, failure):
    if failure:
        return f"POT did not converge: {failure}" if method == "ot-it" else f"POT failed: {failure}"
    tolerance = EXACT_TOLERANCE if method == "ot-exact" else TOLERANCE
    difference = (our_total - pot_total) / abs(pot_total)
    if abs(difference) <= tolerance:
        return "ok"
    if method in ("ot-exact", "ot-it"):
        return "UNEQUAL"
    return "better" if difference < 0 else "WORSE"


def notes():
    return f"""
* Both plans are evaluated by the same function, ⟨γ,C⟩ + λ Σ γ ln γ + η Ω(γ), whatever the solver minimized.
  The difference is (ours − POT) / |POT|. Tolerances: {EXACT_TOLERANCE:g} for OT-exact, {TOLERANCE:g} for all others.
  OT-exact and OT-IT have to be equal; for the others *better* means lower by more than the tolerance.
* *POT failed* and *POT did not converge* are no comparisons: no answer in time, NaN, or marginals (ℓ₁) that are off by more than
  {CONVERGED_MARGINAL_ERROR:g} (OT-IT) or {ADMISSIBLE_MARGINAL_ERROR:g} (others). A plan off the polytope is cheap, not good.
  Our marginals have to hold to {OUR_MARGINAL_ERROR:g} in every row.
* OT-GL, OT-LpL1: with POT's default numbers of iterations, 10 × 200, and with more. `sinkhorn_l1l2_gl` leaves the
  entropy out of its line search, so that more iterations need not bring it closer to its optimum.
  OT-LpL1 is not convex; both start at the plan of OT-IT. Ω = Σ_j Σ_cl (‖γ(I_cl, j)‖₁ + {LP_OFFSET:g})^{LP_POWER:g} − {LP_OFFSET:g}^{LP_POWER:g}.
* OT-Laplace: `emd_laplace` is at a disadvantage here. It has no entropy, joins samples of different classes, halves the
  weight of an edge that only one of its ends chose, and calls α what the paper calls 1 − α (the same at α = {TRADE_OFF:g}).
  It minimizes another function, so its rows show the distance of the definitions more than of the solvers; with
  λ = 0.001 the entropy is next to nothing, and pruning and edge weights remain. The common ground is `optim.gcg`,
  POT's generic solver, which here gets our Ω and its gradient: the same function (but again a line search without entropy).
* Seconds are those of the solver alone; POT may use all cores.
"""


def markdown(rows, versions):
    header = ["problem", "method", "POT's function", "λ", "η", "ours", "POT", "difference", "verdict", "our s", "POT s"]
    lines = [header, ["---"] * len(header), *(row.as_cells() for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"# Our solvers and POT\n\n{versions}\n\n{table}\n{notes()}"


if __name__ == "__main__":
    main()
