#!/usr/bin/env python3
"""OT-IT on faces with plain Sinkhorn, stopped after a number of iterations, in the protocol of configs/pie.toml.

Asks whether the paper's 54.9 is that of plans that had not converged. How, from the root of the workspace, with the real
data in the folder that OTDA_DATA names:

    python3 scripts/stopped_sinkhorn.py               # ten trials of all pairs: 25 minutes on one core
    python3 scripts/stopped_sinkhorn.py --trials 1 --pairs P1-P2

prints the mean accuracy on the test half for each number of iterations: with λ chosen on the validation half, with each
λ alone, and with the λ that is best on the test half itself. Only λ = 0.001 and 0.01 are tried; the next one of the
grid is 40 points lower. The draws are those of the runner.
"""

import argparse
import sys

from compare import environment

if environment.is_installed():
    import numpy as np
    from compare import domains, draws
    from compare.choice import choose

COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
LAMBDAS = [0.001, 0.01]
SOURCE_PER_CLASS = 20


def main():
    arguments = parse_arguments()
    if not environment.is_installed():
        sys.exit(environment.run_inside(__file__))
    accuracies = np.array([unit(pair.split("-"), trial) for pair in arguments.pairs.split(",")
                           for trial in range(arguments.trials)])
    print("iterations   chosen   " + "   ".join(f"λ={weight:g}" for weight in LAMBDAS) + "   best")
    for place, count in enumerate(COUNTS):
        validation, test = accuracies[:, 0, :, place], accuracies[:, 1, :, place]
        chosen = np.array([choose(dict(enumerate(row)), LAMBDAS) for row in validation])
        means = [np.mean(np.take_along_axis(test, chosen[:, None], axis=1)), *test.mean(axis=0), test.max(axis=1).mean()]
        print(f"{count:10d}   " + "   ".join(f"{100 * mean:6.2f}" for mean in means))


def unit(names, trial):
    """Accuracies by half, λ and number of iterations."""
    source, target = map(domains.load, names)
    drawn, validation, test = draws.draw(source, target, names, trial, SOURCE_PER_CLASS)
    samples, labels = source[0][drawn], source[1][drawn]
    return [[accuracies(samples, labels, target[0][half], target[1][half], weight) for weight in LAMBDAS]
            for half in (validation, test)]


def accuracies(source, source_labels, target, labels, entropy_weight):
    """Of 1NN on the source as the plan of each number of iterations maps it."""
    gram = target @ target.T
    cost = (source**2).sum(axis=1)[:, None] + np.diag(gram) - 2 * source @ target.T
    found = []
    for plan in stopped_plans(np.exp(-cost / entropy_weight)):
        weights = plan / plan.sum(axis=1, keepdims=True)
        inner_products = weights @ gram
        nearest = np.argmin((weights * inner_products).sum(axis=1)[:, None] - 2 * inner_products, axis=0)
        found.append(np.mean(source_labels[nearest] == labels))
    return found


def stopped_plans(kernel):
    """Sinkhorn's iteration with uniform masses in the order of POT."""
    n_s, n_t = kernel.shape
    transposed = np.ascontiguousarray(kernel.T)
    u = np.full(n_s, 1 / n_s)
    for count in range(1, COUNTS[-1] + 1):
        v = 1 / n_t / (transposed @ u)
        u = 1 / n_s / (kernel @ v)
        if count in COUNTS:
            yield u[:, None] * kernel * v


def parse_arguments():
    summary, _, details = __doc__.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=summary, epilog=details, formatter_class=raw)
    names = ["P1", "P2", "P3", "P4"]
    pairs = ",".join(f"{source}-{target}" for source in names for target in names if source != target)
    parser.add_argument("--trials", type=int, default=10, metavar="N")
    parser.add_argument("--pairs", default=pairs, metavar="PAIRS", help="separated by commas [default: all]")
    return parser.parse_args()


if __name__ == "__main__":
    main()
