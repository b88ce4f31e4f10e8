"""Compare a map with its data: find the nearest neighbors in both, from which all quality measures are computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.arrays import AnyArray, ScreenPositions
from pixelsne.settings import PLACEHOLDER_INIT, check_threads, settings_of
from pixelsne.spaces import Coordinates, Space, make_space
from pixelsne.watched import run_to_completion, watched

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE

Classes = NDArray[np.intp]


def sample_rows(n: int, exact_up_to: int, rows: int, seed: int) -> NDArray[np.int64]:
    """Return all rows, or a random sample if there are more than exact_up_to."""
    if n <= exact_up_to:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, rows, replace=False))


@dataclass(frozen=True)
class Comparison:
    """The nearest neighbors of some rows in the data and on the map."""

    rows: NDArray[np.int64]  # (m)
    data_neighbors: NDArray[np.int32]  # (m, k) neighbors in the data, nearest first; negative where a graph has fewer
    map_neighbors: NDArray[np.int32]  # (m, k) neighbors on the map
    placed: AnyArray  # (n, 2), the map
    points: AnyArray | None = None  # (n, p), the data; None if there are distances only
    classes: Classes | None = None  # (n), -1 for points without a class; None without labels

    @classmethod
    def of(
        cls,
        values: Any,
        placed: ScreenPositions,
        rows: AnyArray,
        k: int,
        model: "PixelSNE",
        classes: Classes | None = None,
    ) -> Self:
        """Compare rows by the model's metric: dense rows in all columns, sparse rows after the model's reduction."""
        n_pca = model.n_pca if sparse.issparse(values) else None
        threads = check_threads(model.n_jobs)
        data = space_of(values, model, n_pca=n_pca, **PLACEHOLDER_INIT)
        map_ = space_of(placed, type(model)(n_pca=None))
        data_neighbors, map_neighbors = nearest(data, values, rows, k, threads), nearest(map_, placed, rows, k, threads)
        points = data.points if isinstance(data, Coordinates) else None
        return cls(rows, data_neighbors, map_neighbors, placed, points, classes)


def space_of(values: Any, model: "PixelSNE", **changes: Any) -> Space:
    settings = settings_of(model, **changes)
    return run_to_completion(watched(lambda token: make_space(values, settings, token)))


def nearest(space: Space, values: Any, rows: AnyArray, k: int, threads: int) -> AnyArray:
    """Return the (rows, k) nearest neighbors, without the row itself. values: the input of the space."""
    found = run_to_completion(watched(lambda token: space.neighbors_of(values[rows], k + 1, threads, token)))
    indices = without_repeats(found.indices)
    others = indices != rows[:, None]
    others[others.all(axis=1), -1] = False  # with more than k duplicates, a row may not be among its own neighbors
    neighbors: AnyArray = indices[others].reshape(len(rows), k)
    return neighbors


def without_repeats(indices: AnyArray) -> AnyArray:
    """Replace repeated indices by distinct negative numbers. Graphs repeat an index to fill short rows."""
    repeated = np.zeros(indices.shape, dtype=bool)
    repeated[:, 1:] = indices[:, 1:] == indices[:, :-1]
    return np.where(repeated, -1 - np.arange(indices.shape[1], dtype=np.int32), indices)


def shared_neighbors(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of indices that each row of two tables has in common."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    shared: NDArray[np.int64] = (both[:, 1:] == both[:, :-1]).sum(axis=1)
    return shared
