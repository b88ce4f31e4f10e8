"""A map as files store it: positions in pixels, the other columns of the input, and metadata."""

import json
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelsne import __version__
from pixelsne.arrays import AnyArray, Pixels, ScreenPositions
from pixelsne.files.column_names import REGIONS_KEY, stored_name
from pixelsne.files.source import ReadOptions, Source
from pixelsne.screen import Screen

if TYPE_CHECKING:
    from pixelsne.regions import Regions

METADATA_KEY = "pixelsne"  # key of the JSON metadata in every format
POSITION_COLUMNS = ("x", "y", "pixel_x", "pixel_y")
Y_AXIS, UP = "y_axis", "up"  # in the metadata of an h5ad file; without it, y points downward


@dataclass(frozen=True)
class Map:
    """A map as `write_map` writes it and `read_map` returns it."""

    placed: ScreenPositions  # (n, 2), fractional pixels
    resolution: tuple[int, int]
    extra_columns: Any = None  # pyarrow table of n rows, with the column names of the input
    metadata: dict[str, Any] = field(default_factory=dict)  # settings, seed, KL divergence
    source: Path | None = None  # file of the points; an h5ad output copies everything in an h5ad source
    regions: "Regions | None" = None

    @property
    def pixels(self) -> Pixels:
        return self.placed.astype(np.int32)

    def metadata_json(self) -> str:
        """Return the metadata as JSON. A map that is written again keeps the version that computed it."""
        own: dict[str, Any] = {"resolution": list(self.resolution)}
        if self.regions is not None:
            from pixelsne.files.stored_regions import region_metadata  # noqa: PLC0415 - slow to import

            own[REGIONS_KEY] = region_metadata(self.regions)
        return json.dumps({"pixelsne_version": __version__} | self.metadata | own)

    @property
    def region_columns(self) -> dict[str, Any]:
        """Return the columns region_1, region_2, ... with the name of each row's region, as arrays of pyarrow."""
        if self.regions is None:
            return {}
        from pixelsne.files.stored_regions import columns_of_regions  # noqa: PLC0415 - slow to import

        return columns_of_regions(self.regions)

    def metadata_json_y_up(self) -> str:
        """Return the metadata as JSON, with the note that y points upward in the file."""
        return json.dumps(json.loads(self.metadata_json()) | {Y_AXIS: UP})


def flip_y(placed: AnyArray, resolution: tuple[int, int]) -> AnyArray:
    """Return positions measured from the bottom left instead of the top left corner, or vice versa.

    The result is float64, so that flipping twice gives the same pixels.
    """
    flipped = placed.astype(np.float64)
    flipped[:, 1] = resolution[1] - flipped[:, 1]
    return flipped


def map_metadata(source: Source, options: ReadOptions, screen: Screen, **results: Any) -> dict[str, Any]:
    """Return the metadata of a map: its columns, label and units, and the settings and results of the run."""
    default_rep = "X" if source.path.suffix.lower() == ".h5ad" else None
    return {
        **results,
        "columns": list(source.columns),
        "rep": options.representation or default_rep,
        "label": options.label,
        "weight": options.weight,
        "unit_per_pixel": list(screen.unit_per_pixel),
    }


def to_table(map_: Map) -> Any:
    """Return a pyarrow table: positions, regions, then the other columns. An input column x becomes input_x."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    coordinates = zip(POSITION_COLUMNS, (*map_.placed.T, *map_.pixels.T), strict=True)
    columns = {name: pa.array(np.ascontiguousarray(column)) for name, column in coordinates} | map_.region_columns
    reserved = (*POSITION_COLUMNS, *map_.region_columns)
    if map_.extra_columns is not None:
        for name, column in zip(map_.extra_columns.column_names, map_.extra_columns.columns, strict=True):
            columns[unused_name(stored_name(name, reserved), columns)] = column
    return pa.table(columns, metadata={METADATA_KEY: map_.metadata_json()})


def unused_name(name: str, taken: Container[str]) -> str:
    """Return the name, prefixed until it is not taken: an input may have several columns of one name."""
    while name in taken:
        name = f"input_{name}"
    return name
