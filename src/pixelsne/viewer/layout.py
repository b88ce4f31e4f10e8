"""The data of a page: the same bytes from a server and in an exported file.

A manifest describes the map; each array is a part of its own, little-endian, in row order.

    positions   (n, 2) uint16: position * 65536 / resolution, so that zooming shows detail between pixels
    column0 …   see column_types
    region1 …   see region_parts
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import Positions, ScreenPositions
from pixelsne.coloring import MAX_CATEGORIES
from pixelsne.files.maps import Map
from pixelsne.files.source import ROW_NUMBERS
from pixelsne.map_regions import regions_of
from pixelsne.regions import Regions
from pixelsne.screen import Screen
from pixelsne.viewer.column_types import COLORED_KINDS, Column, Text, column_of
from pixelsne.viewer.region_parts import QUANTIZATION_LEVELS, region_metadata, region_parts

NO_REGIONS = Regions((), ())


@dataclass(frozen=True)
class Page:
    """Everything that a page shows of one map."""

    title: str
    resolution: tuple[int, int]
    n: int
    columns: tuple[Column, ...] = ()
    positions: bytes = b""  # empty until a run has its first frame
    color: str | None = None  # column that colors the map at first; None: the regions do
    dark: bool | None = None  # None: the preference of the reader's system
    regions: Regions = NO_REGIONS

    def manifest(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "resolution": list(self.resolution),
            "n": self.n,
            "columns": [column.metadata() for column in self.columns],
            "color": self.color,
            "dark": self.dark,
            "regions": region_metadata(self.regions, self.resolution),
            "textColumn": choose_text(self.columns),
        }

    def parts(self) -> dict[str, bytes]:
        """Return the arrays by name: "positions", "column0", "column1", ..., "region1", ..."""
        columns = {f"column{index}": column.content for index, column in enumerate(self.columns)}
        return {"positions": self.positions} | columns | region_parts(self.regions)


def encode_positions(placed: ScreenPositions, resolution: tuple[int, int]) -> bytes:
    """Encode the positions of a finished map. placed: (n, 2), pixels."""
    quantized = placed * (np.float32(QUANTIZATION_LEVELS) / np.array(resolution, dtype=np.float32))
    return np.minimum(quantized, QUANTIZATION_LEVELS - 1).astype("<u2").tobytes()


def encode_frame(positions: Positions, screen: Screen) -> bytes:
    """Encode the positions of a run in progress. positions: (n, 2), embedding units."""
    scale = QUANTIZATION_LEVELS / (np.array(screen.unit_per_pixel) * screen.resolution)
    origin = np.array(screen.origin)
    quantized = positions * scale.astype(np.float32) - (origin * scale).astype(np.float32)
    return np.clip(quantized, 0, QUANTIZATION_LEVELS - 1).astype("<u2").tobytes()


def page_of(map_: Map, title: str, color: str | None = None, *, dark: bool = False) -> Page:
    """Return the page of a finished map."""
    label = map_.metadata.get("label")
    columns = columns_of(map_.extra_columns, {label, label.removeprefix("input_")} if label else set())
    regions = regions_of(map_)
    chosen = choose_color(columns, color, label)
    return Page(
        title=title,
        resolution=map_.resolution,
        n=len(map_.placed),
        columns=columns,
        positions=encode_positions(map_.placed, map_.resolution),
        color=chosen if chosen or len(regions.regions) > 1 else first_scale(columns),
        dark=dark or None,
        regions=regions,
    )


def columns_of(extra_columns: Any, labels: set[str] | None = None) -> tuple[Column, ...]:
    """Return the columns of a pyarrow table for the page; none for None. labels: names of columns with class labels."""
    if extra_columns is None:
        return ()
    pairs = zip(extra_columns.column_names, extra_columns.columns, strict=True)
    return tuple(column_of(name, column, is_label=name in (labels or ())) for name, column in pairs)


def choose_color(columns: tuple[Column, ...], requested: str | None, label: str | None = None) -> str | None:
    """Return the column to color by: the requested one, which must exist, else the label, else few categories.

    None means that no column is better than the regions of the map.
    """
    names = [column.name for column in columns if column.kind in COLORED_KINDS]
    if requested is not None and requested not in names:
        raise ValueError(f"{requested!r} is not a column to color by; there are {', '.join(names) or 'none'}")
    if requested or label in names:
        return requested or label
    categories = (column for column in columns if 1 < len(column.categories) <= MAX_CATEGORIES)
    return next((column.name for column in categories if column.name not in ROW_NUMBERS), None)


def first_scale(columns: tuple[Column, ...]) -> str | None:
    """Return the first column that can color a map that does not consist of several regions."""
    names = (column.name for column in columns if column.kind in COLORED_KINDS)
    return next((name for name in names if name not in ROW_NUMBERS), None)


def choose_text(columns: tuple[Column, ...]) -> str | None:
    """Return the text column whose values are examples on the map: the one with the longest texts."""
    texts = [column for column in columns if column.kind == Text.kind]
    return max(texts, key=lambda column: len(column.content)).name if texts else None
