"""Time and peak memory against n, on two clouds of n samples each."""

import numpy as np

from compare.measure import Cell
from compare.problems import Problem
from compare.solver_part import describe

PART = "growth"
SIZES = [250, 500, 1000, 2000, 4000, 8000]
WIDTH, CLASSES = 16, 10
# λ = 3 is a twentieth of the mean cost.
METHODS = {
    "ot-exact": (None, None),
    "ot-it": (3, None),
    "ot-gl": (3, 1),
    "ot-lpl1": (3, 1),
    "ot-laplace": (None, 1),
}
# A side goes no further with a method when the next size would take it longer than this, by how it has grown.
LONGEST_FORECAST = {"ot-exact": 200.0}
USUAL_FORECAST = 60.0
FIRST_GROWTH = 6.0


def cloud(size):
    """Ten classes; the target is the source's distribution, shifted."""
    random = np.random.default_rng(size)
    centres, labels = random.standard_normal((CLASSES, WIDTH)), np.arange(size) % CLASSES
    source = centres[labels] + random.standard_normal((size, WIDTH))
    target = centres[random.permutation(labels)] + random.standard_normal((size, WIDTH)) + 0.5
    return Problem("clouds", source, labels, target, [], [])


def run(laboratory, quick, say):
    last, settings = {}, {}
    finished = set()
    for size in SIZES[:2] if quick else SIZES:
        problem = cloud(size)
        for method, weights in METHODS.items():
            if ("ours", method) in finished:
                continue
            calls = [] if ("pot", method) in finished else None
            # A process keeps memory that it has freed: its peak is that of a solve only if it is new.
            laboratory.pot.close()
            setting = settings.get(method) if ("pot", method) in finished else None
            entry = laboratory.measure(Cell(PART, problem.name, method, *weights, None, calls, setting), problem)
            settings[method] = entry["ours"]["setting"]
            say(describe(entry))
            for side in ("ours", "pot"):
                key = side, method
                seconds = median_seconds(entry[side])
                growth = seconds / last[key] if key in last else FIRST_GROWTH
                if seconds * growth > LONGEST_FORECAST.get(method, USUAL_FORECAST):
                    finished.add(key)
                last[key] = seconds


def median_seconds(side):
    """Infinite where there was no answer."""
    return float("inf") if side is None or side["failure"] else float(np.median(side["seconds"]))
