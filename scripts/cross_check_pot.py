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
import importlib.metadata
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from dataclasses import dataclass, field
from pathlib import Path

PINNED = {"POT": "0.9.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1"}

SEED = 20
LAMBDA_GRID = [1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3]
NEIGHBOURS = 8
TRADE_OFF = 0.5  # α of eq. reglaps2
LP_POWER, LP_OFFSET = 0.5, 1e-3  # p and epsilon in the source of ot.da.sinkhorn_lpl1_mm

EXACT_TOLERANCE = 1e-9
TOLERANCE = 1e-6
REPORT_TOLERANCE = 1e-9  # between the objective that we print and the one that this script computes
OUR_MARGINAL_ERROR = 1e-9
CONVERGED_MARGINAL_ERROR = 1e-9  # of POT's OT-IT
ADMISSIBLE_MARGINAL_ERROR = 1e-6  # of POT's other plans
SINKHORN_SECONDS = 10  # POT's limit for one OT-IT
POT_SECONDS = 30  # and for anything else

NOTES = f"""
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


def main():
    arguments = parse_arguments()
    if installed_versions() != PINNED:
        sys.exit(run_in_throw_away_environment())
    versions = ", ".join(f"{name} {version}" for name, version in PINNED.items())
    print(f"Python {platform.python_version()}, {versions}\n", flush=True)
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


def installed_versions():
    try:
        return {name: importlib.metadata.version(name) for name in PINNED}
    except importlib.metadata.PackageNotFoundError:
        return None


def run_in_throw_away_environment():
    with tempfile.TemporaryDirectory(prefix="pot-") as folder:
        print(f"installing POT {PINNED['POT']} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        packages = [f"{name}=={version}" for name, version in PINNED.items()]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        return subprocess.run([python, __file__, *sys.argv[1:]]).returncode


# The problems -------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """Samples with uniform masses, and the weights (λ, η) to try on them."""

    name: str
    source: "np.ndarray"
    labels: "np.ndarray"
    target: "np.ndarray"
    group_weights: list
    laplace_weights: list
    cost: "np.ndarray" = field(init=False)

    def __post_init__(self):
        self.cost = cdist(self.source, self.target, "sqeuclidean")
        n_s, n_t = self.cost.shape
        self.name = f"{self.name} {n_s}×{n_t}"
        self.masses = np.full(n_s, 1 / n_s), np.full(n_t, 1 / n_t)
        self.classes = [np.flatnonzero(self.labels == label) for label in np.unique(self.labels)]
        same_class = self.labels[:, None] == self.labels[None, :]
        self.laplacians = (laplacian(nearest_neighbours(self.source) & same_class),
                           laplacian(nearest_neighbours(self.target)))


def build_problems(quick):
    yield synthetic()
    folder = os.environ.get("OTDA_DATA")
    if quick:
        return
    if not folder or not Path(folder).is_dir():
        print("OTDA_DATA names no folder: the real problems are left out\n")
        return
    yield office(Path(folder) / "office_surf")
    yield digits(Path(folder) / "digits")


def synthetic():
    random = np.random.default_rng(SEED)
    centres = random.standard_normal((3, 5))
    source_labels, target_labels = np.arange(80) % 3, np.arange(100) % 3
    source = centres[source_labels] + random.standard_normal((80, 5))
    target = centres[target_labels] + random.standard_normal((100, 5)) + 1
    weights = [(0.1, 1), (1, 0.1), (1, 1), (1, 10), (1, 100), (10, 1), (10, 100)]
    return Problem("blobs", source, source_labels, target, weights, [(0.001, 1), (1, 0.1), (1, 1), (10, 10)])


def office(folder):
    def domain(name):
        content = loadmat(folder / f"{name}_SURF_L10.mat")
        features = content["fts"].astype(float)
        features /= features.sum(axis=1, keepdims=True)
        features -= features.mean(axis=0)
        deviation = features.std(axis=0)
        return features / np.where(deviation > 0, deviation, 1), content["labels"].ravel().astype(int)

    weights = [(10, 1), (10, 100), (100, 10), (100, 100), (100, 1000)]
    laplace_weights = [(0.001, 1), (100, 0.1), (100, 1)]
    return draw("C→A", domain("Caltech10"), domain("amazon"), weights, laplace_weights)


def digits(folder):
    content = loadmat(folder / "USPS_vs_MNIST.mat")

    def domain(side):
        features = content[f"X_{side}"].T.astype(float)
        return features / np.linalg.norm(features, axis=1, keepdims=True), content[f"Y_{side}"].ravel().astype(int)

    weights = [(0.01, 1), (0.1, 0.1), (0.1, 10), (1, 1)]
    return draw("U→M", domain("src"), domain("tar"), weights, [(0.001, 1), (0.1, 0.1), (0.1, 1)])


def draw(name, source, target, group_weights, laplace_weights):
    """20 source samples a class, and half of the target."""
    random = np.random.default_rng(SEED)
    features, labels = source
    drawn = np.concatenate([random.permutation(np.flatnonzero(labels == label))[:20] for label in np.unique(labels)])
    half = random.permutation(len(target[0]))[: len(target[0]) // 2]
    return Problem(name, features[drawn], labels[drawn], target[0][half], group_weights, laplace_weights)


# The objective ------------------------------------------------------------------------------------------


def nearest_neighbours(samples):
    """S: whether one of the two samples is among the nearest of the other."""
    distances = cdist(samples, samples, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    joined = np.zeros(distances.shape, dtype=bool)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
    np.put_along_axis(joined, nearest, True, axis=1)
    return joined | joined.T


def laplacian(joined):
    return np.diag(joined.sum(axis=1)) - joined.astype(float)


def group_lasso(problem, plan):
    return sum(np.linalg.norm(plan[rows], axis=0).sum() for rows in problem.classes)


def lp_l1(problem, plan):
    masses = (plan[rows].sum(axis=0) for rows in problem.classes)
    return sum(((mass + LP_OFFSET) ** LP_POWER - LP_OFFSET**LP_POWER).sum() for mass in masses)


def laplace(problem, plan):
    """Eq. reglaps2; the factors n_s and n_t of the transported samples cancel with 1/n_s² and 1/n_t²."""
    moved_source, moved_target = plan @ problem.target, plan.T @ problem.source
    of_source, of_target = problem.laplacians
    return ((1 - TRADE_OFF) * np.sum(moved_source * (of_source @ moved_source))
            + TRADE_OFF * np.sum(moved_target * (of_target @ moved_target)))


def laplace_gradient(problem, plan):
    of_source, of_target = problem.laplacians
    return (2 * (1 - TRADE_OFF) * (of_source @ plan @ problem.target) @ problem.target.T
            + 2 * TRADE_OFF * problem.source @ (problem.source.T @ plan @ of_target))


REGULARIZERS = {"ot-gl": group_lasso, "ot-lpl1": lp_l1, "ot-laplace": laplace}


def objective(problem, method, entropy_weight, weight, plan):
    total = np.sum(plan * problem.cost)
    if entropy_weight is not None:
        total += entropy_weight * np.sum(xlogy(plan, plan))
    if weight is not None:
        total += weight * REGULARIZERS[method](problem, plan)
    return float(total)


def marginal_error(problem, plan):
    return max(np.abs(plan.sum(axis=1) - problem.masses[0]).sum(), np.abs(plan.sum(axis=0) - problem.masses[1]).sum())


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


class Late(Exception):
    """POT took too long."""


def run_pot(problem, solve, seconds, largest_marginal_error):
    """POT's plan, or None and the reason why it is none; and the seconds it took."""

    def interrupt(*_):
        raise Late

    signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            plan = solve()
    except Late:
        return None, f"no answer in {seconds} s", time.perf_counter() - start
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        return None, type(error).__name__, time.perf_counter() - start
    finally:
        signal.alarm(0)
    spent = time.perf_counter() - start
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


def markdown(rows, versions):
    header = ["problem", "method", "POT's function", "λ", "η", "ours", "POT", "difference", "verdict", "our s", "POT s"]
    lines = [header, ["---"] * len(header), *(row.as_cells() for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"# Our solvers and POT\n\n{versions}\n\n{table}\n{NOTES}"


if installed_versions() == PINNED:
    import numpy as np
    import ot
    from scipy.io import loadmat
    from scipy.spatial.distance import cdist
    from scipy.special import xlogy

if __name__ == "__main__":
    main()
