"""Where the regions of a level are: their cells, centers, points and example rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects, gaussian_filter

from pixelsne.arrays import AnyArray, ScreenPositions
from pixelsne.density_basins import CELLS_PER_BANDWIDTH, Cells, Density, Lattice

# A cell belongs to no region if its density is below this share of the region's mean (over points), or little more than
# that of a point alone.
EMPTY = 0.12
ALONE = 1.5 / (2 * np.pi * CELLS_PER_BANDWIDTH**2)

# The center of a region is where it is densest after smoothing by this share of the side of a square as large as its
# box, so that the name of a large region is not at a small peak on its border.
CENTER_BANDWIDTH = 0.25

EXAMPLES = 6  # rows per region
EXAMPLES_WITHIN = 0.5  # of the points of a region, the most central ones


@dataclass(frozen=True)
class LevelPlaces:
    """The regions of a level, the largest first."""

    cells: NDArray[np.int32]  # (cells), region of each cell, or -1
    centers: AnyArray  # (regions, 2), pixels
    counts: NDArray[np.int64]  # (regions), points

    @property
    def number(self) -> int:
        return len(self.counts)


def is_dense(finest: AnyArray, counts: AnyArray, density: Density) -> NDArray[np.bool_]:
    """Return which cells belong to regions. finest: (cells), a region of the finest level for each cell."""
    points = np.maximum(np.bincount(finest, counts), 1)
    mean = np.bincount(finest, counts * density) / points
    most = np.zeros(len(mean))
    np.maximum.at(most, finest, density)
    floor = np.minimum(np.maximum(EMPTY * mean, ALONE), 0.99 * most)
    return np.asarray(density >= floor[finest])


def find_places(labels: AnyArray, dense: AnyArray, counts: AnyArray, lattice: Lattice) -> LevelPlaces:
    """Return the regions of a level. labels: (cells), any number for each region; counts: (cells), points."""
    inside = dense & (counts > 0)
    used, numbers = np.unique(labels[inside], return_inverse=True)
    sizes = np.bincount(numbers, counts[inside]).astype(np.int64)
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(used), dtype=np.int32)
    rank[by_size] = np.arange(len(used))
    cells = np.full(len(labels), -1, dtype=np.int32)
    cells[inside] = rank[numbers]
    return LevelPlaces(cells, lattice.centers(find_centers(cells, counts, lattice.shape)), sizes[by_size])


def find_centers(cells: AnyArray, counts: AnyArray, shape: tuple[int, int]) -> AnyArray:
    """Return the densest cell of each region."""
    regions, counts = cells.reshape(shape), counts.reshape(shape)
    centers = []
    for index, box in enumerate(find_objects(regions + 1)):
        inside = regions[box] == index
        bandwidth = max(CENTER_BANDWIDTH * np.sqrt(inside.size), 1.0)
        inner = np.where(inside, counts[box], 0).astype(np.float64)
        smooth = gaussian_filter(inner, bandwidth, mode="constant", truncate=2.0)
        row, column = np.unravel_index(np.argmax(np.where(inside, smooth, -1)), inside.shape)
        centers.append((box[0].start + row) * shape[1] + box[1].start + column)
    return np.array(centers, dtype=np.int64)


def find_parents(upper: LevelPlaces, lower: LevelPlaces) -> NDArray[np.int64]:
    """Return for each region of a level the region of the level above that contains it."""
    parents = np.full(lower.number, -1, dtype=np.int64)
    inside = lower.cells >= 0
    parents[lower.cells[inside]] = upper.cells[inside]
    return parents


def central_rows(placed: ScreenPositions, cells: Cells, places: LevelPlaces) -> list[tuple[int, ...]]:
    """Return example rows of each region: the point next to the center, and others that are less and less central."""
    regions = places.cells[cells]
    rows = np.flatnonzero(regions >= 0)
    regions = regions[rows]
    distance = np.hypot(*(placed[rows] - places.centers[regions]).T)
    ordered = rows[np.argsort(regions + distance / (1.001 * distance.max() + 1e-6), kind="stable")]
    ends = np.cumsum(places.counts)
    examples = []
    for start, count in zip(ends - places.counts, places.counts, strict=True):
        ranks = np.unique(np.linspace(0, EXAMPLES_WITHIN * (count - 1), EXAMPLES).astype(int))
        examples.append(tuple(ordered[start + ranks].tolist()))
    return examples


def rows_of_children(children: list[tuple[int, ...]], parents: AnyArray, number: int) -> list[tuple[int, ...]]:
    """Return example rows of the regions of a level from those of its children, the largest child first."""
    examples: list[tuple[int, ...]] = []
    for parent in range(number):
        lists = [children[child] for child in np.flatnonzero(parents == parent)]
        taken = [rows[index] for index in range(EXAMPLES) for rows in lists if index < len(rows)]
        examples.append(tuple(taken[:EXAMPLES]))
    return examples


def example_rows(
    placed: ScreenPositions, cells: Cells, levels: list[LevelPlaces], parents: list[AnyArray]
) -> list[list[tuple[int, ...]]]:
    """Return the example rows of the regions of each level, coarsest first."""
    examples = [central_rows(placed, cells, levels[-1])]
    for level in range(len(levels) - 2, -1, -1):
        examples.insert(0, rows_of_children(examples[0], parents[level + 1], levels[level].number))
    return examples
