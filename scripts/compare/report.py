"""pot.md and pot.csv, from the journal."""

import os
import platform
import subprocess
import time
from pathlib import Path

from compare import environment, sections
from compare.measure import (EXACT_LIMIT, GAPS, GAPS_OF_OT_IT, OUR_CALLS, RIGHT_MARGINAL_ERROR, TEDIOUS,
                             TOO_SLOW_FOR_ONE_THREAD)
from compare.objective import TOLERANCE
from compare.statistics import median, spread
from compare.tables import markdown, write_csv
from compare.verdicts import EXACT_TOLERANCE, Verdict, ceiling

METHODS = ["ot-exact", "ot-it", "ot-gl", "ot-lpl1", "ot-laplace"]
MOST_MEMORY = 3.0  # times the cost matrix
LEAST_BANDWIDTH = 0.6

NOTES = f"""
## How it was measured

* Time is that of the solver, from costs and samples in memory to the dense plan. It does not contain the start of a
  process, reading and computing the costs; it contains the graphs of OT-Laplace and the OT-IT that OT-LpL1 starts at,
  on both sides. POT is a process that stays, and its first call, if it takes less than a second, is not counted. Ours is a
  new process each time, which then solves {OUR_CALLS} times and counts the last (`runner adapt --repeat {OUR_CALLS}`, its
  `seconds`). Both read the same .npy files. The sides take turns. `± … ×n`: interquartile range and number of
  repetitions; 95 % of the ratio of medians by bootstrap.
* On all cores POT may use all threads of its BLAS, and `emd` `numThreads="max"`. Ours share large matrices among all
  threads, but for OT-exact, which runs on one.
* POT is called with its own numbers of iterations: 1000 for `sinkhorn`, 10 × 200 for OT-GL and OT-LpL1, 100 for
  `emd_laplace`; of OT-IT's variants (plain, stabilized, log) the first that is right, or if none is that with the
  smallest marginal error. A solve that takes more than {TEDIOUS:g} s is not repeated, one of more than
  {TOO_SLOW_FOR_ONE_THREAD:g} s on all cores not run on one; *given up* means no answer in the time that the row
  states (`emd`: {EXACT_LIMIT:g} s), and the ratio is then a lower bound,
  with no objective to compare.
* Objectives are those of one function, ⟨γ,C⟩ + λ Σ γ ln γ + η Ω(γ), for the plans of both, moved onto the marginals
  first (Altschuler, Weed, Rigollet 2017): a plan off the polytope is cheap, not good. That costs POT no time. Equal
  means to {TOLERANCE:g} relative, {EXACT_TOLERANCE:g} for OT-exact. A ratio counts only where our objective is equal
  or lower. *did not converge*: marginals off by more than {RIGHT_MARGINAL_ERROR:g} (ℓ₁) before that.
* POT's OT-GL, OT-LpL1 and OT-Laplace stop far from the minimum. Ours is asked for the loosest relative duality gap of
  {GAPS[0]:g} … {GAPS[-1]:g} at which its objective is as good as POT's (OT-IT: {GAPS_OF_OT_IT[0]:g} … {GAPS_OF_OT_IT[-2]:g}, then marginals to 1e-10): a choice
  that knows POT's answer, and whose search is not counted. The last column is one solve with the most accurate of the
  settings tried.
* `emd_laplace` minimizes another function (no entropy, edges between classes, half weights). The two are compared in
  ⟨γ,C⟩ + η Ω(γ), without entropy and with our graphs, and ours gets the largest λ of the grid, or below it,
  at which it is as good there. `optim.gcg` gets our Ω and its gradient (50 × 2000 iterations) and minimizes the same function as ours.
* *at most* is POT's time over the least that any program must spend: a pass that reads each cost, because every entry of
  the plan depends on all of them, one that reads them again and writes their exponentials into memory that is there
  already (neither where the function has no entropy), and for the graphs of
  OT-Laplace half of the products X Xᵀ at the speed of faer's. Where it is below the target, the target is
  *beyond any program*; where POT failed there is no such bound.
* Memory is the peak of the process, inputs, costs and plan included, minus that of `adapt` on two samples (ours) or
  of the interpreter with its libraries (POT); as a multiple of the cost matrix's bytes.
"""


def write(journal, program, out, command):
    parts = {part: journal.of_part(part, program) for part in ("solvers", "growth", "experiment", "limits")}
    machine = parts["limits"][-1]["machine_limits"] if parts["limits"] else None
    texts = [head(command, program)]
    if any(parts.values()):
        texts.append(targets(parts, machine))
    if parts["solvers"]:
        texts.append(sections.solvers(parts["solvers"], machine))
    if parts["growth"]:
        texts.append(sections.growth(parts["growth"], machine))
    if parts["experiment"]:
        texts.append(sections.experiment(parts["experiment"][-1]))
    if parts["limits"]:
        texts.append(sections.limits(parts["limits"][-1]))
    (out / "pot.md").write_text("\n".join(texts) + NOTES, encoding="utf-8")
    rows = [row for part in ("solvers", "growth") for entry in parts[part] for row in csv_rows(entry, machine)]
    rows += [row for entry in parts["experiment"][-1:] for row in csv_rows_of_experiment(entry)]
    if rows:
        write_csv(out / "pot.csv", rows)


def head(command, program):
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    describe = ["git", "describe", "--always", "--dirty"]
    revision = subprocess.run(describe, cwd=Path(__file__).parent, capture_output=True, text=True).stdout.strip()
    return (f"# Our solvers beside POT: time, memory, objective\n\nOurs: `runner` with the SHA-1 {program}…, this script at "
            f"{revision or 'no revision'}. Theirs: {environment.versions()}. "
            f"{processor()}, {os.cpu_count()} cores, {platform.system()}. {when}.\n\n```\n{command}\n```\n")


