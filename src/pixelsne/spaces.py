"""A Space defines the distance between input rows.

It is Euclidean between coordinates, another metric of scikit-learn, or precomputed. A space is made from the input,
finds the neighbors of its points, and later those of new rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne import _core, nn_descent
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray, Points
from pixelsne.choices import CORE_METRICS, OTHER_METRICS
from pixelsne.duplicates import Duplicates, find_duplicates
from pixelsne.graphs import check_square, join, nearest_in_rows, precomputed_affinities, precomputed_neighbors
from pixelsne.memory import check_memory_for_points
from pixelsne.neighbors import Neighbors, find_neighbors
from pixelsne.reduce import fit_reduction
from pixelsne.reduction import Reduction
from pixelsne.row_transforms import ROW_TRANSFORMS
from pixelsne.settings import Settings

# A sparse matrix with more columns than this is not made dense.
MAX_DENSE_COLUMNS = 1000

METRICS_FOR_SPARSE = (
    *(metric for metric, transform in ROW_TRANSFORMS.items() if transform.takes_sparse),
    *("cityblock", "l1", "manhattan"),
)

Matches = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Space(Protocol):
    @classmethod
    def from_input(cls, values: Any, settings: Settings, token: _core.ProgressToken) -> "Space": ...

    def neighbors(self, k: int, settings: Settings, token: _core.ProgressToken) -> Neighbors:
        """Return the k nearest neighbors of each point, or fewer if a precomputed graph has fewer."""

    def neighbors_of(self, values: Any, k: int, threads: int, token: _core.ProgressToken) -> Neighbors:
        """Return the k nearest points of new rows."""

    def matching_points(self, values: Any, neighbors: Neighbors) -> Matches:
        """Return the index of the first point that each new row equals, (m); -1 if there is none."""

    def distinct(self, fixed: Mask | None) -> "tuple[Space, Duplicates | None]":
        """Return the space of the distinct rows, and the Duplicates. fixed: (n) rows not to merge; None: merge all."""

    def coordinates_for_init(self) -> AnyArray | None:
        """Return (n, d) coordinates for the initial positions; None if the space has none."""

    def size(self) -> int:
        """Return the number of points."""

    def n_features(self) -> int:
        """Return the number of columns of the input."""

    def n_components(self) -> int | None:
        """Return the number of coordinates that are compared; None without coordinates."""

    def for_transform(self) -> "Space":
        """Return the part of the space that `transform` needs."""


def check_sparse_support(metric: str, values: Any) -> None:
    """Raise ValueError if values are sparse and the metric needs dense rows."""
    if sparse.issparse(values) and metric not in METRICS_FOR_SPARSE:
        raise ValueError(
            f"metric={metric!r} takes no sparse X; use X.toarray() (of a data frame, X.sparse.to_dense()), or one of "
            f"the metrics {', '.join(METRICS_FOR_SPARSE)}"
        )


def canonical(values: Any) -> Any:
    """Return a sparse matrix in the form that scikit-learn's distances need; return anything else unchanged.

    They need 32-bit indices. They also sum duplicate entries in place, so a matrix with duplicates is copied first.
    """
    if not sparse.issparse(values):
        return values
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    if values.indices.dtype == values.indptr.dtype == np.int32:
        return values
    if max(values.nnz, *values.shape) > np.iinfo(np.int32).max:
        raise ValueError(f"X has {values.nnz:,} stored numbers, too many for this metric; use 'euclidean' or 'cosine'")
    parts = values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32)
    return type(values)(parts, shape=values.shape)


def keys_of_dense(rows: AnyArray) -> list[bytes]:
    """Return a key for each row, the same for equal rows: its bytes in float64, without negative zeros."""
    return [row.tobytes() for row in rows.astype(np.float64) + 0.0]


def keys_of_sparse(rows: Any) -> list[bytes]:
    """Return a key for each row, dense or sparse, the same for equal rows: columns and values of nonzero numbers."""
    matrix = sparse.csr_array(rows, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    columns, ends = matrix.indices.astype(np.int64), matrix.indptr
    return [columns[begin:end].tobytes() + matrix.data[begin:end].tobytes() for begin, end in pairwise(ends)]


def nearest_at_zero_distance(neighbors: Neighbors) -> Matches:
    """Return the index of the nearest point if its distance is 0, else -1."""
    return np.where(neighbors.distances[:, 0] == 0, neighbors.indices[:, 0], -1).astype(np.int64)


@dataclass(frozen=True)
class Coordinates:
    """Euclidean distances, or another metric that is Euclidean after a transform of each row."""

    reduction: Reduction
    points: Points
    rows: NDArray[np.int32] | None = None  # the points whose neighbors are searched; None: all

    @classmethod
    def from_input(cls, values: Any, settings: Settings, token: _core.ProgressToken) -> "Coordinates":
        if sparse.issparse(values) and (settings.n_pca is None and values.shape[1] > MAX_DENSE_COLUMNS):
            raise ValueError(
                f"n_pca=None would convert a sparse X with {values.shape[1]} columns to a dense array; "
                "use n_pca='auto' or a number, or X.toarray() if that is what you want"
            )
        check_sparse_support(settings.metric, values)
        token.expect(values.shape[0])
        reduction = fit_reduction(
            values,
            settings.n_pca,
            settings.seed,
            token,
            metric=settings.metric,
            scale_columns=settings.scale == "standard",
            threads=settings.threads,
        )
        check_memory_for_points(values.shape[0], reduction.n_components)
        return cls(reduction, reduction.apply(values, token, settings.threads))

    def neighbors(self, k: int, settings: Settings, token: _core.ProgressToken) -> Neighbors:
        method, seed, threads = settings.neighbors, settings.seed, settings.threads
        return find_neighbors(self.points, k, method, seed, threads, token, reorder=True, rows=self.rows)

    def neighbors_of(self, values: Any, k: int, threads: int, token: _core.ProgressToken) -> Neighbors:
        check_sparse_support(self.reduction.preprocessing.metric, values)
        token.expect(values.shape[0])
        queries = self.reduction.apply(values, token, threads)
        return Neighbors(*_core.neighbors_of_queries(queries, self.points, k, token, threads))

    def matching_points(self, values: Any, neighbors: Neighbors) -> Matches:  # noqa: ARG002
        return nearest_at_zero_distance(neighbors)

    def distinct(self, fixed: Mask | None) -> "tuple[Coordinates, Duplicates | None]":
        duplicates = find_duplicates(self.points, fixed)
        return (self if duplicates is None else replace(self, rows=duplicates.first.astype(np.int32))), duplicates

    def coordinates_for_init(self) -> AnyArray:
        is_projected = self.reduction.directions is not None  # the first two columns are the principal components
        return self.points[:, :2] if is_projected else self.points

    def size(self) -> int:
        return len(self.points)

    def n_features(self) -> int:
        return len(self.reduction.mean)

    def n_components(self) -> int:
        return self.reduction.n_components

    def for_transform(self) -> "Coordinates":
        return self


@dataclass(frozen=True)
class PairwiseMetric:
    """A pairwise distance of scikit-learn: all pairs are compared, or if there are too many, pynndescent searches.

    New rows are always compared with all points.
    """

    values: AnyArray
    metric: str

    @classmethod
    def from_input(cls, values: Any, settings: Settings, token: _core.ProgressToken) -> "PairwiseMetric":  # noqa: ARG003
        nn_descent.check_available(settings.metric, values.shape[0])
        check_sparse_support(settings.metric, values)
        return cls(canonical(values), settings.metric)

    def neighbors(self, k: int, settings: Settings, token: _core.ProgressToken) -> Neighbors:
        if nn_descent.is_needed(self.size()):
            self._check_rows_of_zeros()
            return nn_descent.find_neighbors_by_nn_descent(self.values, self.metric, k, settings.seed, token)
        blocks = self._blocks(self.values, settings.threads, token)
        return join(nearest_in_rows(distances, k, rows) for rows, distances in blocks)

    def neighbors_of(self, values: Any, k: int, threads: int, token: _core.ProgressToken) -> Neighbors:
        check_sparse_support(self.metric, values)
        blocks = self._blocks(canonical(values), threads, token)
        return join(nearest_in_rows(distances, k, None) for _, distances in blocks)

    def _blocks(self, rows: Any, threads: int, token: _core.ProgressToken) -> Iterator[tuple[AnyArray, AnyArray]]:
        from sklearn.metrics import pairwise_distances_chunked  # noqa: PLC0415 - slow to import and rarely needed

        token.expect(rows.shape[0])
        first = 0
        chunks = pairwise_distances_chunked(rows, self.values, metric=self.metric, n_jobs=threads, working_memory=64)
        for block in chunks:
            undefined = ~np.isfinite(block).all(axis=1)
            if undefined.any():
                raise self._undefined(first + int(undefined.argmax()))
            yield np.arange(first, first + len(block)), np.maximum(block, 0.0)  # rounding may give negative distances
            token.advance(len(block))
            first += len(block)

    def _undefined(self, row: int) -> ValueError:
        return ValueError(
            f"metric={self.metric!r} is not defined between row {row} of X and some others; leave such rows out, or "
            "use another metric"
        )

    def _check_rows_of_zeros(self) -> None:
        """Raise ValueError if there are rows of zeros and the metric divides by 0, where pynndescent returns 0."""
        from sklearn.metrics import pairwise_distances  # noqa: PLC0415 - slow to import and rarely needed

        if sparse.issparse(self.values):
            return  # for metrics that are always defined
        zeros = np.flatnonzero(~self.values.any(axis=1))
        if len(zeros) > 0:
            row = self.values[zeros[:1]]
            if not np.isfinite(pairwise_distances(row, row.copy(), metric=self.metric)).all():
                raise self._undefined(int(zeros[0]))

    def matching_points(self, values: Any, neighbors: Neighbors) -> Matches:  # noqa: ARG002
        """Compare values, since some metrics give equal rows a distance above 0, or different rows a distance of 0."""
        keys = keys_of_sparse if sparse.issparse(values) or sparse.issparse(self.values) else keys_of_dense
        first = {key: index for index, key in reversed(list(enumerate(keys(self.values))))}
        return np.array([first.get(key, -1) for key in keys(values)], dtype=np.int64)

    def distinct(self, fixed: Mask | None) -> "tuple[PairwiseMetric, Duplicates | None]":
        duplicates = None if sparse.issparse(self.values) else find_duplicates(self.values, fixed)
        return (self if duplicates is None else replace(self, values=self.values[duplicates.first])), duplicates

    def coordinates_for_init(self) -> AnyArray:
        return self.values

    def size(self) -> int:
        return int(self.values.shape[0])

    def n_features(self) -> int:
        return int(self.values.shape[1])

    def n_components(self) -> None:
        return None

    def for_transform(self) -> "PairwiseMetric":
        return self


@dataclass(frozen=True)
class PrecomputedSpace:
    """A precomputed space of n points: row i of the input describes point i and all others."""

    n: int

    def matching_points(self, values: Any, neighbors: Neighbors) -> Matches:  # noqa: ARG002
        return nearest_at_zero_distance(neighbors)

    def distinct(self, fixed: Mask | None) -> "tuple[Self, None]":  # noqa: ARG002
        """Return the space itself: precomputed input is never merged."""
        return self, None

    def coordinates_for_init(self) -> None:
        return None

    def size(self) -> int:
        return self.n

    def n_features(self) -> int:
        return self.n

    def n_components(self) -> None:
        return None


@dataclass(frozen=True)
class PrecomputedDistances(PrecomputedSpace):
    """A square matrix of distances, or a sparse graph of them."""

    distances: Any | None  # None once the neighbors are found

    @classmethod
    def from_input(cls, values: Any, settings: Settings, token: _core.ProgressToken) -> "PrecomputedDistances":  # noqa: ARG003
        check_square("precomputed", values)
        return cls(values.shape[0], values)

    def neighbors(self, k: int, settings: Settings, token: _core.ProgressToken) -> Neighbors:  # noqa: ARG002
        return precomputed_neighbors(self.distances, k)

    def neighbors_of(self, values: Any, k: int, threads: int, token: _core.ProgressToken) -> Neighbors:  # noqa: ARG002
        return precomputed_neighbors(values, k, are_queries=True)

    def for_transform(self) -> "PrecomputedDistances":
        return replace(self, distances=None)


@dataclass(frozen=True)
class PrecomputedAffinities(PrecomputedSpace):
    """A precomputed P instead of neighbors. New points cannot be placed, since their affinities are unknown."""

    affinities: Affinities | None  # None once the descent has them

    @classmethod
    def from_input(cls, values: Any, settings: Settings, token: _core.ProgressToken) -> "PrecomputedAffinities":  # noqa: ARG003
        return cls(values.shape[0], precomputed_affinities(values))

    def neighbors(self, k: int, settings: Settings, token: _core.ProgressToken) -> Neighbors:  # noqa: ARG002
        raise TypeError("precomputed affinities replace the neighbors: use `affinities` of the space")

    def neighbors_of(self, values: Any, k: int, threads: int, token: _core.ProgressToken) -> Neighbors:  # noqa: ARG002
        raise ValueError(
            "metric='affinities' cannot place new points, because their affinities are unknown; "
            "use metric='precomputed' with distances, or fit old and new points together"
        )

    def for_transform(self) -> "PrecomputedAffinities":
        return replace(self, affinities=None)


SPACES: dict[str, type[Space]] = dict.fromkeys(CORE_METRICS, Coordinates) | dict.fromkeys(OTHER_METRICS, PairwiseMetric)
SPACES |= {"precomputed": PrecomputedDistances, "affinities": PrecomputedAffinities}


def make_space(values: Any, settings: Settings, token: _core.ProgressToken) -> Space:
    """Return the space of the input."""
    return SPACES[settings.metric].from_input(values, settings, token)
