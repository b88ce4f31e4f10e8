"""Choose how many principal components to keep, by the neighborhoods of sampled rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Float64s = NDArray[np.float64]

MIN_COMPONENTS = 50

# Neighbors compared per row, and the share of them that the reduced rows must keep (benchmarks/n_pca.py).
NEIGHBORS = 10
SHARE_KEPT = 0.82

# Sampled rows, and how many of them are queries: rows whose neighbors are compared.
MAX_ROWS, MIN_ROWS = 2000, 100
NUMBERS_IN_SAMPLE = 4_000_000
QUERIES = 1000

ROUNDING = 1e-12  # of the largest squared distance

# The time of subspace iteration is proportional to the number of components, so that is limited. Its directions take
# at most 128 MB, or the memory of MIN_COMPONENTS directions if that is more.
MAX_BY_ITERATION = 512
NUMBERS_IN_DIRECTIONS = 16_000_000

STEP = 1.4  # ratio of one number of components to try to the one before
STEP_BY_ITERATION = 2.0  # the same for subspace iteration, where each try takes minutes


def sample_rows(n: int, numbers_per_row: int, numbers: int = NUMBERS_IN_SAMPLE) -> NDArray[np.int64]:
    """Return random row indices, ascending, the same for every seed. numbers: the approximate limit of their values."""
    count = min(n, MAX_ROWS, max(MIN_ROWS, numbers // max(1, numbers_per_row)))
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))


def most_components(n: int, columns: int, *, iterates: bool) -> int:
    """Return the most components that n_pca="auto" may choose."""
    if not iterates:
        return columns
    affordable = min(MAX_BY_ITERATION, NUMBERS_IN_DIRECTIONS // columns)
    return min(n, columns, max(MIN_COMPONENTS, affordable))


def numbers_to_try(most: int, *, iterates: bool = False) -> list[int]:
    """Return the numbers of components to try, from MIN_COMPONENTS on, below `most`."""
    tried, step = [min(MIN_COMPONENTS, most)], STEP_BY_ITERATION if iterates else STEP
    while tried[-1] * step < most:
        tried.append(round(tried[-1] * step))
    return tried


def squared_distances(points: Any) -> Float64s:
    """Return (queries, rows) squared distances from the first QUERIES rows to all; infinite from a row to itself."""
    is_sparse = sparse.issparse(points)
    doubles = points if is_sparse else points.astype(np.float64)
    squares = np.asarray((doubles.multiply(doubles) if is_sparse else np.square(doubles)).sum(axis=1)).ravel()
    products = doubles[:QUERIES] @ doubles.T
    distances: Float64s = squares - 2 * (products.tocoo().toarray() if is_sparse else products)
    distances += squares[: len(distances), None]
    np.fill_diagonal(distances, np.inf)
    return distances


@dataclass(frozen=True)
class SampledNeighbors:
    """The nearest neighbors among sampled rows, compared in all columns."""

    squared: Float64s  # (queries, rows)
    farthest: Float64s  # (queries) squared distance of the last neighbor, plus a tolerance for rounding

    @classmethod
    def of(cls, sample: Any) -> Self:
        """Return the neighbors among sampled rows, dense or sparse."""
        squared = squared_distances(sample)
        last = np.partition(squared, neighbors_among(sample) - 1, axis=1)[:, neighbors_among(sample) - 1]
        largest = float(squared[np.isfinite(squared)].max(initial=0.0))
        return cls(squared, last + ROUNDING * largest)

    def share_kept(self, points: Any) -> float:
        """Return the share of neighbors among the reduced rows that are neighbors in all columns. All ties count."""
        k = neighbors_among(points)
        nearest = np.argpartition(squared_distances(points), k - 1, axis=1)[:, :k]
        return float(np.mean(np.take_along_axis(self.squared, nearest, axis=1) <= self.farthest[:, None]))

    def are_kept(self, points: Any) -> bool:
        return self.share_kept(points) >= SHARE_KEPT


def neighbors_among(points: Any) -> int:
    return min(NEIGHBORS, int(points.shape[0]) - 1)
