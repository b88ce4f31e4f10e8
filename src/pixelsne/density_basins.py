"""Divide a map into basins: one around each peak of its smoothed density, found on a lattice by steepest ascent."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom

from pixelsne.arrays import AnyArray, ScreenPositions

Density = NDArray[np.float64]  # (rows, columns), points per cell
Cells = NDArray[np.int32]  # indices in the flattened lattice

# The bandwidth holds this many points at the map's median density, or reaches over this share of the side of a square
# of the map's area: in large maps, smaller peaks would be no regions that anybody can read.
POINTS_IN_KERNEL = 12.0
MIN_BANDWIDTH = 0.0065
CELLS_PER_BANDWIDTH = 2.0
KERNEL_AREA = 4 * np.pi * CELLS_PER_BANDWIDTH**2  # cells; density times this: points that determine it
MARGIN = 8  # empty cells around the points
MAX_CELLS = 1_500_000

# Far from all points, the density ends in weak tails of wider kernels: gaps between islands have slopes and saddles,
# higher ones between nearer islands.
TAILS = ((4.0, 1e-3), (16.0, 1e-6), (64.0, 1e-9))  # bandwidths, in units of the bandwidth; weights

POINTS_PER_ROUGH_CELL = 8
MAX_ROUGH_CELLS = 256  # per side
THINNEST = 1e-3  # of a map's longer side; the smaller extent of points in a line
BLOCK = 1_000_000  # points, bounds the memory


@dataclass(frozen=True)
class Lattice:
    """Square cells over the points of a map."""

    origin: tuple[float, float]  # pixels
    cell: float  # side in pixels
    shape: tuple[int, int]  # rows, columns

    @classmethod
    def over(cls, placed: ScreenPositions) -> Self:
        """Return a lattice whose spacing follows the number of points and the area they cover."""
        low, high = placed.min(axis=0).astype(np.float64), placed.max(axis=0).astype(np.float64)
        longest = max(float((high - low).max()), 1e-6)
        extent = np.maximum(high - low, THINNEST * longest)
        area = covered_area(placed, low, extent)
        bandwidth = max(np.sqrt(POINTS_IN_KERNEL * area / len(placed) / (4 * np.pi)), MIN_BANDWIDTH * np.sqrt(area))
        cell = max(bandwidth / CELLS_PER_BANDWIDTH, np.sqrt(extent.prod() / MAX_CELLS), longest / MAX_CELLS * 64)
        columns, rows = np.ceil((high - low) / cell).astype(int) + 1 + 2 * MARGIN
        origin = (low + high) / 2 - np.array([columns, rows]) * cell / 2
        return cls((float(origin[0]), float(origin[1])), float(cell), (int(rows), int(columns)))

    def cells(self, placed: ScreenPositions) -> Cells:
        """Return the cell of each point."""
        cells = np.empty(len(placed), dtype=np.int32)
        for start in range(0, len(placed), BLOCK):
            part = ((placed[start : start + BLOCK] - np.array(self.origin)) / self.cell).astype(np.int32)
            cells[start : start + BLOCK] = part[:, 1] * self.shape[1] + part[:, 0]
        return cells

    def centers(self, cells: AnyArray) -> AnyArray:
        """Return the (n, 2) centers of cells, in pixels."""
        rows, columns = np.divmod(cells, self.shape[1])
        return np.stack([columns, rows], axis=1) * self.cell + 0.5 * self.cell + self.origin


@dataclass(frozen=True)
class Basins:
    """The basin of each cell, the basins' peaks, and the saddles between adjacent basins."""

    labels: NDArray[np.int32]  # (cells), index of the basin
    peaks: Density  # (basins), density
    counts: AnyArray  # (basins), points
    pairs: AnyArray  # (saddles, 2), adjacent basins
    saddles: Density  # (saddles), the highest density on the border of a pair


