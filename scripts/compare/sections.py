"""The report's sections, each from the journal's entries of one part."""

from collections import defaultdict

from compare.statistics import exponent, median
from compare.tables import markdown, number, seconds
from compare.verdicts import Verdict

MEGABYTE = 1e6
METHOD_NAMES = {"1nn": "1NN", "ot-exact": "OT-exact", "ot-it": "OT-IT", "ot-gl": "OT-GL", "ot-lpl1": "OT-LpL1",
                "ot-laplace": "OT-Laplace"}
# Of a process that takes little, pages and allocators are most of it.
SMALLEST_SIZE_FOR_MEMORY = 1000


def threads_text(threads):
    return "all" if threads is None else str(threads)


def solvers(entries, machine):
    header = ["problem", "λ", "η", "threads", "asked of ours", "ours, s", "POT's function", "POT, s", "times faster [95 %]",
              "at most", "our objective", "difference", "POT's marginal error", "verdict", "ours, most accurate, s"]
    by_method = defaultdict(list)
    for entry in entries:
        by_method[entry["method"]].append(solver_row(entry, machine))
    texts = [f"### {METHOD_NAMES[method]}\n\n{markdown(header, rows)}" for method, rows in by_method.items()]
    return "## Solvers\n\n" + "\n".join(texts) + "\n" + whole_grids(entries)


def whole_grids(entries):
    """What an experiment pays for: all weights of a method on one problem."""
    cells = defaultdict(list)
    for entry in entries:
        if entry["pot"] is not None:
            cells[entry["method"], entry["problem"], threads_text(entry["threads"])].append(entry)
    rows = []
    for (method, problem, threads), own in cells.items():
        verdicts = [Verdict(entry) for entry in own]
        ours, pot = (sum(median(entry[side]["seconds"]) for entry in own) for side in ("ours", "pot"))
        bound = "≥ " if any(verdict.is_late for verdict in verdicts) else ""
        right = sum(verdict.is_pot_right for verdict in verdicts)
        rows.append([METHOD_NAMES[method], problem, threads, len(own), f"{ours:.3g}", f"{bound}{pot:.3g}",
                     f"{bound}{pot / ours:.3g}", f"{right} of {len(own)}"])
    header = ["method", "problem", "threads", "weights", "ours, s", "POT, s", "times faster", "POT converged"]
    return "### All weights of a problem together\n\n" + markdown(header, rows)


def solver_row(entry, machine):
    ours, pot = entry["ours"], entry["pot"]
    cells = [entry["problem"], number(entry["lambda"], "g"), number(entry["eta"], "g"), threads_text(entry["threads"]),
             setting_text(entry), seconds(ours["seconds"])]
    objective = number(ours["objective"], ".9g")
    accurate = seconds(entry["accurate"]["seconds"]) if entry["accurate"] else "the same"
    if pot is None:
        return [*cells, "not run again", "—", "—", "—", objective, "—", "—", "—", accurate]
    verdict = Verdict(entry, machine)
    return [*cells, pot["call"], seconds(pot["seconds"]), verdict.ratio_text(), verdict.ceiling_text(), objective,
            number(verdict.difference, "+.1e"), pot["failure"] or number(pot["marginal_error"], ".0e"), verdict.text(),
            accurate]


def setting_text(entry):
    """What ours was asked for beyond the row's weights."""
    setting = entry["ours"]["setting"]
    words = [f"λ = {setting['lambda']:g}"] if setting["lambda"] != entry["lambda"] else []
    words += [f"gap {setting['gap']:g}"] if setting["gap"] else []
    return ", ".join(words) or "—"


def growth(entries, machine):
    header = ["method", "n", "asked of ours", "ours, s", "POT, s", "times faster [95 %]", "at most", "verdict",
              "ours, MB", "× the costs", "POT, MB", "× the costs"]
    rows = []
    for entry in entries:
        ours, pot = entry["ours"], entry["pot"]
        verdict = Verdict(entry, machine) if pot else None
        memory = []
        for side in (ours, pot):
            if side is None or side["peak_bytes"] is None:
                memory += ["—", "—"]
            else:
                memory += [f"{side['peak_bytes'] / MEGABYTE:.0f}", f"{multiple(entry, side):.2f}"]
        rows.append([METHOD_NAMES[entry["method"]], entry["n_s"], setting_text(entry), seconds(ours["seconds"]),
                     seconds(pot["seconds"]) if pot else "—", verdict.ratio_text() if verdict else "—",
                     verdict.ceiling_text() if verdict else "—",
                     verdict.text() if verdict else "POT would take too long", *memory])
    rows.sort(key=lambda row: list(METHOD_NAMES.values()).index(row[0]))
    header_of_fits = ["method", "ours: time", "POT: time", "ours: memory", "POT: memory"]
    fits = []
    for method in dict.fromkeys(entry["method"] for entry in entries):
        own = [entry for entry in entries if entry["method"] == method]
        fits.append([METHOD_NAMES[method], *(number(fit(own, side, value), ".2f") for value in ("seconds", "peak_bytes")
                                             for side in ("ours", "pot"))])
    return ("## Growth\n\nClouds of n samples each in 16 dimensions, ten classes, all cores.\n\n" + markdown(header, rows)
            + "\nExponents e of n^e, fitted by least squares on logarithms (memory from n = "
            + f"{SMALLEST_SIZE_FOR_MEMORY}):\n\n" + markdown(header_of_fits, fits))


