"""Write a map to a file that other tools can open."""

import json
import os
import shutil
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne import __version__
from pixelsne.arrays import AnyArray, Pixels, Placed
from pixelsne.coloring import plain_array, words_of
from pixelsne.files import hdf5_child
from pixelsne.files.atomic_write import atomic_write
from pixelsne.files.column_names import stored_name
from pixelsne.files.errors import FileError
from pixelsne.files.hdf5_process import hdf5_process
from pixelsne.files.paths import check_distinct, check_writable, target_of
from pixelsne.files.read_h5ad import require_anndata
from pixelsne.files.source import ReadOptions, Source
from pixelsne.screen import Screen

METADATA_KEY = hdf5_child.METADATA_KEY  # key of the JSON metadata in every format
OBSM_KEY = hdf5_child.OBSM_KEY
POSITION_COLUMNS = ("x", "y", "pixel_x", "pixel_y")
Y_AXIS, UP = "y_axis", "up"  # in the metadata of an h5ad file; without it, y points downward
NPZ_RESERVED = ("embedding", "pixels", METADATA_KEY, "file", "allow_pickle")  # np.savez reserves the last two


@dataclass(frozen=True)
class Map:
    """A map as `write_map` stores it and `read_map` returns it."""

    placed: Placed  # (n, 2), fractional pixels
    resolution: tuple[int, int]
    extra_columns: Any = None  # pyarrow table of n rows, with the column names of the input
    metadata: dict[str, Any] = field(default_factory=dict)  # settings, seed, KL divergence
    source: Path | None = None  # file of the points; an h5ad output copies everything in an h5ad source

    @property
    def pixels(self) -> Pixels:
        return self.placed.astype(np.int32)

    def metadata_json(self) -> str:
        """Return the metadata as JSON. A map that is written again keeps the version that computed it."""
        return json.dumps({"pixelsne_version": __version__} | self.metadata | {"resolution": list(self.resolution)})

    def metadata_json_y_up(self) -> str:
        """Return the metadata as JSON, with the note that y points flip_y in the file."""
        return json.dumps(json.loads(self.metadata_json()) | {Y_AXIS: UP})


def flip_y(placed: AnyArray, resolution: tuple[int, int]) -> AnyArray:
    """Return positions measured from the bottom left instead of the top left corner, or vice versa.

    The result is float64, so that flipping twice gives the same pixels.
    """
    flipped = placed.astype(np.float64)
    flipped[:, 1] = resolution[1] - flipped[:, 1]
    return flipped


def map_metadata(source: Source, options: ReadOptions, screen: Screen, **figures: Any) -> dict[str, Any]:
    """Return the metadata of a map: its columns, label and units, and the caller's figures about the run."""
    default_rep = "X" if source.path.suffix.lower() == ".h5ad" else None
    return {
        **figures,
        "columns": list(source.columns),
        "rep": options.representation or default_rep,
        "label": options.label,
        "unit_per_pixel": list(screen.unit_per_pixel),
    }


def to_table(map_: Map) -> Any:
    """Return a pyarrow table: positions first, then the other columns. An input column x becomes input_x."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    coordinates = zip(POSITION_COLUMNS, (*map_.placed.T, *map_.pixels.T), strict=True)
    columns = {name: pa.array(np.ascontiguousarray(column)) for name, column in coordinates}
    if map_.extra_columns is not None:
        for name, column in zip(map_.extra_columns.column_names, map_.extra_columns.columns, strict=True):
            columns[unused_name(stored_name(name, POSITION_COLUMNS), columns)] = column
    return pa.table(columns, metadata={METADATA_KEY: map_.metadata_json()})


def unused_name(name: str, taken: Container[str]) -> str:
    """Return the name, prefixed until it is not taken: an input may have several columns of one name."""
    while name in taken:
        name = f"input_{name}"
    return name


def write_parquet(file: IO[bytes], map_: Map) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(to_table(map_), file)


def write_csv(file: IO[bytes], map_: Map, separator: str = ",") -> None:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv  # noqa: PLC0415

    table, columns = to_table(map_), {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)):  # csv cannot hold lists
            columns[name] = as_writable_column(column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column)
    pa.csv.write_csv(pa.table(columns), file, pa.csv.WriteOptions(delimiter=separator))


def as_writable_column(column: Any) -> Any:
    """Return the column, or its values as strings if Arrow cannot write its dates as text."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_temporal(column.type):
        return column
    try:
        column.cast(pa.string())  # as write_csv does
    except pa.ArrowException:
        return pa.array(words_of(column), pa.string())
    return column


