"""Read a table or a matrix from several files: a folder, or a pattern such as parts/*.parquet."""

import glob
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.files.errors import FileError, first_line
from pixelsne.files.formats import READABLE, find_format
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions, Source


def part_paths(path: Path) -> list[Path]:
    """Return the readable files of a folder or a pattern, sorted by name."""
    found = path.iterdir() if path.is_dir() else map(Path, glob.glob(os.fspath(path)))  # noqa: PTH207 - Path.glob takes no absolute pattern
    known = sorted(file for file in found if find_format(file) is not None and not file.name.startswith("."))
    if not known:
        raise FileError(path, f"holds no file that can be read ({READABLE})")
    return known


def is_in_parts(path: Path) -> bool:
    return path.is_dir() or (glob.has_magic(os.fspath(path)) and not path.exists())


def read_file_or_parts(path: str | os.PathLike[str], options: ReadOptions) -> Source:
    """Read a file, or all files of a folder or a pattern, and concatenate their rows."""
    path = Path(path)
    if not is_in_parts(path):
        return read_points(path, options)
    sources: list[Source] = []
    for part in part_paths(path):
        sources.append(read_points(part, options))
        if sources[-1].columns != sources[0].columns or sources[-1].values.shape[1] != sources[0].values.shape[1]:
            raise FileError(part, f"has other columns than {sources[0].path}; name the ones to read with --columns")
    extra_columns = join_tables(path, [source.extra_columns for source in sources])
    return replace(
        sources[0], path=path, values=join_values([source.values for source in sources]), extra_columns=extra_columns
    )


def join_values(parts: list[Any]) -> Any:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy import sparse  # noqa: PLC0415 - slow to import

    return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")


def join_tables(path: Path, tables: list[Any]) -> Any:
    """Return the rows of all tables, or None if a part has no table. Missing columns are filled with nulls."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if any(table is None for table in tables):
        return None
    try:
        return pa.concat_tables([table.replace_schema_metadata(None) for table in tables], promote_options="permissive")
    except pa.ArrowException as error:
        raise FileError(path, f"holds tables whose columns have conflicting types: {first_line(error)}") from None
