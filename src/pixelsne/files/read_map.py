"""Read a map from a file, or from a folder of parts."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray, ScreenPositions
from pixelsne.files.column_names import REGIONS_KEY, input_name
from pixelsne.files.errors import FileError, NoColumnError, not_a_map
from pixelsne.files.format import XY, Format
from pixelsne.files.formats import format_of
from pixelsne.files.maps import POSITION_COLUMNS, UP, Y_AXIS, Map, flip_y
from pixelsne.files.read_parts import join_tables, part_paths
from pixelsne.files.read_points import read_points
from pixelsne.files.source import Source
from pixelsne.files.stored_regions import read_regions, region_columns
from pixelsne.regions import Regions
from pixelsne.settings import MAX_SIDE


def read_map(path: str | os.PathLike[str]) -> Map:
    """Read a map from a file, or from the folder of parts that `embed --cluster` writes.

    The positions are the columns x and y of a table, the matrix of an npy or npz file, and obsm["X_pixelsne"] of an
    h5ad file.
    """
    path = Path(path)
    placed, extra_columns, metadata = read_folder(path) if path.is_dir() else read_file(path)
    resolution = resolution_of(path, metadata, placed)
    extra_columns, metadata, regions = take_regions(placed, resolution, extra_columns, metadata)
    return Map(placed, resolution, extra_columns, metadata, regions=regions)


def take_regions(
    placed: ScreenPositions, resolution: tuple[int, int], extra_columns: Any, metadata: dict[str, Any]
) -> tuple[Any, dict[str, Any], Regions | None]:
    """Return the columns and the metadata without the regions, and the regions, if they are not damaged."""
    if REGIONS_KEY not in metadata:
        return extra_columns, metadata, None
    regions = read_regions(metadata[REGIONS_KEY], extra_columns, placed, resolution)
    metadata = {key: value for key, value in metadata.items() if key != REGIONS_KEY}
    if regions is None:
        return extra_columns, metadata, None
    own = region_columns(len(regions.indices))
    table = extra_columns.select([name for name in extra_columns.column_names if name not in own])
    names = [input_name(name, own) for name in table.column_names]
    return table.rename_columns(names) if table.num_columns else None, metadata, regions


def read_file(path: Path) -> tuple[ScreenPositions, Any, dict[str, Any]]:
    """Return the positions, the other columns and the metadata of one file."""
    format_ = format_of(path)
    try:
        source = read_points(path, format_.map_options)
    except NoColumnError as error:
        raise not_a_map(path, f"it {error.problem}") from None
    if source.values.shape[1] != len(XY):
        raise not_a_map(path, f"its rows have {source.values.shape[1]} numbers, but the rows of a map have 2")
    metadata = read_metadata(path, format_)
    placed = np.ascontiguousarray(from_top_left(path, source.values, metadata), dtype=np.float32)
    if placed.min() < 0 or placed.max() >= MAX_SIDE:
        raise not_a_map(path, f"positions on a map lie between 0 and {MAX_SIDE:,} pixels")
    extra_columns = extra_columns_by_input_name(source, format_.reserved_names)
    return placed, extra_columns, label_by_input_name(metadata, extra_columns)


def from_top_left(path: Path, values: AnyArray, metadata: dict[str, Any]) -> AnyArray:
    """Return positions measured from the top left corner; remove the y axis direction from `metadata`."""
    if metadata.pop(Y_AXIS, None) != UP:
        return values
    resolution = stored_resolution(path, metadata)
    if resolution is None:
        raise FileError(path, "is damaged: its metadata has no resolution")
    return flip_y(values, resolution)


def read_folder(folder: Path) -> tuple[ScreenPositions, Any, dict[str, Any]]:
    """Return the positions, the other columns and the metadata of all parts, in the order of the input."""
    paths = part_paths(folder)
    parts = [read_file(path) for path in paths]
    numbers = [metadata.pop("part", None) for *_, metadata in parts]
    for *_, stored in parts:
        stored.pop(REGIONS_KEY, None)  # those of one file are not those of the map
    metadata = parts[0][2]
    foreign = next((path for path, part in zip(paths, parts, strict=True) if part[2] != metadata), None)
    if foreign is not None:
        message = f"is a part of another map than {paths[0].name}; keep only the parts of one map in a folder"
        raise FileError(foreign, message)
    if (count := metadata.pop("parts", None)) is not None:
        if count != len(parts) or not all(number in numbers for number in range(len(parts))):
            message = f"holds {len(parts)} parts of a map that has {count!r:.20}; keep exactly the parts of one map"
            raise FileError(folder, message)
        parts = [parts[numbers.index(number)] for number in range(len(parts))]
    extra_columns = join_tables(folder, [part[1] for part in parts])
    return np.concatenate([part[0] for part in parts]), extra_columns, metadata


def extra_columns_by_input_name(source: Source, reserved: tuple[str, ...]) -> Any:
    """Return the other columns under their names in the input, or None if there are none."""
    if source.extra_columns is None:
        return None
    table = source.extra_columns.select([name for name in source.extra_columns.column_names if name not in reserved])
    if not table.num_columns:
        return None
    return table.rename_columns([input_name(name, reserved) for name in table.column_names])


def label_by_input_name(metadata: dict[str, Any], extra_columns: Any) -> dict[str, Any]:
    """Replace the label's name in the file by its name in the input: older files store the former."""
    label, known = metadata.get("label"), [] if extra_columns is None else extra_columns.column_names
    if isinstance(label, str) and label not in known and input_name(label, POSITION_COLUMNS) in known:
        return metadata | {"label": input_name(label, POSITION_COLUMNS)}
    return metadata


def read_metadata(path: Path, format_: Format) -> dict[str, Any]:
    """Return the metadata that pixelsne stored in the file; empty for csv and npy files, which cannot hold any."""
    try:
        metadata = json.loads(format_.read_metadata_json(path))
    except FileError:
        raise
    except Exception:  # noqa: BLE001 - deeply nested JSON is a RecursionError, and zips have errors of their own
        raise FileError(path, "is damaged: its pixelsne metadata cannot be read") from None
    return metadata if isinstance(metadata, dict) else {}


def resolution_of(path: Path, metadata: dict[str, Any], placed: AnyArray) -> tuple[int, int]:
    """Return the resolution in the metadata, or the smallest one with equal margins: a fit centers its map."""
    resolution = stored_resolution(path, metadata)
    if resolution is None:
        low, high = placed.min(axis=0), placed.max(axis=0)
        width, height = (max(int(last) + 1, round(float(first + last))) for first, last in zip(low, high, strict=True))
        return width, height
    if (placed >= np.array(resolution)).any():
        raise FileError(path, f"is damaged: some positions lie outside its resolution {resolution[0]}x{resolution[1]}")
    return resolution


def stored_resolution(path: Path, metadata: dict[str, Any]) -> tuple[int, int] | None:
    sides = metadata.get("resolution")
    if sides is None:
        return None
    is_pair = isinstance(sides, list) and len(sides) == len(XY) and all(type(side) is int for side in sides)
    if not is_pair or not all(1 <= side <= MAX_SIDE for side in sides):
        message = f"its resolution is {sides!r:.60}, not two integers from 1 to {MAX_SIDE:,}"
        raise FileError(path, f"is damaged: {message}")
    return sides[0], sides[1]
