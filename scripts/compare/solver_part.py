"""Every solver on problems of the paper's experiments, on one thread and on all cores."""

from compare import domains, draws
from compare.measure import LAMBDA_GRID, TOO_SLOW_FOR_ONE_THREAD, Cell
from compare.pot_calls import GENERIC_LAPLACE
from compare.problems import Problem

PART = "solvers"
# (λ, η) of OT-GL and OT-LpL1 about where they are chosen in the experiments, and of OT-Laplace. There the first is for
# emd_laplace, which has no entropy, the second for the generic solver.
WEIGHTS = {
    "C→A": ([(10, 1), (100, 10), (100, 100)], [(None, 1), (100, 1)]),
    "U→M": ([(0.01, 1), (0.1, 0.1), (1, 1)], [(None, 1), (0.1, 1)]),
    "P1→P2": ([(0.01, 1), (0.1, 1)], [(None, 1), (0.1, 1)]),
    "P2→P1": ([(0.01, 1), (0.1, 1)], [(None, 1), (0.1, 1)]),
}
SOURCE_PER_CLASS = 20


def problems(quick):
    for name in ["C→A"] if quick else WEIGHTS:
        pair = name.split("→")
        source, target = map(domains.load, pair)
        drawn, validation, _ = draws.draw(source, target, pair, 0, SOURCE_PER_CLASS)
        yield Problem(name, source[0][drawn], source[1][drawn], target[0][validation], *WEIGHTS[name])


def cells(problem, quick):
    """Method, λ, η and POT's functions."""
    yield "ot-exact", None, None, None
    for entropy_weight in LAMBDA_GRID[2::2] if quick else LAMBDA_GRID:
        yield "ot-it", entropy_weight, None, None
    for method in ["ot-gl", "ot-lpl1"]:
        for weights in problem.group_weights[1:] if quick else problem.group_weights:
            yield method, *weights, None
    without_entropy, generic = problem.laplace_weights
    yield "ot-laplace", *without_entropy, None
    yield "ot-laplace", *generic, [GENERIC_LAPLACE]


def run(laboratory, quick, say):
    if domains.data_folder() is None:
        say("OTDA_DATA names no folder: the part `solvers` is left out")
        return
    for problem in problems(quick):
        for method, entropy_weight, weight, calls in cells(problem, quick):
            entries = []
            for threads in (None, 1):
                is_slow = entries and max(entries[0]["pot"]["seconds"]) >= TOO_SLOW_FOR_ONE_THREAD
                cell = Cell(PART, problem.name, method, entropy_weight, weight, threads, [] if is_slow else calls)
                entries.append(laboratory.measure(cell, problem))
                say(describe(entries[-1]))


def describe(entry):
    def side(which):
        if not which or not which["seconds"]:
            return "—"
        return f"{sorted(which['seconds'])[len(which['seconds']) // 2]:.4g} s × {len(which['seconds'])}"

    parameters = " ".join(f"{name}={entry[name]:g}" for name in ("lambda", "eta") if entry[name] is not None)
    pot = entry["pot"] or {}
    threads = "all cores" if entry["threads"] is None else f"{entry['threads']} thread"
    return (f"{entry['part']}: {entry['problem']} {entry['method']} {parameters} ({threads}): ours {side(entry['ours'])}, "
            f"POT {pot.get('call', '')} {side(entry['pot'])} {pot.get('failure') or ''}")
