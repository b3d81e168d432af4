"""What a measured cell says: how many times faster, whether that counts, and whether the target is met or can be met
at all."""

from compare.measure import RIGHT_MARGINAL_ERROR, is_late
from compare.objective import TOLERANCE
from compare.statistics import median, ratio_interval
from compare.tables import number

# How many times faster than POT we want to be; for OT-exact 1 / 0.7.
TARGETS = {"ot-exact": 1 / 0.7, "ot-it": 20, "ot-gl": 20, "ot-lpl1": 20, "ot-laplace": 100}
EXACT_TOLERANCE = 1e-9
# Those with an entropy. A plan of OT-exact has few entries that are not zero.
METHODS_WITH_FLOOR = ["ot-it", "ot-gl", "ot-lpl1", "ot-laplace"]


def ceiling(entry, machine):
    """How many times faster than POT any program could be; None where that is not known. Where POT failed its time is a
    lower bound."""
    seconds = floor(entry, machine) if machine and entry["pot"] and not entry["pot"]["failure"] else None
    return median(entry["pot"]["seconds"]) / seconds if seconds else None


def floor(entry, machine):
    """What every solver must spend: an entropic plan has an exponential for each pair, none of which is known before all
    costs have been read. A graph of nearest neighbours has half of a Gram product, n² d flops, at the speed of a large
    product."""
    if entry["method"] not in METHODS_WITH_FLOOR:
        return None
    threads = "all" if entry["threads"] is None else "one"
    seconds = 0.0
    if entry["lambda"] is not None:
        shape = entry["n_s"], entry["n_t"]
        known = [known[threads] for known in machine.get("floors", []) if (known["rows"], known["columns"]) == shape]
        if not known:
            return None
        seconds += known[0]
    if entry["method"] == "ot-laplace":
        if "width" not in entry or "threads" not in machine:
            return None
        speed = machine["gemm_gflop"] * 1e9 * (machine["threads"] if threads == "all" else 1)
        seconds += (entry["n_s"] ** 2 + entry["n_t"] ** 2) * entry["width"] / speed
    return seconds


class Verdict:
    """Of one entry of the journal with a POT side, on a machine whose limits are known or None."""

    def __init__(self, entry, machine=None):
        ours, pot = entry["ours"], entry["pot"]
        self.is_late = is_late(pot)
        self.is_broken = bool(pot["failure"]) and not self.is_late
        self.ratio = median(pot["seconds"]) / median(ours["seconds"])
        self.interval = ratio_interval(pot["seconds"], ours["seconds"])
        tolerance = EXACT_TOLERANCE if entry["method"] == "ot-exact" else TOLERANCE
        self.difference = None
        if pot["objective"] is not None:
            self.difference = (ours["objective"] - pot["objective"]) / abs(pot["objective"])
        self.is_worse = self.difference is not None and self.difference > tolerance
        self.is_better = self.difference is not None and self.difference < -tolerance
        self.is_ours_right = ours["stop"] == "converged" and ours["marginal_error"] <= RIGHT_MARGINAL_ERROR
        self.is_pot_right = pot["marginal_error"] is not None and pot["marginal_error"] <= RIGHT_MARGINAL_ERROR
        # A ratio counts only where our objective is as good or better. Where POT was given up it is a lower bound.
        self.counts = not self.is_worse and not self.is_broken
        self.target = TARGETS[entry["method"]]
        self.is_met = self.counts and self.ratio >= self.target
        self.is_slower = self.counts and not self.is_late and self.ratio < 1
        self.is_undecided = not self.is_met and self.is_late
        self.ceiling = ceiling(entry, machine)
        self.is_beyond = self.counts and not self.is_met and self.ceiling is not None and self.ceiling < self.target

    def ratio_text(self):
        bound = "≥ " if self.is_late else ""
        interval = f" [{self.interval[0]:.3g}, {self.interval[1]:.3g}]" if self.interval else ""
        return f"{bound}{self.ratio:.3g}{interval}"

    def ceiling_text(self):
        return number(self.ceiling, ".3g" if self.ceiling is None or self.ceiling < 1000 else ".0f")

    def text(self):
        words = []
        if self.is_late:
            words.append("POT given up")
        elif self.is_broken:
            words.append("POT has no answer: no comparison")
        elif self.is_worse:
            words.append("our objective is WORSE: does not count")
        elif self.is_better:
            words.append("better objective")
        else:
            words.append("equal objective")
        if not self.is_pot_right and not self.is_late and not self.is_broken:
            words.append("POT did not converge")
        if not self.is_ours_right:
            words.append("OURS DID NOT CONVERGE")
        if self.is_met:
            words.append("target met")
        elif self.is_undecided:
            words.append("target undecided")
        elif self.counts:
            missed = "target beyond any program" if self.is_beyond else "target NOT met"
            words.append(f"{missed}, SLOWER" if self.is_slower else missed)
        return "; ".join(words)