def covered_area(placed: ScreenPositions, low: AnyArray, extent: AnyArray) -> float:
    """Return the area that the points would cover at the median density, in pixels.

    The median is over points, so that neither a few far points nor a clump of equal ones determines it.
    """
    side = int(np.clip(np.sqrt(len(placed) / POINTS_PER_ROUGH_CELL), 4, MAX_ROUGH_CELLS))
    counts = np.zeros(side * side, dtype=np.int64)
    for start in range(0, len(placed), BLOCK):
        part = ((placed[start : start + BLOCK] - low) / extent * (side * (1 - 1e-6))).astype(np.int32)
        counts += np.bincount(part[:, 1] * side + part[:, 0], minlength=side * side)
    by_count = np.sort(counts)
    median = by_count[np.searchsorted(np.cumsum(by_count), len(placed) / 2)]
    # A point's own cell holds one point more than an arbitrary one.
    return float(extent.prod()) / side**2 * len(placed) / max(float(median) - 1, 0.5)


def smooth_density(counts: AnyArray) -> tuple[Density, Density]:
    """Return the smoothed counts, without and with the tails of wider kernels."""
    density = gaussian_filter(counts.astype(np.float64), CELLS_PER_BANDWIDTH, mode="constant")
    with_tails = density.copy()
    widest = max(counts.shape) / 4
    for width, weight in TAILS:
        with_tails += weight * wide_filter(counts, min(width * CELLS_PER_BANDWIDTH, widest))
    return density, with_tails


def wide_filter(counts: AnyArray, bandwidth: float) -> Density:
    """Return the counts smoothed by a wide kernel, computed on a coarser lattice and interpolated."""
    factor = max(int(bandwidth / 4), 1)
    rows, columns = (-(-side // factor) for side in counts.shape)
    padded = np.zeros((rows * factor, columns * factor))
    padded[: counts.shape[0], : counts.shape[1]] = counts
    coarse = padded.reshape(rows, factor, columns, factor).mean(axis=(1, 3))
    smooth = gaussian_filter(coarse, bandwidth / factor, mode="constant", truncate=6.0)
    fine = smooth if factor == 1 else zoom(smooth, factor, order=1, mode="nearest", grid_mode=True)
    return np.asarray(fine[: counts.shape[0], : counts.shape[1]])


def ascend(density: Density) -> NDArray[np.int32]:
    """Return for each cell the peak that steepest ascent among the 8 neighbors reaches."""
    rows, columns = density.shape
    padded = np.pad(density, 1, constant_values=-np.inf)
    best = density.copy()
    target = np.arange(density.size, dtype=np.int32).reshape(density.shape)
    own = target.copy()
    # A tie goes to the later neighbor in this order, which is the one of higher index: plateaus have one peak.
    for down, right in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        neighbor = padded[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
        later = down > 0 or (down == 0 and right > 0)
        higher = (neighbor >= best) if later else (neighbor > best)
        best = np.where(higher, neighbor, best)
        target = np.where(higher, own + np.int32(down * columns + right), target)
    reached = target.ravel()
    while True:
        further = reached[reached]
        if np.array_equal(further, reached):
            return reached
        reached = further


def border_saddles(labels: AnyArray, density: Density) -> tuple[AnyArray, AnyArray]:
    """Return the pairs of adjacent basins, and the highest density on each border."""
    ends, heights = [], []
    rows, columns = labels.shape
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        first = (slice(0, rows - down), slice(max(0, -right), columns - max(0, right)))
        second = (slice(down, rows), slice(max(0, right), columns + min(0, right)))
        differ = labels[first] != labels[second]
        ends.append(np.stack([labels[first][differ], labels[second][differ]], axis=1))
        heights.append(np.minimum(density[first][differ], density[second][differ]))
    pairs, height = np.sort(np.concatenate(ends), axis=1), np.concatenate(heights)
    if not len(pairs):
        return pairs, height
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, height = pairs[order], height[order]
    starts = np.flatnonzero(np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)])
    return pairs[starts], np.maximum.reduceat(height, starts)


def find_basins(counts: AnyArray, density: Density) -> Basins:
    """Return the basins of a density. counts: (cells), points."""
    peaks, inverse = np.unique(ascend(density), return_inverse=True)
    labels: NDArray[np.int32] = inverse.reshape(density.shape).astype(np.int32)
    pairs, saddles = border_saddles(labels, density)
    points = np.bincount(labels.ravel(), counts.ravel(), minlength=len(peaks))
    return Basins(labels.ravel(), density.ravel()[peaks], points, pairs, saddles)
