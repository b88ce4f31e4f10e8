"""Nearest neighbors in the data and on the map, and measures that compare them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.arrays import AnyArray, Placed
from pixelsne.quality import shared_neighbors, vote
from pixelsne.settings import Settings, check_threads, settings_of
from pixelsne.spaces import make_space
from pixelsne.watched import finish, watched

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE

Classes = NDArray[np.intp]  # of each point; -1 for none


def sample_rows(n: int, exact_up_to: int, rows: int, seed: int) -> NDArray[np.int64]:
    """Return all rows, or a random sample if there are more than exact_up_to."""
    if n <= exact_up_to:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, rows, replace=False))


@dataclass(frozen=True)
class Neighborhoods:
    """The nearest neighbors of some rows, in the data and on the map."""

    n: int
    rows: NDArray[np.int64]  # (m)
    true: NDArray[np.int32]  # (m, k), nearest first; below 0 where a graph knows no more
    shown: NDArray[np.int32]

    @classmethod
    def of(cls, values: Any, placed: Placed, rows: AnyArray, k: int, model: "PixelSNE") -> Self:
        """Compare rows by the model's metric in all columns; sparse rows after the model's reduction."""
        n_pca = model.n_pca if sparse.issparse(values) else None
        threads = check_threads(model.n_jobs)
        true = nearest(settings_of(model, n_pca=n_pca, init="random"), values, rows, k, threads)
        shown = nearest(settings_of(type(model)(n_pca=None)), placed, rows, k, threads)
        return cls(len(placed), rows, true, shown)

    def precision(self, k: int) -> float:
        """Return the share of the k nearest rows in the data that are among the k nearest on the map."""
        known = (self.true[:, :k] >= 0).sum(axis=1)
        shared = shared_neighbors(self.true[:, :k], self.shown[:, :k])
        return float(np.mean(shared / np.maximum(known, 1)))

    def accuracy(self, k: int, classes: Classes) -> float:
        """Return how often the majority of the k nearest on the map has the row's class, over rows that have one."""
        asked = classes[self.rows] >= 0
        right = vote(classes[self.shown[asked, :k]]) == classes[self.rows[asked]]
        return float(right.mean()) if right.size else float("nan")


@dataclass(frozen=True)
class Measure:
    title: str
    of: Callable[[Neighborhoods, int, Classes | None], float | None]  # for one k; None: needs classes


def accuracy_if_known(neighborhoods: Neighborhoods, k: int, classes: Classes | None) -> float | None:
    return None if classes is None else neighborhoods.accuracy(k, classes)


# What `pixelsne score` and `pixelsne embed` tell for each k, by its name in JSON.
MEASURES = {
    "neighborhood_precision": Measure("neighborhood precision", lambda near, k, _classes: near.precision(k)),
    "knn_accuracy": Measure("k-NN accuracy", accuracy_if_known),
}


def nearest(settings: Settings, values: Any, rows: AnyArray, k: int, threads: int) -> AnyArray:
    """Return (rows, k) nearest neighbors, without the row itself."""
    space = finish(watched(lambda token: make_space(values, settings, token)))
    found = finish(watched(lambda token: space.neighbors_of(values[rows], k + 1, threads, token)))
    indices = without_repeats(found.indices)
    others = indices != rows[:, None]
    others[others.all(axis=1), -1] = False  # so many twins that the row itself did not come up
    kept: AnyArray = indices[others].reshape(len(rows), k)
    return kept


def without_repeats(indices: AnyArray) -> AnyArray:
    """Replace repeated indices, with which graphs fill up short rows, by distinct negative numbers."""
    repeated = np.zeros(indices.shape, dtype=bool)
    repeated[:, 1:] = indices[:, 1:] == indices[:, :-1]
    return np.where(repeated, -1 - np.arange(indices.shape[1], dtype=np.int32), indices)
