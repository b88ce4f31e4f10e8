"""The regions of a map: stored ones, or found and named."""

from dataclasses import replace
from typing import Any

from pixelsne.files.maps import Map
from pixelsne.region_names import name_regions
from pixelsne.region_texts import Progress
from pixelsne.regions import Regions, find_regions


def regions_of(map_: Map, names: Any = "auto", progress: Progress | None = None) -> Regions:
    """Return the regions of a map, named by its columns: those that its file holds, unless other names are wanted.

    names, progress: as for `name_regions`.
    """
    stored = map_.regions
    if stored is not None and isinstance(names, str) and names == "auto":
        return stored
    found = stored if stored is not None else find_regions(map_.placed, map_.resolution)
    return name_regions(found, map_.extra_columns, names, progress)


def with_regions(map_: Map, names: Any = "auto", progress: Progress | None = None) -> Map:
    """Return the map with regions."""
    return replace(map_, regions=regions_of(map_, names, progress))