def multiple(entry, side):
    return side["peak_bytes"] / (8 * entry["n_s"] * entry["n_t"])


def fit(entries, side, value):
    points = []
    for entry in entries:
        measured = entry[side]
        if measured is None or measured["failure"]:
            continue
        amount = median(measured["seconds"]) if value == "seconds" else measured["peak_bytes"]
        if amount and (value == "seconds" or entry["n_s"] >= SMALLEST_SIZE_FOR_MEMORY):
            points.append((entry["n_s"], amount))
    return exponent(*zip(*points)) if points else None


def experiment(entry):
    ours, pot = entry["ours"], entry["pot"]
    units = {(unit["method"], unit["pair"], unit["trial"]): unit for unit in pot["units"]}
    cells = defaultdict(list)
    for unit in ours["units"]:
        cells[unit["method"], unit["pair"]].append((unit, units[unit["method"], unit["pair"], unit["trial"]]))
    rows = []
    for (method, pair), both in sorted(cells.items(), key=lambda cell: (cell[0][1], list(METHOD_NAMES).index(cell[0][0]))):
        our_seconds, pot_seconds = (sum(pairing[side][name] for pairing in both)
                                    for side, name in ((0, "seconds"), (1, "seconds_of_all")))
        accuracies = [sum(pairing[side]["accuracy"] for pairing in both) / len(both) * 100 for side in (0, 1)]
        points, grid, failed = (sum(pairing[1][name] for pairing in both) for name in ("points", "of", "failed"))
        extrapolated = "" if points == grid else f" (extrapolated from {points} of {grid} points)"
        rows.append([pair, METHOD_NAMES[method], f"{accuracies[0]:.1f}", f"{accuracies[1]:.1f}", f"{our_seconds:.3g}",
                     f"{pot_seconds:.3g}{extrapolated}", f"{pot_seconds / our_seconds:.3g}", failed or "—"])
    header = ["pair", "method", "ours, %", "POT, %", "ours, unit s", "POT, unit s", "times faster", "POT's points without an answer"]
    measured, whole = (sum(unit[name] for unit in pot["units"]) for name in ("seconds", "seconds_of_all"))
    total = pot["seconds"] * whole / measured
    note = "" if measured == whole else f" (extrapolated; {pot['seconds']:.4g} s were run)"
    same = all(one["accuracy"] == other["accuracy"] for (method, _), both in cells.items() if method == "1nn"
               for one, other in both)
    check = "1NN has the same accuracy on both sides in every trial, so the draws are the same." if same else (
        "1NN DIFFERS between the sides: the draws are NOT the same.")
    return (f"## The whole experiment\n\n`configs/office.toml`, {', '.join(entry['pairs'])}, {entry['trials']} trials, "
            f"{entry['jobs']} cores: ours **{ours['seconds']:.4g} s**, Python **{total:.4g} s**{note}, "
            f"**{total / ours['seconds']:.3g} times** as long. {check}\n\n" + markdown(header, rows)
            + "\nUnit seconds are sums over the trials, of units that share the cores with others. POT's OT-Laplace has no "
            "entropy and a grid of 7 points (η) where ours has 49 (λ × η); all other grids are the same. Ours solves to a "
            "relative duality gap of 1e-3 on the validation half and 1e-6 on the test half, POT with its own defaults.\n")


def limits(entry):
    machine, nearest = entry["machine_limits"], entry["nearest_limits"]
    pass_ = machine["sinkhorn_gb"]
    rows = [[f"Sinkhorn's pass, {machine['size']}×{machine['size']}", f"{pass_:.1f} GB/s", limit, f"{machine[name]:.1f} GB/s",
             f"{100 * pass_ / machine[name]:.0f} %"]
            for limit, name in (("reading", "read_gb"), ("copy", "copy_gb"), ("triad", "triad_gb"))]
    for what, value, limit in (
            (f"squared Euclidean costs, {machine['size']}×{machine['size']}×{machine['width']}", machine["cost_gflop"],
             machine["gemm_gflop"]),
            (f"nearest neighbour, {nearest['training']}×{nearest['queries']}×{nearest['width']}", nearest["nearest_gflop"],
             nearest["gemm_gflop"])):
        rows.append([what, f"{value:.1f} GFLOP/s", "faer's product of that shape", f"{limit:.1f} GFLOP/s",
                     f"{100 * value / limit:.0f} %"])
    return ("## The machine's limits\n\nOne thread, the fastest of ten. Copy counts what is read and what is written, triad three "
            "arrays; the pass only reads, each entry once from memory. GFLOP/s count the product's 2 n m d alone.\n\n"
            + markdown(["what", "ours", "limit", "machine", "share"], rows))
