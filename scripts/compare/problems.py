"""The arrays that both sides solve."""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist

NEIGHBOURS = 8


@dataclass
class Problem:
    """Samples with uniform masses, and the weights (λ, η) to try on them."""

    name: str
    source: np.ndarray
    labels: np.ndarray
    target: np.ndarray
    group_weights: list
    laplace_weights: list
    cost: np.ndarray = field(init=False)

    def __post_init__(self):
        self.cost = cdist(self.source, self.target, "sqeuclidean")
        n_s, n_t = self.cost.shape
        self.name = f"{self.name} {n_s}×{n_t}"
        self.masses = np.full(n_s, 1 / n_s), np.full(n_t, 1 / n_t)
        self.classes = [np.flatnonzero(self.labels == label) for label in np.unique(self.labels)]
        self._laplacians = None

    @property
    def laplacians(self):
        """Of the source, where samples of different classes are not joined, and of the target."""
        if self._laplacians is None:
            same_class = self.labels[:, None] == self.labels[None, :]
            self._laplacians = (laplacian(nearest_neighbours(self.source) & same_class),
                                laplacian(nearest_neighbours(self.target)))
        return self._laplacians


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
