"""The choice of a grid point, as the runner makes it (`choose` in crates/runner/src/unit.rs)."""


def choose(accuracies, lambdas):
    """The place of the largest of `accuracies`, a dictionary by place. Of equals the one with the largest λ (0 where there
    is none), of those the first."""
    return max(accuracies, key=lambda place: (accuracies[place], lambdas[place], -place))
