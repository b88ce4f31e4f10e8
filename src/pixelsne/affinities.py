"""The joint affinities P between neighboring points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne import _core
from pixelsne.neighbors import Neighbors


@dataclass(frozen=True)
class Conditional:
    """The Gaussian kernel of each point over its neighbors: C, the conditional affinities."""

    indices: NDArray[np.int32]  # (n, k)
    values: NDArray[np.float32]  # (n, k), rows sum to 1
    counts: NDArray[np.int64] | None = None  # (n), as in Neighbors


@dataclass(frozen=True)
class Affinities:
    """A symmetric sparse matrix by rows that sums to 1.

    Row i holds columns[offsets[i]:offsets[i + 1]], without duplicates. A scipy matrix would widen the columns to 64
    bits from 2^31 values on. The arrays become read-only.
    """

    offsets: NDArray[np.int64]  # (n + 1)
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        for array in (self.offsets, self.columns, self.values):
            array.setflags(write=False)  # the core checks them once and trusts them afterwards

    def __len__(self) -> int:
        return len(self.offsets) - 1


def calibrate(
    neighbors: Neighbors, perplexities: tuple[float, ...], threads: int, token: _core.ProgressToken | None = None
) -> Conditional:
    """Return Gaussian kernels C with the given perplexity, or the mean kernels of several perplexities.

    The perplexity of a row with fewer neighbors than k is lower in proportion.
    """
    token = token or _core.ProgressToken()
    if neighbors.counts is None:
        values = _core.conditional_affinities(neighbors.distances, list(perplexities), token, threads)
        return Conditional(neighbors.indices, values)
    values = np.zeros_like(neighbors.distances)
    for count in np.unique(neighbors.counts):
        rows = neighbors.counts == count
        lowered = [max(1.0, perplexity * count / values.shape[1]) for perplexity in perplexities]
        known = np.ascontiguousarray(neighbors.distances[rows, :count])
        values[rows, :count] = _core.conditional_affinities(known, lowered, token, threads)
    return Conditional(neighbors.indices, values, neighbors.counts)


def symmetrize(conditional: Conditional, threads: int, token: _core.ProgressToken | None = None) -> Affinities:
    """Return P = (C + C^T) / 2n."""
    if conditional.counts is not None:
        return symmetrize_graph(conditional, conditional.counts)
    joint = _core.joint_affinities(conditional.indices, conditional.values, token or _core.ProgressToken(), threads)
    return Affinities(*joint)


def symmetrize_graph(conditional: Conditional, counts: NDArray[np.int64]) -> Affinities:
    """Return P = (C + C^T) / 2n for rows with different numbers of neighbors."""
    n, k = conditional.indices.shape
    known = np.arange(k) < counts[:, None]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    parts = conditional.values[known].astype(np.float64), conditional.indices[known], offsets
    kernels = sparse.csr_array(parts, shape=(n, n))
    joint = sparse.csr_array(kernels + kernels.T)
    joint.sort_indices()
    values = (joint.data / (2 * n)).astype(np.float32)
    return Affinities(joint.indptr.astype(np.int64), joint.indices.astype(np.int32), values)


def joint_affinities(neighbors: Neighbors, perplexities: tuple[float, ...], threads: int) -> Affinities:
    """Return P: calibrate the kernels, then symmetrize them."""
    return symmetrize(calibrate(neighbors, perplexities, threads), threads)