def write_tsv(file: IO[bytes], map_: Map) -> None:
    write_csv(file, map_, "\t")


def write_npy(file: IO[bytes], map_: Map) -> None:
    np.save(file, map_.placed, allow_pickle=False)


def write_npz(file: IO[bytes], map_: Map) -> None:
    metadata_json = np.array(map_.metadata_json())
    arrays: dict[str, Any] = {"embedding": map_.placed, "pixels": map_.pixels, METADATA_KEY: metadata_json}
    if map_.extra_columns is not None:
        taken = set(NPZ_RESERVED)
        for name, column in zip(map_.extra_columns.column_names, map_.extra_columns.columns, strict=True):
            array = plain_array(column)
            is_plain = array.dtype.kind in "biufU"
            free = unused_name(stored_name(name, NPZ_RESERVED), taken)
            taken.add(free)
            arrays[free] = array if is_plain else np.array(["" if value is None else str(value) for value in array])
    np.savez(file, allow_pickle=False, **arrays)


def write_h5ad(file: IO[bytes], map_: Map) -> None:
    """Write a copy of the source, if that is an h5ad file, and add the map with y flip_y, as scanpy plots it."""
    if map_.source is None or map_.source.suffix.lower() != ".h5ad":
        write_new_h5ad(file, map_)
        return
    with map_.source.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)
    file.flush()
    placed = flip_y(map_.placed, map_.resolution)
    if os.name == "nt":  # child processes on Windows inherit no open files
        hdf5_child.write_map_into(file, placed, map_.metadata_json_y_up())
        return
    request = {"task": "add", "handle": file.fileno(), "size": file.tell(), "metadata_json": map_.metadata_json_y_up()}
    with hdf5_process(map_.source, request, (file.fileno(),)) as process:
        process.send(placed.tobytes())
        process.line()


def write_new_h5ad(file: IO[bytes], map_: Map) -> None:
    import anndata.io  # noqa: PLC0415 - an extra, and slow to import
    import h5py  # noqa: PLC0415

    with h5py.File(file, "w") as cells:
        anndata.io.write_elem(cells, "/", to_anndata(map_))
        anndata.io.write_elem(cells.require_group("obsm"), OBSM_KEY, flip_y(map_.placed, map_.resolution))
        anndata.io.write_elem(cells.require_group("uns"), METADATA_KEY, map_.metadata_json_y_up())


def to_anndata(map_: Map) -> Any:
    import anndata  # noqa: PLC0415

    rows = None if map_.extra_columns is None else to_data_frame(map_.extra_columns)
    if rows is not None:
        rows.index = rows.index.astype(str)
    return anndata.AnnData(obs=rows, shape=None if rows is not None else (len(map_.placed), 0))


def to_data_frame(extra_columns: Any) -> Any:
    """Return a pandas data frame of numeric, boolean and categorical columns, the types that an h5ad file can hold."""
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    columns = {}
    for name, column in zip(extra_columns.column_names, extra_columns.columns, strict=True):
        array = plain_array(column)
        is_number = array.dtype.kind in "biuf"
        strings = None if is_number else [None if value is None else str(value) for value in array]
        columns[str(name) or "row"] = array if strings is None else pd.Categorical(strings)
    return pd.DataFrame(columns)


WRITERS: dict[str, Callable[[IO[bytes], Map], None]] = {
    ".parquet": write_parquet,
    ".csv": write_csv,
    ".tsv": write_tsv,
    ".npy": write_npy,
    ".npz": write_npz,
    ".h5ad": write_h5ad,
}


def check_output(path: str | os.PathLike[str], inputs: tuple[Path, ...], kinds: tuple[str, ...] = ()) -> Path:
    """Check that an output file can be written, before the run starts: its suffix, its folder, and that it is no input.

    kinds: the allowed suffixes; any suffix is allowed if there are none.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    if kinds and path.suffix.lower() not in kinds:
        raise FileError(path, f"is of a kind that is not written here; known are {', '.join(kinds)}")
    if path.suffix.lower() == ".h5ad":
        require_anndata(path)
    check_distinct({str(source): source for source in inputs}, {"the output": path})
    check_writable(path)
    return path


def write_map(path: str | os.PathLike[str], map_: Map) -> None:
    with create_file(Path(path)) as file:
        WRITERS[Path(path).suffix.lower()](file, map_)


def create_file(path: Path) -> Any:
    """Return `atomic_write(path)`, after creating missing parent folders."""
    target_of(path).parent.mkdir(parents=True, exist_ok=True)
    return atomic_write(path)
