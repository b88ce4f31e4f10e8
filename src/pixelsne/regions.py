"""Regions of a finished map: where its points are dense, at several levels of detail."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import ScreenPositions

RegionIndices = NDArray[np.int32]  # (n)


@dataclass(frozen=True)
class Region:
    """A dense part of a map."""

    level: int  # 1 is the coarsest
    name: str  # "" if the region has no name
    center: tuple[float, float]  # pixels, where the region is densest
    count: int  # points
    parent: int  # index in `Regions.regions` of the region of the level above that contains it, or -1
    rows: tuple[int, ...]  # example rows
    color: str  # "#rrggbb"


@dataclass(frozen=True)
class Regions:
    """The regions of a map, and the region of each point at each level."""

    regions: tuple[Region, ...]  # level by level, in each level the largest first
    indices: tuple[RegionIndices, ...]  # for each level, index in `regions` of each point's region, or -1


def find_regions(placed: ScreenPositions, resolution: tuple[int, int]) -> Regions:
    """Return the regions of a map, without names. placed: (n, 2), pixels."""
    raise NotImplementedError
