"""A map that was written before."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray, Placed
from pixelsne.files.column_names import own_name
from pixelsne.files.errors import FileError, NoColumnError, no_map
from pixelsne.files.read_h5ad import read_h5ad_metadata
from pixelsne.files.read_parts import join_tables, part_paths
from pixelsne.files.read_points import kind_of, read_points
from pixelsne.files.source import ReadOptions, Source
from pixelsne.files.write_embedding import IN_NPZ, KEY_IN_H5AD, METADATA_KEY, PLACES, UP, Y_AXIS, Map, upward
from pixelsne.settings import LARGEST_SIDE

PARQUET = (".parquet", ".pq")


def read_map(path: str | os.PathLike[str]) -> Map:
    """Read a map from a file, or from the folder of parts that `embed --cluster` writes.

    Of a table the columns x and y, of an npy or npz the matrix, of an h5ad obsm["X_pixelsne"].
    """
    path = Path(path)
    placed, extra_columns, metadata = read_folder(path) if path.is_dir() else read_file(path)
    return Map(placed, resolution_of(path, metadata, placed), extra_columns, metadata)


def read_file(path: Path) -> tuple[Placed, Any, dict[str, Any]]:
    """Return the places, the other columns and what the file tells of itself."""
    kind = kind_of(path)
    try:
        source = read_points(path, read_options(kind))
    except NoColumnError as error:
        raise no_map(path, f"it {error.problem}") from None
    if source.values.shape[1] != len(PLACES[:2]):
        raise no_map(path, f"its rows have {source.values.shape[1]} numbers, those of a map have 2")
    metadata = read_metadata(path, kind)
    placed = np.ascontiguousarray(downward(path, source.values, metadata), dtype=np.float32)
    if placed.min() < 0 or placed.max() >= LARGEST_SIDE:
        raise no_map(path, f"positions on a map lie between 0 and {LARGEST_SIDE:,} pixels")
    extra_columns = with_own_names(source, kind)
    return placed, extra_columns, label_by_own_name(metadata, extra_columns)


def downward(path: Path, values: AnyArray, metadata: dict[str, Any]) -> AnyArray:
    """Return positions from the top left; takes the mark of those that are stored with y upward out of `about`."""
    if metadata.pop(Y_AXIS, None) != UP:
        return values
    resolution = told_resolution(path, metadata)
    if resolution is None:
        raise FileError(path, "is damaged: it does not tell the resolution of its map")
    return upward(values, resolution)


def read_folder(folder: Path) -> tuple[Placed, Any, dict[str, Any]]:
    """Return the same of all parts, in the order of the input."""
    paths = part_paths(folder)
    parts = [read_file(path) for path in paths]
    numbers = [metadata.pop("part", None) for *_, metadata in parts]
    metadata = parts[0][2]
    other = next((path for path, part in zip(paths, parts, strict=True) if part[2] != metadata), None)
    if other is not None:
        raise FileError(other, f"is a part of another map than {paths[0].name}; keep the parts of one map in a folder")
    if (count := metadata.pop("parts", None)) is not None:
        if count != len(parts) or not all(number in numbers for number in range(len(parts))):
            raise FileError(folder, f"holds {len(parts)} parts of a map that has {count!r:.20}")
        parts = [parts[numbers.index(number)] for number in range(len(parts))]
    extra_columns = join_tables(folder, [part[1] for part in parts])
    return np.concatenate([part[0] for part in parts]), extra_columns, metadata


def read_options(kind: str) -> ReadOptions:
    if kind in {".npy", ".npz"}:
        return ReadOptions(matrix="embedding")
    return ReadOptions(representation=KEY_IN_H5AD) if kind == ".h5ad" else ReadOptions(columns=PLACES[:2])


def with_own_names(source: Source, kind: str) -> Any:
    """Return the other columns under the names they had in the input; None if there are none."""
    if source.extra_columns is None or kind in {".npy", ".h5ad"}:
        return source.extra_columns
    reserved = IN_NPZ if kind == ".npz" else PLACES
    kept = source.extra_columns.select([name for name in source.extra_columns.column_names if name not in reserved])
    return kept.rename_columns([own_name(name, reserved) for name in kept.column_names]) if kept.num_columns else None


def label_by_own_name(metadata: dict[str, Any], extra_columns: Any) -> dict[str, Any]:
    """Older files tell the label by its name in the file."""
    label, known = metadata.get("label"), [] if extra_columns is None else extra_columns.column_names
    if isinstance(label, str) and label not in known and own_name(label, PLACES) in known:
        return metadata | {"label": own_name(label, PLACES)}
    return metadata


def read_metadata(path: Path, kind: str) -> dict[str, Any]:
    """What the file tells of itself; a csv or npy tells nothing."""
    try:
        told = json.loads(read_told(path, kind))
    except FileError:
        raise
    except Exception:  # noqa: BLE001 - deeply nested JSON is a RecursionError, and zips have errors of their own
        raise FileError(path, "is damaged: what it tells of itself cannot be read") from None
    return told if isinstance(told, dict) else {}


def read_told(path: Path, kind: str) -> str | bytes:
    nothing = "{}"
    if kind in PARQUET:
        import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import

        told: bytes | str = (pq.read_schema(path).metadata or {}).get(METADATA_KEY.encode(), nothing)
        return told
    if kind == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return str(arrays[METADATA_KEY]) if METADATA_KEY in arrays else nothing
    if kind == ".h5ad":
        return read_h5ad_metadata(path)
    return nothing


def resolution_of(path: Path, metadata: dict[str, Any], placed: AnyArray) -> tuple[int, int]:
    """Return the resolution in the metadata, or the smallest with equal margins on both sides, as a fit leaves them."""
    told = told_resolution(path, metadata)
    if told is None:
        low, high = placed.min(axis=0), placed.max(axis=0)
        width, height = (max(int(last) + 1, round(float(first + last))) for first, last in zip(low, high, strict=True))
        return width, height
    if (placed >= np.array(told)).any():
        raise FileError(path, "is damaged: its resolution does not fit its places")
    return told


def told_resolution(path: Path, metadata: dict[str, Any]) -> tuple[int, int] | None:
    told = metadata.get("resolution")
    if told is None:
        return None
    fits = isinstance(told, list) and len(told) == len(PLACES[:2]) and all(type(side) is int for side in told)
    if not fits or not all(1 <= side <= LARGEST_SIDE for side in told):
        raise FileError(path, f"is damaged: its resolution is {told!r:.60}")
    return told[0], told[1]
