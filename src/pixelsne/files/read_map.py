"""A map that was written before."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray, Placed
from pixelsne.files.column_names import own_name
from pixelsne.files.errors import FileError, NoColumnError, no_map
from pixelsne.files.read_h5ad import read_about_h5ad
from pixelsne.files.read_parts import join_tables, part_paths
from pixelsne.files.read_points import kind_of, read_points
from pixelsne.files.source import Source, Wanted
from pixelsne.files.write_embedding import ABOUT, IN_NPZ, KEY_IN_H5AD, PLACES, UP, Y_AXIS, Map, upward
from pixelsne.settings import LARGEST_SIDE

PARQUET = (".parquet", ".pq")


def read_map(path: str | os.PathLike[str]) -> Map:
    """Read a map from a file, or from the folder of parts that `embed --cluster` writes.

    Of a table the columns x and y, of an npy or npz the matrix, of an h5ad obsm["X_pixelsne"].
    """
    path = Path(path)
    placed, others, about = read_folder(path) if path.is_dir() else read_file(path)
    return Map(placed, resolution_of(path, about, placed), others, about)


def read_file(path: Path) -> tuple[Placed, Any, dict[str, Any]]:
    """Return the places, the other columns and what the file tells of itself."""
    kind = kind_of(path)
    try:
        source = read_points(path, wanted_of(kind))
    except NoColumnError as error:
        raise no_map(path, f"it {error.problem}") from None
    if source.values.shape[1] != len(PLACES[:2]):
        raise no_map(path, f"its rows have {source.values.shape[1]} numbers, those of a map have 2")
    about = read_about(path, kind)
    placed = np.ascontiguousarray(downward(path, source.values, about), dtype=np.float32)
    if placed.min() < 0 or placed.max() >= LARGEST_SIDE:
        raise no_map(path, f"positions on a map lie between 0 and {LARGEST_SIDE:,} pixels")
    others = with_own_names(source, kind)
    return placed, others, label_by_own_name(about, others)


def downward(path: Path, values: AnyArray, about: dict[str, Any]) -> AnyArray:
    """Return positions from the top left; takes the mark of those that are stored with y upward out of `about`."""
    if about.pop(Y_AXIS, None) != UP:
        return values
    resolution = told_resolution(path, about)
    if resolution is None:
        raise FileError(path, "is damaged: it does not tell the resolution of its map")
    return upward(values, resolution)


def read_folder(folder: Path) -> tuple[Placed, Any, dict[str, Any]]:
    """Return the same of all parts, in the order of the input."""
    paths = part_paths(folder)
    parts = [read_file(path) for path in paths]
    numbers = [about.pop("part", None) for *_, about in parts]
    about = parts[0][2]
    other = next((path for path, part in zip(paths, parts, strict=True) if part[2] != about), None)
    if other is not None:
        raise FileError(other, f"is a part of another map than {paths[0].name}; keep the parts of one map in a folder")
    if (count := about.pop("parts", None)) is not None:
        if count != len(parts) or not all(number in numbers for number in range(len(parts))):
            raise FileError(folder, f"holds {len(parts)} parts of a map that has {count!r:.20}")
        parts = [parts[numbers.index(number)] for number in range(len(parts))]
    others = join_tables(folder, [part[1] for part in parts])
    return np.concatenate([part[0] for part in parts]), others, about


def wanted_of(kind: str) -> Wanted:
    if kind in {".npy", ".npz"}:
        return Wanted(matrix="embedding")
    return Wanted(representation=KEY_IN_H5AD) if kind == ".h5ad" else Wanted(columns=PLACES[:2])


def with_own_names(source: Source, kind: str) -> Any:
    """Return the other columns under the names they had in the input; None if there are none."""
    if source.others is None or kind in {".npy", ".h5ad"}:
        return source.others
    reserved = IN_NPZ if kind == ".npz" else PLACES
    kept = source.others.select([name for name in source.others.column_names if name not in reserved])
    return kept.rename_columns([own_name(name, reserved) for name in kept.column_names]) if kept.num_columns else None


def label_by_own_name(about: dict[str, Any], others: Any) -> dict[str, Any]:
    """Older files tell the label by its name in the file."""
    label, known = about.get("label"), [] if others is None else others.column_names
    if isinstance(label, str) and label not in known and own_name(label, PLACES) in known:
        return about | {"label": own_name(label, PLACES)}
    return about


def read_about(path: Path, kind: str) -> dict[str, Any]:
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

        told: bytes | str = (pq.read_schema(path).metadata or {}).get(ABOUT.encode(), nothing)
        return told
    if kind == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return str(arrays[ABOUT]) if ABOUT in arrays else nothing
    if kind == ".h5ad":
        return read_about_h5ad(path)
    return nothing


def resolution_of(path: Path, about: dict[str, Any], placed: AnyArray) -> tuple[int, int]:
    """Return the resolution in the metadata, or the smallest with equal margins on both sides, as a fit leaves them."""
    told = told_resolution(path, about)
    if told is None:
        low, high = placed.min(axis=0), placed.max(axis=0)
        width, height = (max(int(last) + 1, round(float(first + last))) for first, last in zip(low, high, strict=True))
        return width, height
    if (placed >= np.array(told)).any():
        raise FileError(path, "is damaged: its resolution does not fit its places")
    return told


def told_resolution(path: Path, about: dict[str, Any]) -> tuple[int, int] | None:
    told = about.get("resolution")
    if told is None:
        return None
    fits = isinstance(told, list) and len(told) == len(PLACES[:2]) and all(type(side) is int for side in told)
    if not fits or not all(1 <= side <= LARGEST_SIDE for side in told):
        raise FileError(path, f"is damaged: its resolution is {told!r:.60}")
    return told[0], told[1]
