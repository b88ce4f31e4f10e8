"""Neighbors by metrics that are not Euclidean, for many rows: NN-descent by pynndescent, an optional package.

Comparing all pairs is exact and needs no other package, but takes too long above MAX_POINTS_FOR_ALL_PAIRS. pynndescent
is imported when it is needed: numba, which compiles it, is slow to import, and compiles each metric when it is first
used in a process.
"""

import threading
import warnings
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne import _core
from pixelsne.arrays import AnyArray
from pixelsne.graphs import as_neighbors
from pixelsne.neighbors import Neighbors

# All pairs of this many points take about a minute.
MAX_POINTS_FOR_ALL_PAIRS = 30_000

# Metrics by which pynndescent finds the neighbors that scikit-learn's metric of the same name defines, and their names
# in pynndescent; a test compares the distances. russellrao is missing: pynndescent gives equal rows a distance of 0.
NAMES = {
    "braycurtis": "braycurtis",
    "canberra": "canberra",
    "chebyshev": "chebyshev",
    "cityblock": "manhattan",
    "dice": "dice",
    "hamming": "hamming",
    "haversine": "haversine",
    "jaccard": "jaccard",
    "l1": "manhattan",
    "manhattan": "manhattan",
    "minkowski": "minkowski",
    "rogerstanimoto": "rogerstanimoto",
    "sokalsneath": "sokalsneath",
    "sqeuclidean": "sqeuclidean",
    "yule": "yule",
}
OF_BOOLEANS = ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule")
OF_DIFFERENCES = ("chebyshev", "cityblock", "l1", "manhattan", "minkowski", "sqeuclidean")  # a shift changes nothing

# Fewer neighbors than this, the point itself included, are found less reliably.
MIN_SEARCHED = 31

# Numbers of a matrix that are converted at a time.
NUMBERS_PER_BLOCK = 1_000_000

# The result of pynndescent depends on the number of its threads, and the map must not.
THREADS = 1

# Numba's simplest threading layer ends the process if two threads of Python use it at once.
numba_lock = threading.Lock()


def is_needed(n: int) -> bool:
    """Return whether n points are too many to compare all pairs."""
    return n > MAX_POINTS_FOR_ALL_PAIRS


def check_available(metric: str, n: int) -> None:
    """Raise ValueError if n points are too many to compare all pairs, and pynndescent cannot find their neighbors."""
    if not is_needed(n):
        return
    too_many = f"metric={metric!r} compares all pairs of at most {MAX_POINTS_FOR_ALL_PAIRS:,} points, got {n:,}"
    graph = "pass a sparse graph of neighbors of your own with metric='precomputed'"
    if metric not in NAMES:
        raise ValueError(f"{too_many}; {graph}, or use another metric, such as 'jaccard' or 'euclidean'")
    if find_spec("pynndescent") is None:
        raise ValueError(f"{too_many}; for more, install pynndescent (pip install 'pixelsne[metrics]'), or {graph}")


def find_neighbors_by_nn_descent(values: Any, metric: str, k: int, seed: int, token: _core.ProgressToken) -> Neighbors:
    """Return k approximate nearest neighbors of each row, with true distances, nearest first.

    The search cannot be cancelled before it ends. values: (n, d), dense or canonical CSR. A row of which pynndescent
    found fewer neighbors has counts below k.
    """
    rows = comparable_rows(values, metric)
    token.expect(rows.shape[0])
    indices, distances = search(rows, NAMES[metric], max(k + 1, MIN_SEARCHED), seed)
    found = without_itself(indices, distances, k)
    token.advance(rows.shape[0])
    return found


def search(rows: Any, metric: str, count: int, seed: int) -> tuple[AnyArray, AnyArray]:
    """Return pynndescent's indices and distances, (n, count)."""
    with numba_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about missing neighbors, which are counted, and about numba's compiler
        from pynndescent import NNDescent  # noqa: PLC0415 - slow to import, and an extra

        index = NNDescent(rows, metric=metric, n_neighbors=count, random_state=seed, n_jobs=THREADS)
        indices, distances = index.neighbor_graph
    return indices, distances


def without_itself(indices: AnyArray, distances: AnyArray, k: int) -> Neighbors:
    """Return the k nearest neighbors from longer lists that contain the point itself and may end with -1."""
    n = len(indices)
    usable = (indices != np.arange(n)[:, None]) & (indices >= 0) & np.isfinite(distances)
    order = np.argsort(~usable, axis=1, kind="stable")[:, :k]  # usable ones first, in the same order
    counts = np.minimum(usable.sum(axis=1), k).astype(np.int64)
    if (counts == 0).any():
        raise ValueError(
            f"pynndescent found no neighbors of row {int(counts.argmin())}; leave such rows out, or pass a sparse "
            "graph of neighbors of your own with metric='precomputed'"
        )
    order = np.take_along_axis(order, np.minimum(np.arange(k), counts[:, None] - 1), axis=1)
    lengths = np.maximum(np.take_along_axis(distances, order, axis=1), 0.0, dtype=np.float64)
    found = as_neighbors(np.take_along_axis(indices, order, axis=1), lengths)
    return found if (counts == k).all() else replace(found, counts=counts)


def comparable_rows(values: Any, metric: str) -> Any:
    """Return rows in float32, the type of pynndescent, that have the same neighbors as the values."""
    if sparse.issparse(values):
        with np.errstate(over="ignore"):  # check_finite reports it
            rows = values.astype(np.float32)
        check_finite(rows.data, metric, values)
        return rows
    if metric in OF_BOOLEANS:
        return np.ascontiguousarray(values != 0, dtype=np.float32)
    offset = values.mean(axis=0, dtype=np.float64) if metric in OF_DIFFERENCES else None
    rows = to_float32(values, offset)
    check_finite(rows, metric, values)
    if metric == "hamming" and not np.array_equal(rows, values):
        return codes_of_values(values)
    return rows


def to_float32(values: AnyArray, offset: AnyArray | None) -> NDArray[np.float32]:
    """Return the values, minus an offset of each column, without a copy in float64."""
    rows = np.empty(values.shape, dtype=np.float32)
    step = max(1, NUMBERS_PER_BLOCK // values.shape[1])
    with np.errstate(over="ignore"):  # check_finite reports it
        for first in range(0, len(values), step):
            block = values[first : first + step]
            rows[first : first + step] = block if offset is None else block - offset
    return rows


def codes_of_values(values: AnyArray) -> NDArray[np.float32]:
    """Return the values numbered column by column, for comparing them for equality: float32 may not tell them apart."""
    codes = [np.unique(column, return_inverse=True)[1].ravel().astype(np.float32) for column in values.T]
    return np.ascontiguousarray(np.column_stack(codes))


def check_finite(rows: AnyArray, metric: str, values: Any) -> None:
    if not np.isfinite(rows).all():
        raise ValueError(
            f"metric={metric!r} is computed in float32 for more than {MAX_POINTS_FOR_ALL_PAIRS:,} points, which X is "
            f"too large for (up to {abs(values).max():g}); divide X by a constant"
        )
