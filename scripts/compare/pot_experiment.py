"""The protocol of the paper in Python: POT's transports, scikit-learn's nearest neighbour, the same draws and grids.

`python -m compare.pot_experiment '{"pairs": ["C-A"], "trials": 1, "methods": ["ot-it"], "jobs": 2, "deadline": 900}'`
prints a JSON object a unit (one method on one trial of one pair) and at last the time of all.
"""

import itertools
import json
import sys
import time
import warnings

import joblib
import numpy as np
import ot
from sklearn.neighbors import KNeighborsClassifier

from compare import domains, draws
from compare.choice import choose
from compare.objective import TRADE_OFF
from compare.problems import NEIGHBOURS

GRID = [1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3]
SOURCE_PER_CLASS = {"D": 8}
USUAL_SOURCE_PER_CLASS = 20

# The transports with POT's own settings, and the weights that have a grid. emd_laplace has no entropy: only η has one.
METHODS = {
    "1nn": (None, ""),
    "ot-exact": (lambda: ot.da.EMDTransport(max_iter=10**7), ""),
    "ot-it": (lambda reg: ot.da.SinkhornTransport(reg_e=reg), "λ"),
    "ot-gl": (lambda reg, eta: ot.da.SinkhornL1l2Transport(reg_e=reg, reg_cl=eta), "λη"),
    "ot-lpl1": (lambda reg, eta: ot.da.SinkhornLpl1Transport(reg_e=reg, reg_cl=eta), "λη"),
    "ot-laplace": (lambda eta: ot.da.EMDLaplaceTransport(reg_lap=eta, reg_src=1 - TRADE_OFF, similarity_param=NEIGHBOURS),
                   "η"),
}


def main():
    wanted = json.loads(sys.argv[1])
    units = [(pair, trial, method) for method in wanted["methods"] for pair in wanted["pairs"]
             for trial in range(wanted["trials"])]
    with joblib.Parallel(n_jobs=wanted["jobs"], return_as="generator_unordered", batch_size=1) as pool:
        # Starting the processes and importing is not a part of the experiment.
        list(pool(joblib.delayed(time.sleep)(0.5) for _ in range(wanted["jobs"])))
        start = time.perf_counter()
        deadline = time.time() + wanted["deadline"]
        for unit in pool(joblib.delayed(run_unit)(*unit, deadline) for unit in units):
            print(json.dumps(unit), flush=True)
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def run_unit(pair, trial, method, deadline):
    """Chooses a grid point on the validation half, scores it on the test half. After the deadline the rest of the grid
    is left out, and the time that it would have taken extrapolated."""
    names = pair.split("-")
    source, target = map(domains.load, names)
    per_class = SOURCE_PER_CLASS.get(names[0], USUAL_SOURCE_PER_CLASS)
    drawn, validation, test = draws.draw(source, target, names, trial, per_class)
    labelled = source[0][drawn], source[1][drawn]
    make, weights = METHODS[method]
    grid = list(itertools.product(GRID, repeat=len(weights)))
    lambdas = [dict(zip(weights, point)).get("λ", 0.0) for point in grid]
    half = lambda indices: (target[0][indices], target[1][indices])
    start = time.perf_counter()
    tried, failed = {}, 0
    for place in spread_order(len(grid)):
        if tried and time.time() > deadline:
            break
        accuracy = score(make, grid[place], labelled, half(validation))
        failed += accuracy is None
        tried[place] = -1.0 if accuracy is None else accuracy
    spent = time.perf_counter() - start
    best = choose(tried, lambdas)
    accuracy = score(make, grid[best], labelled, half(test))
    seconds = time.perf_counter() - start
    return {"pair": pair, "trial": trial + 1, "method": method, "accuracy": accuracy or 0.0, "chosen": grid[best],
            "points": len(tried), "of": len(grid), "failed": failed, "seconds": seconds,
            "seconds_of_all": seconds - spent + spent * len(grid) / len(tried)}


def spread_order(count):
    """All places, such that any beginning of them is spread over the grid: its extrapolation is that of all of it."""
    stride = next(step for step in range(max(count * 5 // 8, 1), count + 2) if np.gcd(step, count) == 1)
    return [place * stride % count for place in range(count)]


def score(make, point, labelled, half):
    """None where POT has no answer."""
    features, labels = labelled
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            moved = features if make is None else make(*point).fit(Xs=features, ys=labels, Xt=half[0]).transform(features)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            return None
    if not np.all(np.isfinite(moved)):
        return None
    predicted = KNeighborsClassifier(n_neighbors=1).fit(moved, labels).predict(half[0])
    return float(np.mean(predicted == half[1]))


if __name__ == "__main__":
    main()
