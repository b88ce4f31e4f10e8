"""The joint affinities P: how strongly each pair of points belongs together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.neighbors import Neighbors


@dataclass(frozen=True)
class Conditional:
    """Each point's Gaussian kernel over its neighbors."""

    indices: NDArray[np.int32]  # (n, k)
    values: NDArray[np.float32]  # (n, k), rows sum to 1


@dataclass(frozen=True)
class Affinities:
    """A symmetric sparse matrix by rows that sums to 1.

    Row i holds columns[offsets[i]:offsets[i + 1]], none twice. scipy's matrices would widen the columns to
    64 bits as soon as there are 2^31 values. The arrays are read-only from here on, whoever made them.
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
    """Stage 3a: Gaussian kernels C, each as wide as the perplexities ask; of several, the mean."""
    values = _core.conditional_affinities(
        neighbors.distances, list(perplexities), token or _core.ProgressToken(), threads
    )
    return Conditional(neighbors.indices, values)


def weigh(conditional: Conditional, weights: NDArray[np.int64]) -> Conditional:
    """Kernels of points that each stand for several, scaled so that P still sums to 1."""
    shares = (weights * (len(weights) / weights.sum())).astype(np.float32)
    return Conditional(conditional.indices, conditional.values * shares[:, None])


def symmetrize(conditional: Conditional, threads: int, token: _core.ProgressToken | None = None) -> Affinities:
    """Stage 3b: P = (C + C^T) / 2n."""
    joint = _core.joint_affinities(conditional.indices, conditional.values, token or _core.ProgressToken(), threads)
    return Affinities(*joint)


def joint_affinities(neighbors: Neighbors, perplexities: tuple[float, ...], threads: int) -> Affinities:
    """Both steps at once."""
    return symmetrize(calibrate(neighbors, perplexities, threads), threads)
