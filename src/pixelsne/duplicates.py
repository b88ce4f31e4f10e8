"""Equal rows, merged into one point for the descent and spread around it afterwards.

No force separates points in one position, and a row with more duplicates than neighbors has no edge to other rows. So
the map is computed for the distinct rows, which have weights (`weights`). When the map is finished, equal rows are
spread on a disc around their common position. The area of the disc is proportional to their number, and neighbors limit
it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray, Positions

NUMBERS_PER_BLOCK = 20_000

# The disc of a row does not overlap those of this many nearest distinct rows; this share of the distance stays empty.
NEIGHBORS_NOT_OVERLAPPED = 8
EMPTY_SHARE = 0.2

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True)
class Duplicates:
    """The groups of equal rows. Distinct rows are numbered in the order of their first occurrence."""

    group: NDArray[np.int32]  # (n) the distinct row that each row equals

    def __len__(self) -> int:
        """Return the number of distinct rows."""
        return int(self.group.max()) + 1

    @property
    def first(self) -> NDArray[np.int64]:
        """The first row of each group of equal rows, (distinct)."""
        return np.unique(self.group, return_index=True)[1]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of equal rows in each group, (distinct)."""
        return np.bincount(self.group)

    def centers(self, positions: Positions) -> Positions:
        """Return the mean position of each group, (distinct, 2)."""
        sums = [np.bincount(self.group, weights=positions[:, axis]) for axis in (0, 1)]
        return (np.column_stack(sums) / self.counts[:, None]).astype(np.float32)

    def spread(self, centers: Positions) -> Positions:
        """Return (n, 2) positions, with equal rows on a disc around their common position, along a Fermat spiral."""
        order = np.argsort(self.group, kind="stable")
        counts = self.counts
        rank = np.empty(len(order))  # of a row within its group
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        radius = disc_radii(centers, counts)[self.group]
        distance, angle = radius * np.sqrt((rank + 0.5) / counts[self.group]), rank * GOLDEN_ANGLE
        offsets = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        spread: Positions = (centers[self.group] + offsets).astype(np.float32)
        return spread


def disc_radii(centers: Positions, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return disc radii, 0 for a single row.

    Half of the areas are proportional to the counts. The others are smaller, so that no disc overlaps those of its
    nearest distinct rows.
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import, and most data have no equal rows

    roots, several = np.sqrt(counts), np.flatnonzero(counts > 1)
    count = min(NEIGHBORS_NOT_OVERLAPPED, len(centers) - 1) + 1
    distances, others = cKDTree(centers).query(centers[several], count)
    # The largest radius per unit of `roots` at which a disc and those of its neighbors do not overlap.
    largest = (1 - EMPTY_SHARE) * (distances[:, 1:] / (roots[several, None] + roots[others[:, 1:]])).min(axis=1)
    radii = np.zeros(len(counts))
    radii[several] = roots[several] * np.minimum(largest, np.median(largest))
    return radii


def row_hashes(rows: AnyArray) -> NDArray[np.uint64]:
    """Return a hash of each row. 0 and -0 are equal."""
    n, columns = rows.shape
    factors = np.random.default_rng(0).integers(0, 2**63, (columns, 2), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashes = np.empty(n, dtype=np.uint64)
    step = max(1, NUMBERS_PER_BLOCK // columns)
    for begin in range(0, n, step):
        bits = (rows[begin : begin + step].astype(np.float64) + 0.0).view(np.uint64)
        mixed = bits * factors[:, 0]
        mixed ^= mixed >> np.uint64(32)
        hashes[begin : begin + step] = (mixed * factors[:, 1]).sum(axis=1, dtype=np.uint64)
    return hashes


def find_duplicates(rows: AnyArray, fixed: NDArray[np.bool_] | None = None) -> Duplicates | None:
    """Return the groups of equal rows; None if all are distinct (nothing to merge) or equal (nothing to arrange).

    fixed: rows not to merge.
    """
    leader = first_equal_rows(rows)
    if fixed is not None:
        leader = without_fixed(leader, fixed)
    if (leader == np.arange(len(rows))).all():
        return None
    leaders, group = np.unique(leader, return_inverse=True)
    return None if len(leaders) == 1 else Duplicates(group.ravel().astype(np.int32))


def without_fixed(leader: NDArray[np.int64], fixed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the first equal row of each row, where a fixed row equals itself only, so that it keeps its position."""
    free = np.flatnonzero(~fixed)
    first_free = np.full(len(leader), len(leader))
    np.minimum.at(first_free, leader[free], free)
    own = np.arange(len(leader))
    own[free] = first_free[leader[free]]
    return own


def first_equal_rows(rows: AnyArray) -> NDArray[np.int64]:
    """Return the index of the first row that each row equals, (n)."""
    _, first, group = np.unique(row_hashes(rows), return_index=True, return_inverse=True)
    group = group.ravel()
    repeats = np.flatnonzero(first[group] != np.arange(len(rows)))
    step = max(1, NUMBERS_PER_BLOCK // rows.shape[1])
    leader = first[group]
    for begin in range(0, len(repeats), step):
        block = repeats[begin : begin + step]
        same = (rows[block] == rows[leader[block]]).all(axis=1)
        leader[block[~same]] = block[~same]  # rows with equal hashes and different values stay separate
    return leader
