"""Regions in a map file: a table in the metadata, and for each level a column with the name of each row's region.

A reader ignores a table that is damaged or does not fit the columns; the columns then count as columns of the input.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import ScreenPositions
from pixelsne.coloring import encode
from pixelsne.regions import Region, Regions

MAX_LEVELS = 20
MAX_STORED = 100_000
COLOR = re.compile(r"#[0-9a-f]{6}")


def region_columns(levels: int) -> tuple[str, ...]:
    """Return the names of the columns, coarsest level first."""
    return tuple(f"region_{level + 1}" for level in range(levels))


def region_metadata(regions: Regions) -> list[dict[str, Any]]:
    """Return the table of regions as JSON can hold it. Centers are in pixels from the top left corner."""
    return [asdict(region) for region in regions.regions]


def stored_names(regions: Sequence[Region]) -> list[str]:
    """Return the value that stands for each region of a level in its column: its name, numbered if several have it."""
    names: list[str] = []
    given, used = {region.name for region in regions}, set()
    counts: dict[str, int] = {}  # how often a name was tried; a damaged file may have very many equal ones
    for number, region in enumerate(regions, 1):
        base = region.name or f"#{number}"
        name = base
        while name in used or (name != region.name and name in given):
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        used.add(name)
        names.append(name)
    return names


def columns_of_regions(regions: Regions) -> dict[str, Any]:
    """Return the columns of a map file, as dictionary arrays of pyarrow; null for rows of no region."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    columns = {}
    first = 0
    for level, name in enumerate(region_columns(len(regions.indices))):
        names = stored_names(regions.level(level + 1))
        codes = pa.array(regions.indices[level] - first, mask=regions.indices[level] < 0, type=pa.int32())
        columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))
        first += len(names)
    return columns


def read_regions(stored: Any, table: Any, placed: ScreenPositions, resolution: tuple[int, int]) -> Regions | None:
    """Return the regions of a map file; None if there are none, or if they are damaged.

    stored: the table in the metadata. table: the columns beside the positions, under their names in the file.
    """
    if not isinstance(stored, list) or not 0 < len(stored) <= MAX_STORED or table is None:
        return None
    regions = [read_region(entry, len(placed), resolution) for entry in stored]
    known = [region for region in regions if region is not None]
    if len(known) < len(regions) or not are_nested(known):
        return None
    levels = known[-1].level
    columns = region_columns(levels)
    if any(table.column_names.count(name) != 1 for name in columns):
        return None
    found: list[NDArray[np.int32]] = []
    first = 0
    for level, name in enumerate(columns):
        names = stored_names([region for region in known if region.level == level + 1])
        indices = indices_of(table.column(name), names, first)
        if indices is None:
            return None
        found.append(indices)
        first += len(names)
    counts = sum((np.bincount(indices[indices >= 0], minlength=len(known)) for indices in found), np.zeros(len(known)))
    if not np.array_equal(counts, [region.count for region in known]):
        return None
    return Regions(tuple(known), tuple(found), placed)


def indices_of(column: Any, names: list[str], first: int) -> NDArray[np.int32] | None:
    """Return the region of each row; None if a value is the name of no region."""
    values, codes = encode(column)
    known = {name: first + index for index, name in enumerate(names)}
    if any(value and value not in known for value in values):
        return None
    return np.array([*(known.get(value, -1) for value in values), -1], dtype=np.int32)[codes]


def read_region(entry: Any, n: int, resolution: tuple[int, int]) -> Region | None:
    """Return a region; None if it is damaged."""
    if not isinstance(entry, dict):
        return None
    values: list[Any] = [entry.get(field.name) for field in fields(Region)]
    level, name, center, count, parent, rows, color = values
    integers = [level, count, parent, *(rows if isinstance(rows, list) else [None])]
    if not all(type(value) is int for value in integers) or not (isinstance(name, str) and isinstance(color, str)):
        return None
    if not 1 <= level <= MAX_LEVELS or not 0 <= count <= n or not all(0 <= row < n for row in rows):
        return None
    is_pair = isinstance(center, list) and [type(side) in {int, float} for side in center] == [True, True]
    if not is_pair or not all(0 <= side <= most for side, most in zip(center, resolution, strict=True)):
        return None
    if not COLOR.fullmatch(color) or name.encode(errors="replace").decode() != name:
        return None
    return Region(level, name, (float(center[0]), float(center[1])), count, parent, tuple(rows), color)


def are_nested(regions: list[Region]) -> bool:
    """Return whether levels follow each other, and each parent is in the level above."""
    levels = [region.level for region in regions]
    if levels[0] != 1 or any(after - before not in {0, 1} for before, after in pairwise(levels)):
        return False
    return all(
        region.parent == -1
        if region.level == 1
        else 0 <= region.parent < len(regions) and levels[region.parent] == region.level - 1
        for region in regions
    )
