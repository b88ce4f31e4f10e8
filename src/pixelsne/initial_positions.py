"""Initial positions of the points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray, Positions
from pixelsne.reduce import principal_components

# The default of init_scale: the standard deviation of the initial positions along their longer axis, embedding units.
# It is so small that all forces are nearly linear, and the map unfolds instead of exploding.
DEFAULT_INIT_SCALE = 1e-4

# Outliers dominate if the standard deviation of all positions is this many times the robust deviation. That is half the
# distance between two percentiles, which are two deviations apart in a normal distribution. Outliers are then clipped,
# or all other points would start in one spot, which takes many iterations to unfold.
OUTLIER_FACTOR = 3.0
CENTRAL_PERCENTILES = (16, 84)
FARTHEST_START = 5.0  # robust deviations

# Subspace iteration for the spectral axes: vectors, rounds (fewest, most), and the limit of multiplications.
SPECTRAL_VECTORS = 10
SPECTRAL_ROUNDS = (15, 150)
SPECTRAL_PRODUCTS = 2e10
AXES = 2
ROUNDING = 1e-8  # an eigenvalue within this of 1 is 1: its mode is constant on each connected component

COINCIDING = 1e-2  # of the deviation: points that are nearer to each other coincide

# Deviation of the noise that separates points in one position of a map that continues, embedding units. It is far below
# a pixel, and far above the rounding of float32 on a map of a thousand units.
SEPARATION = 1e-3


@dataclass(frozen=True)
class Limits:
    """The largest distance from a center that initial positions may have along each axis."""

    center: AnyArray  # (axes) midpoint of the central percentiles
    distance: float

    def clip(self, positions: AnyArray) -> AnyArray:
        """Return the positions relative to the center, clipped."""
        clipped: AnyArray = np.clip(positions - self.center, -self.distance, self.distance)
        return clipped


def find_limits(centered: AnyArray) -> Limits | None:
    """Return limits if outliers dominate the axes; else None."""
    low, high = np.percentile(centered, CENTRAL_PERCENTILES, axis=0)
    robust_deviation = float(np.max(high - low)) / 2
    if robust_deviation == 0 or centered.std(axis=0).max() <= OUTLIER_FACTOR * robust_deviation:
        return None
    return Limits((low + high) / 2, FARTHEST_START * robust_deviation)


def without_outliers(centered: AnyArray) -> AnyArray:
    limits = find_limits(centered)
    if limits is None:
        return centered
    clipped = limits.clip(centered)
    clipped -= clipped.mean(axis=0)
    return clipped


def shrink(start: AnyArray, seed: int, deviation: float = DEFAULT_INIT_SCALE) -> Positions:
    """Center the axes and scale the longer one to a deviation. Constant axes get noise, or nothing would move."""
    centered = start.astype(np.float64) - start.mean(axis=0, dtype=np.float64)
    largest = np.abs(centered).max()
    centered = without_outliers(centered / (largest if largest > 0 else 1.0))
    deviations = centered.std(axis=0)
    scale = deviations.max()
    small = centered * (deviation / scale if scale > 0 else 0.0)
    noise = noise_positions(len(start), seed, deviation)
    for axis in (0, 1):
        if deviations[axis] <= 1e-9 * deviations.max():
            small[:, axis] = noise[:, axis]
    return np.ascontiguousarray(small, dtype=np.float32)


def noise_positions(n: int, seed: int, deviation: float = DEFAULT_INIT_SCALE) -> Positions:
    return np.random.default_rng(seed).normal(0.0, deviation, (n, 2)).astype(np.float32)


def spectral_axes(affinities: Affinities, seed: int) -> AnyArray:
    """Return (n, 2) coordinates along the slowest modes of a random walk on the affinities, by subspace iteration."""
    n = len(affinities)
    matrix = sparse.csr_array((affinities.values, affinities.columns, affinities.offsets), shape=(n, n))
    roots = np.sqrt(np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel())
    roots[roots == 0] = 1.0

    def walk(vectors: AnyArray) -> AnyArray:
        """Take a lazy step, which stays in place with probability 1/2, so that oscillating modes decay first."""
        moved: AnyArray = (vectors + (matrix @ (vectors / roots[:, None])) / roots[:, None]) / 2
        return moved

    basis = np.random.default_rng(seed).normal(size=(n, min(n, SPECTRAL_VECTORS)))
    basis[:, 0] = roots  # the stationary state; the other vectors are orthogonal to it
    affordable = int(SPECTRAL_PRODUCTS / max(1, matrix.nnz * basis.shape[1]))
    for _ in range(min(max(affordable, SPECTRAL_ROUNDS[0]), SPECTRAL_ROUNDS[1])):
        basis = np.linalg.qr(walk(basis))[0]
    eigenvalues, vectors = np.linalg.eigh(basis.T @ walk(basis))
    axes: AnyArray = basis @ slowest_modes(eigenvalues[::-1], vectors[:, ::-1], seed) / roots[:, None]
    return axes


def slowest_modes(eigenvalues: AnyArray, vectors: AnyArray, seed: int) -> AnyArray:
    """Return the two slowest modes after the stationary state. Eigenvalues and vectors are in descending order.

    A graph with several connected components has as many stationary modes, each constant on every component. Then
    return two random mixtures of these, which give each component a position of its own.
    """
    stationary = int(np.sum(eigenvalues > 1 - ROUNDING))
    if stationary <= AXES:
        return vectors[:, 1 : 1 + AXES]
    mixtures: AnyArray = vectors[:, :stationary] @ np.random.default_rng(seed).normal(size=(stationary, AXES))
    return mixtures


def separate_coinciding(start: Positions, seed: int, deviation: float = DEFAULT_INIT_SCALE) -> Positions:
    """Add noise to points that coincide: no force could separate them. deviation: of all positions."""
    cells = np.rint(start / np.float32(COINCIDING * deviation)).astype(np.int64)
    _, groups, sizes = np.unique(cells[:, 0] * 2**32 + cells[:, 1], return_inverse=True, return_counts=True)
    crowded = sizes[groups.ravel()] > 1
    noise = COINCIDING * noise_positions(len(start), seed, deviation)
    return np.where(crowded[:, None], start + noise, start).astype(np.float32)


def continued_positions(given: AnyArray, seed: int, fixed: NDArray[np.bool_] | None = None) -> Positions:
    """Return a copy of given positions, (n, 2) in embedding units, for a run with init_scale=None.

    Points in exactly one position get noise, since no force would separate them. Fixed points stay where they are.
    """
    positions = np.array(given, dtype=np.float32, order="C")
    _, groups, sizes = np.unique(positions.view(np.complex64).ravel(), return_inverse=True, return_counts=True)
    separated = sizes[groups.ravel()] > 1
    if fixed is not None:
        separated &= ~fixed
    positions[separated] += noise_positions(len(positions), seed, SEPARATION)[separated]
    return positions


def initial_positions(
    points: AnyArray, init: str | AnyArray, seed: int, deviation: float = DEFAULT_INIT_SCALE
) -> Positions:
    """Return (n, 2) positions in embedding units, from "pca", "random" or an array."""
    if not isinstance(init, str):
        return shrink(init, seed, deviation)
    if init == "random":
        return noise_positions(len(points), seed, deviation)
    components = principal_components(points, 2, seed)
    if components.shape[1] == 1:
        components = np.column_stack([components, np.zeros(len(components), dtype=np.float32)])
    return shrink(components, seed, deviation)