def processor():
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def targets(parts, machine):
    """One row a target: how many cells meet it, the worst of them, and where we lose."""
    measured = [entry for part in ("solvers", "growth") for entry in parts[part] if entry["pot"]]
    rows = []
    for method in METHODS:
        verdicts = [(Verdict(entry, machine), entry) for entry in measured if entry["method"] == method]
        if not verdicts:
            continue

        def count(property_name):
            return sum(getattr(verdict, property_name) for verdict, _ in verdicts)

        met, beyond, undecided = count("is_met"), count("is_beyond"), count("is_undecided")
        wanted = "≤ 0.7 × POT's time" if method == "ot-exact" else f"≥ {verdicts[0][0].target:g} × faster"
        counting = [pair for pair in verdicts if pair[0].counts]
        worst, entry = min(counting, key=lambda pair: pair[0].ratio) if counting else (None, None)
        rows.append([f"{sections.METHOD_NAMES[method]} {wanted}",
                     outcome(met, beyond, undecided, len(verdicts)),
                     f"{met} of {len(verdicts)} cells; " + (f"{beyond} beyond any program; " if beyond else "")
                     + f"undecided {undecided}, slower {count('is_slower')}, objective worse {count('is_worse')}, "
                     f"POT without an answer {count('is_broken')}",
                     f"{worst.ratio_text()} ({place(entry)})" if worst else "—"])
    memory = [(sections.multiple(entry, entry["ours"]), entry) for entry in parts["growth"]
              if entry["n_s"] >= sections.SMALLEST_SIZE_FOR_MEMORY]
    if memory:
        most, entry = max(memory, key=lambda pair: pair[0])
        fine = sum(multiple <= MOST_MEMORY for multiple, _ in memory)
        rows.append([f"memory of one solve ≤ {MOST_MEMORY:g} × the costs", "met" if fine == len(memory) else "NOT met",
                     f"{fine} of {len(memory)} cells", f"{most:.2f} × ({place(entry)})"])
    if machine:
        for limit in ("copy", "triad"):
            share = machine["sinkhorn_gb"] / machine[f"{limit}_gb"]
            rows.append([f"Sinkhorn's pass ≥ {LEAST_BANDWIDTH:.0%} of the {limit} bandwidth",
                         "met" if share >= LEAST_BANDWIDTH else "NOT met", "", f"{share:.0%}"])
    return "## Targets\n\n" + markdown(["target", "", "where", "worst"], rows)


def outcome(met, beyond, undecided, cells):
    if beyond == cells:
        return "beyond any program"
    if met + beyond == cells:
        return "met where it can be" if beyond else "met"
    return "undecided" if met + beyond + undecided == cells else "NOT met"


def place(entry):
    weights = [f"{sign} = {entry[name]:g}" for sign, name in (("λ", "lambda"), ("η", "eta")) if entry[name] is not None]
    threads = f"threads: {sections.threads_text(entry['threads'])}"
    return ", ".join([sections.METHOD_NAMES[entry["method"]], entry["problem"], *weights, threads])


COLUMNS = ["part", "problem", "n_s", "n_t", "method", "lambda", "eta", "threads", "who", "function", "repetitions",
           "our_lambda", "our_gap", "median_seconds", "iqr_seconds", "at_most", "objective", "marginal_error",
           "converged", "peak_mb", "trial", "accuracy"]
EMPTY_ROW = dict.fromkeys(COLUMNS)


def csv_rows_of_experiment(entry):
    for who, function, seconds in (("ours", "runner", "seconds"), ("pot", "ot.da and scikit-learn", "seconds_of_all")):
        for unit in entry[who]["units"]:
            yield EMPTY_ROW | {
                "part": entry["part"], "problem": unit["pair"], "method": unit["method"], "threads": "1", "who": who,
                "function": function, "repetitions": 1, "median_seconds": unit[seconds], "trial": unit["trial"],
                "accuracy": unit["accuracy"],
            }


def csv_rows(entry, machine):
    at_most = ceiling(entry, machine)
    for who in ("ours", "pot"):
        side = entry[who]
        if side is None:
            continue
        # POT's process stays for all solvers of a problem: only in the part `growth` is its peak that of one solve.
        has_no_peak = side["peak_bytes"] is None or (who, entry["part"]) == ("pot", "solvers")
        yield EMPTY_ROW | {
            "part": entry["part"], "problem": entry["problem"], "n_s": entry["n_s"], "n_t": entry["n_t"],
            "method": entry["method"], "lambda": entry["lambda"], "eta": entry["eta"],
            "threads": sections.threads_text(entry["threads"]), "who": who, "function": side.get("call", "runner adapt"),
            "repetitions": len(side["seconds"]), "our_lambda": side.get("setting", {}).get("lambda"),
            "our_gap": side.get("setting", {}).get("gap"), "median_seconds": median(side["seconds"]),
            "iqr_seconds": spread(side["seconds"]), "at_most": at_most, "objective": side["objective"],
            "marginal_error": side["marginal_error"],
            "converged": ending(side),
            "peak_mb": None if has_no_peak else round(side["peak_bytes"] / sections.MEGABYTE, 1),
        }


def ending(side):
    """Why it stopped; POT does not say, its marginals do."""
    if side["failure"] or "stop" in side:
        return side["failure"] or side["stop"]
    return "converged" if side["marginal_error"] <= RIGHT_MARGINAL_ERROR else "not converged"
