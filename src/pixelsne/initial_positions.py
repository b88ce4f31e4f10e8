"""Where the points start."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray, Positions
from pixelsne.reduce import principal_components

# Deviation of the start along its longer axis, embedding units: small enough for all forces to be
# nearly linear, so that the map unfolds instead of exploding.
START_DEVIATION = 1e-4


# A start whose deviation exceeds that of its middle by this factor is ruled by outliers. They are brought to
# the border of the others, who would otherwise all start in one spot, and take long to come out of it.
OUTLIER_FACTOR = 3.0
FARTHEST_START = 5.0  # deviations of the middle

MIDDLE = (16, 84)  # percentiles, two deviations apart if a distribution is normal


# Of the walk along the affinities: so many vectors, rounds, and products at most.
SPECTRAL_VECTORS = 10
SPECTRAL_ROUNDS = (15, 150)
SPECTRAL_PRODUCTS = 2e10
AXES = 2
RESTING = 1e-8  # what a way that never mixes may lose in a step, by rounding

PARTED = 1e-2  # of START_DEVIATION: nearer ones coincide


@dataclass(frozen=True)
class Limits:
    """The largest distance from the median that initial positions may have along each axis."""

    middle: AnyArray  # (axes)
    border: float

    def clip(self, centered: AnyArray) -> AnyArray:
        clipped: AnyArray = np.clip(centered - self.middle, -self.border, self.border)
        return clipped


def find_limits(centered: AnyArray) -> Limits | None:
    """Return limits if outliers dominate the axes; else None."""
    low, high = np.percentile(centered, MIDDLE, axis=0)
    middle = float(np.max(high - low)) / 2
    if middle == 0 or centered.std(axis=0).max() <= OUTLIER_FACTOR * middle:
        return None
    return Limits((low + high) / 2, FARTHEST_START * middle)


def without_outliers(centered: AnyArray) -> AnyArray:
    limits = find_limits(centered)
    if limits is None:
        return centered
    clipped = limits.clip(centered)
    clipped -= clipped.mean(axis=0)
    return clipped


def shrink(start: AnyArray, seed: int) -> Positions:
    """Center the axes and scale the longer one to START_DEVIATION. Constant axes get noise, since zeros never move."""
    centered = start.astype(np.float64) - start.mean(axis=0, dtype=np.float64)
    largest = np.abs(centered).max()
    centered = without_outliers(centered / (largest if largest > 0 else 1.0))
    deviations = centered.std(axis=0)
    scale = deviations.max()
    small = centered * (START_DEVIATION / scale if scale > 0 else 0.0)
    noise = noise_positions(len(start), seed)
    for axis in (0, 1):
        if deviations[axis] <= 1e-9 * deviations.max():
            small[:, axis] = noise[:, axis]
    return np.ascontiguousarray(small, dtype=np.float32)


def noise_positions(n: int, seed: int) -> Positions:
    return np.random.default_rng(seed).normal(0.0, START_DEVIATION, (n, 2)).astype(np.float32)


def spectral_axes(affinities: Affinities, seed: int) -> AnyArray:
    """Return (n, 2) the slowest modes of a random walk along the affinities, by subspace iteration."""
    n = len(affinities)
    matrix = sparse.csr_array((affinities.values, affinities.columns, affinities.offsets), shape=(n, n))
    roots = np.sqrt(np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel())
    roots[roots == 0] = 1.0

    def walk(vectors: AnyArray) -> AnyArray:
        """Take a lazy step, half of which stays in place, so that oscillating modes decay first."""
        moved: AnyArray = (vectors + (matrix @ (vectors / roots[:, None])) / roots[:, None]) / 2
        return moved

    basis = np.random.default_rng(seed).normal(size=(n, min(n, SPECTRAL_VECTORS)))
    basis[:, 0] = roots  # the walk's resting state, which the others stay at right angles to
    affordable = int(SPECTRAL_PRODUCTS / max(1, matrix.nnz * basis.shape[1]))
    for _ in range(min(max(affordable, SPECTRAL_ROUNDS[0]), SPECTRAL_ROUNDS[1])):
        basis = np.linalg.qr(walk(basis))[0]
    speeds, ways = np.linalg.eigh(basis.T @ walk(basis))
    axes: AnyArray = basis @ two_of(speeds[::-1], ways[:, ::-1], seed) / roots[:, None]
    return axes


def two_of(speeds: AnyArray, ways: AnyArray, seed: int) -> AnyArray:
    """The slowest but for resting. Parts without links among each other rest each by itself: ways that are equally
    slow, of which two at random mixtures give every part a place of its own."""
    resting = int(np.sum(speeds > 1 - RESTING))
    if resting <= AXES:
        return ways[:, 1 : 1 + AXES]
    mixtures: AnyArray = ways[:, :resting] @ np.random.default_rng(seed).normal(size=(resting, AXES))
    return mixtures


def part_coinciding(start: Positions, seed: int) -> Positions:
    """Add noise to points that coincide with all their neighbors: no force could separate them."""
    cells = np.rint(start / np.float32(PARTED * START_DEVIATION)).astype(np.int64)
    _, groups, sizes = np.unique(cells[:, 0] * 2**32 + cells[:, 1], return_inverse=True, return_counts=True)
    crowded = sizes[groups.ravel()] > 1
    return np.where(crowded[:, None], start + PARTED * noise_positions(len(start), seed), start).astype(np.float32)


def initial_positions(points: AnyArray, init: str | AnyArray, seed: int) -> Positions:
    """Stage 4: return (n, 2) positions in embedding units, from "pca", "random" or an array."""
    if not isinstance(init, str):
        return shrink(init, seed)
    if init == "random":
        return noise_positions(len(points), seed)
    components = principal_components(points, 2, seed)
    if components.shape[1] == 1:
        components = np.column_stack([components, np.zeros(len(components), dtype=np.float32)])
    return shrink(components, seed)
