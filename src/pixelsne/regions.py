"""Regions of a finished map: where its points are dense, at several levels of detail."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import ScreenPositions
from pixelsne.coloring import Colors, rgb
from pixelsne.density_basins import Cells, Lattice, find_basins, smooth_density
from pixelsne.region_colors import color_levels, hexadecimal, mute, place_colors
from pixelsne.region_places import LevelPlaces, example_rows, find_parents, find_places, is_dense
from pixelsne.region_tree import MIN_POINTS, find_levels

RegionIndices = NDArray[np.int32]  # (n)


@dataclass(frozen=True)
class Region:
    """A dense part of a map."""

    level: int  #: 1 is the coarsest
    name: str  #: "" if the region has no name
    center: tuple[float, float]  #: pixels, where the region is densest
    count: int  #: number of points
    parent: int  #: index in `Regions.regions` of the region of the level above that contains it, or -1
    rows: tuple[int, ...]  #: example rows, the most central first
    color: str  #: "#rrggbb", visible on white and on black


@dataclass(frozen=True)
class Regions:
    """The regions of a map, and the region of each point at each level."""

    regions: tuple[Region, ...]  #: level by level, in each level the largest first
    indices: tuple[RegionIndices, ...]  #: for each level, index in `regions` of each point's region, or -1
    placed: ScreenPositions | None = field(default=None, repr=False)  #: (n, 2), pixels; colors points of no region

    def level(self, number: int) -> tuple[Region, ...]:
        """Return the regions of a level; 1 is the coarsest."""
        return tuple(region for region in self.regions if region.level == number)

    def point_colors(self) -> Colors:
        """Return (n, 3) colors, 0 to 1: that of each point's finest region, and a muted one for points of no region."""
        if not self.regions:
            return place_colors(self.placed) if self.placed is not None else np.empty((0, 3))
        colors = np.array([rgb(region.color) for region in self.regions])
        found = colors[self.indices[-1]]
        for indices in self.indices:  # the last one that holds the point counts
            inside = indices >= 0
            found[inside] = colors[indices[inside]]
        outside = np.flatnonzero(np.all([indices < 0 for indices in self.indices], axis=0))
        found[outside] = mute(colors)[self._nearest(outside)]
        return found

    def _nearest(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the finest region whose center is nearest to each of some points."""
        finest = np.flatnonzero([region.level == len(self.indices) for region in self.regions])
        if self.placed is None:
            return np.repeat(finest[:1], len(points))
        from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import

        centers = np.array([self.regions[index].center for index in finest])
        nearest: NDArray[np.intp] = cKDTree(centers).query(self.placed[points])[1]
        return finest[nearest]


def with_names(regions: Regions, names: Sequence[str]) -> Regions:
    """Return the same regions with other names, one for each."""
    named = (replace(region, name=name) for region, name in zip(regions.regions, names, strict=True))
    return replace(regions, regions=tuple(named))


def find_regions(placed: ScreenPositions, resolution: tuple[int, int]) -> Regions:
    """Return the regions of a map, without names.

    placed: (n, 2), pixels. The regions of a level are those around the most important peaks of the map's density, and
    contain the regions of the next level. A map without structure has one region, a map of a few points none. Points
    where the map is almost empty belong to no region.
    """
    placed = check_placed(placed, resolution)
    if len(placed) < MIN_POINTS:
        return Regions((), (), placed)
    lattice = Lattice.over(placed)
    cells = lattice.cells(placed)
    counts = np.bincount(cells, minlength=lattice.shape[0] * lattice.shape[1])
    density, with_tails = smooth_density(counts.reshape(lattice.shape))
    basins = find_basins(counts, with_tails)
    labels = [regions[basins.labels] for regions in find_levels(basins)]
    dense = is_dense(labels[-1], counts, density.ravel())
    levels = [find_places(label, dense, counts, lattice) for label in labels]
    parents = [np.full(levels[0].number, -1), *(find_parents(*pair) for pair in pairwise(levels))]
    examples = example_rows(placed, cells, levels, parents)
    colors = color_levels(levels, parents)
    return Regions(make_regions(levels, parents, examples, colors), point_regions(levels, cells), placed)


def check_placed(placed: ScreenPositions, resolution: tuple[int, int]) -> ScreenPositions:
    """Return the positions as float32; raise ValueError unless they are (n, 2) pixels on the screen."""
    checked = np.ascontiguousarray(placed, dtype=np.float32)
    if checked.ndim != 2 or checked.shape[1] != 2:  # noqa: PLR2004
        raise ValueError(f"placed must be an array (n, 2) of pixels, got shape {checked.shape}")
    if len(checked) and not (checked.min() >= 0 and (checked.max(axis=0) <= resolution).all()):
        raise ValueError(f"placed must lie on the screen of {resolution[0]} x {resolution[1]} pixels")
    return checked


def make_regions(
    levels: list[LevelPlaces], parents: list[Any], examples: list[list[tuple[int, ...]]], colors: list[Colors]
) -> tuple[Region, ...]:
    """Return the regions of all levels. parents: for each level, the regions' indices in the level above."""
    regions: list[Region] = []
    above = 0  # index of the first region of the level above
    for level, places in enumerate(levels):
        first = len(regions)
        for index in range(places.number):
            x, y = places.centers[index].tolist()
            parent = above + int(parents[level][index]) if level else -1
            color = hexadecimal(colors[level][index])
            count = int(places.counts[index])
            regions.append(Region(level + 1, "", (x, y), count, parent, examples[level][index], color))
        above = first
    return tuple(regions)


def point_regions(levels: list[LevelPlaces], cells: Cells) -> tuple[RegionIndices, ...]:
    """Return for each level the index in `Regions.regions` of each point's region, or -1."""
    first = np.cumsum([0] + [places.number for places in levels])
    shifted = (np.where(p.cells >= 0, p.cells + start, -1) for p, start in zip(levels, first, strict=False))
    return tuple(regions.astype(np.int32)[cells] for regions in shifted)
