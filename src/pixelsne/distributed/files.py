"""Files as partitions: workers read the input files, and write the parts of the map."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import ScreenPositions
from pixelsne.distributed.pipeline import Partitions
from pixelsne.distributed.reduce import Block
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.files.arrow_format import write_parquet
from pixelsne.files.atomic_write import atomic_directory, atomic_write
from pixelsne.files.errors import FileError
from pixelsne.files.formats import READABLE, find_format
from pixelsne.files.maps import Map, map_metadata
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions, Source
from pixelsne.files.write_map import write_map
from pixelsne.screen import Screen


def is_remote(path: str) -> bool:
    return "://" in path


def expand(pattern: str) -> list[str]:
    """Return all readable files of a pattern or a folder, sorted; also of URLs that fsspec supports, such as s3://..."""
    import fsspec  # noqa: PLC0415 - comes with Dask

    system, inside = fsspec.core.url_to_fs(pattern)
    found = system.glob(f"{inside.rstrip('/')}/*" if system.isdir(inside) else inside)
    known = [path for path in sorted(map(str, found)) if find_format(Path(path)) is not None]
    if not known:
        raise FileError(pattern, f"matches no file that can be read ({READABLE})")
    return [system.unstrip_protocol(path) if is_remote(pattern) else path for path in known]


@contextmanager
def new_folder(output: str) -> Iterator[str]:
    """Yield a folder for the parts of a map, which is renamed to `output` when the block ends.

    An object store has no folders to rename: there `output` itself is used, and each part is written atomically.
    """
    if is_remote(output):
        yield output
        return
    with atomic_directory(Path(output).absolute()) as folder:
        yield str(folder)


@contextmanager
def local_copy(path: str) -> Iterator[Path]:
    """Yield the path of a local file, or of a temporary copy of a remote file."""
    if not is_remote(path):
        yield Path(path)
        return
    import fsspec  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        with fsspec.open(path, "rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield copy


def read_source(path: str, options: ReadOptions) -> Source:
    with local_copy(path) as file:
        source = read_points(file, options)
        if is_remote(path) and isinstance(source.values, np.memmap):
            return replace(source, values=np.array(source.values))
        return source


def read_values(path: str, number: int, options: ReadOptions) -> Block:
    """Return the numbers of one file, which read_points has checked. number: the index of the partition."""
    source = read_source(path, options)
    if not isinstance(source.values, np.ndarray):
        raise FileError(path, "holds a sparse matrix, which is not distributed; make it dense, or reduce it first")
    return Block(number, np.ascontiguousarray(source.values), source.columns)


def shape_of(block: Block) -> tuple[int, int, tuple[str, ...], int]:
    """Return the numbers of rows and columns, the column names, and the bytes of a number."""
    return *block.values.shape, block.names, block.values.itemsize


def partitions_of_files(runner: TaskRunner, paths: list[str], options: ReadOptions) -> Partitions:
    """Return the partitions of the files, one per file."""
    blocks = runner.map("read", read_values, paths, range(len(paths)), shared=(options,))
    shapes = runner.gather(runner.map("read", shape_of, blocks))
    for path, shape in zip(paths, shapes, strict=True):
        if shape[1:3] != shapes[0][1:3]:
            raise FileError(
                path,
                f"has other columns to embed than {paths[0]}: {shape[1]} and {shapes[0][1]} numbers; "
                "name the columns to embed with --columns",
            )
    columns, names = shapes[0][1:3]
    row_bytes = columns * max(shape[3] for shape in shapes)
    return Partitions(blocks, [shape[0] for shape in shapes], columns, row_bytes, names)


def write_part(
    placed: ScreenPositions,
    path: str,
    target: str,
    part: int,
    options: ReadOptions,
    screen: Screen,
    metadata: dict[str, Any],
) -> int:
    """Write the map of one input file, with its extra columns; return its number of rows. The folder must exist.

    part: the index of the file. metadata: stored in all parts.
    """
    source = read_source(path, options)
    described = map_metadata(source, options, screen, part=part, **metadata)
    map_ = Map(placed, screen.resolution, source.extra_columns, described, Path(path))
    if not is_remote(target):
        with atomic_write(Path(target)) as file:  # creates no folder: after a failure, it was removed
            write_parquet(file, map_)
        return len(placed)
    import fsspec  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / Path(target).name
        write_map(written, map_)
        with written.open("rb") as finished, fsspec.open(target, "wb") as file:
            shutil.copyfileobj(finished, file)
    return len(placed)
