"""Names to write on a map: those of regions, or those of categories where their points are dense."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.coloring import Coloring, as_hex
from pixelsne.pictures.view import View
from pixelsne.raster import contour_levels, density
from pixelsne.regions import Regions

# Islands of a category are connected cells of a lattice in which most points are of the category.
CELLS = 200  # along the longer side of the view
MAJORITY = 0.6
SHARE_INSIDE = 0.9  # of the category's points that the densest cells hold
MIN_ISLAND = 0.12  # share of the category's points
MIN_OF_MAP = 0.004  # share of all points
MIN_POINTS = 5
NEAR = 0.12  # a name is written once within this distance, as a share of the view's longer side

EXTENT_PER_DEVIATION = 3.46  # width of a uniform distribution
SPREAD_OF_ISLAND = 2.0


@dataclass(frozen=True)
class MapName:
    """A name and where it belongs on the map."""

    text: str
    anchor: tuple[float, float]  # pixels of the map
    level: int  # 1 is the coarsest
    count: int  # points
    extent: float  # width of what it names, in pixels of the map
    color: str | None = None  # None: the color of text


def names_of_regions(regions: Regions, placed: AnyArray, coloring: Coloring, *, colored: bool) -> list[MapName]:
    """Return the names of regions. colored: in the colors of the regions, instead of those of equal categories."""
    of_categories = {name: as_hex(color) for name, color in coloring.legend}
    extents = _extents(regions, placed)
    return [
        MapName(
            region.name,
            region.center,
            region.level,
            region.count,
            extents[index],
            region.color if colored else of_categories.get(region.name),
        )
        for index, region in enumerate(regions.regions)
        if region.name.strip()
    ]


def _extents(regions: Regions, placed: AnyArray) -> AnyArray:
    """Return the width of each region, from the standard deviation of its points."""
    number = len(regions.regions)
    count, first, second = (np.zeros(number) for _ in range(3))
    for indices in regions.indices:
        inside = indices >= 0
        own, x = indices[inside], placed[inside, 0].astype(np.float64)
        count += np.bincount(own, minlength=number)
        first += np.bincount(own, x, minlength=number)
        second += np.bincount(own, x * x, minlength=number)
    counted = np.maximum(count, 1)
    variance = np.maximum(second / counted - (first / counted) ** 2, 0)
    extents: AnyArray = EXTENT_PER_DEVIATION * np.sqrt(variance)
    return extents


def names_of_categories(coloring: Coloring, placed: AnyArray, view: View) -> list[MapName]:
    """Return the name of each category at each of its islands, the largest first."""
    if coloring.codes is None:
        return []
    scale = CELLS / max(view.width, view.height)
    size = (max(int(np.ceil(view.width * scale)), 1), max(int(np.ceil(view.height * scale)), 1))
    cells = (placed - [view.left, view.top]) * scale
    every = density(cells, *size)
    names = []
    for code, (text, color) in enumerate(coloring.legend[: coloring.codes.max(initial=-1) + 1]):
        own = cells[coloring.codes == code]
        for island in _islands(own, every, len(placed)):
            x, y = island.anchor
            there = (view.left + x / scale, view.top + y / scale)
            names.append(replace(island, text=text, color=as_hex(color), anchor=there, extent=island.extent / scale))
    return sorted(names, key=lambda name: -name.count)


def _islands(cells: AnyArray, every: AnyArray, total: int) -> list[MapName]:
    """Return islands of a category, with anchors in cells. cells: (m, 2), its points. every: density of all points."""
    from scipy.ndimage import distance_transform_edt, label  # noqa: PLC0415 - slow to import

    height, width = every.shape
    own = density(cells, width, height)
    levels = contour_levels(own, (SHARE_INSIDE,))
    if not len(levels):
        return []
    marked, number = label((own > MAJORITY * every) & (own >= levels[0]))
    x, y = np.clip(cells.astype(np.intp), 0, [width - 1, height - 1]).T
    counts = np.bincount(marked[y, x], minlength=number + 1)[1:]
    found: list[MapName] = []
    for index in np.argsort(-counts, kind="stable"):
        if counts[index] < max(MIN_ISLAND * len(cells), MIN_OF_MAP * total, MIN_POINTS):
            break
        inside = np.pad(marked == index + 1, 1)
        depth = distance_transform_edt(inside)[1:-1, 1:-1]
        deepest = cells[int(depth[y, x].argmax())]  # the point that is farthest from the shore
        anchor = (float(deepest[0]), float(deepest[1]))
        if all(_distance(anchor, other.anchor) > NEAR * CELLS for other in found):
            extent = float(inside.any(axis=0).sum()) * SPREAD_OF_ISLAND
            found.append(MapName("", anchor, 1, int(counts[index]), extent))
    return found


def _distance(first: tuple[float, float], second: tuple[float, float]) -> float:
    return float(np.hypot(first[0] - second[0], first[1] - second[1]))


def all_named(coloring: Coloring, names: Any) -> bool:
    """Return whether names on the map explain all colors."""
    written = {name.text for name in names}
    return bool(coloring.legend) and coloring.bar is None and written >= {name for name, _ in coloring.legend}
