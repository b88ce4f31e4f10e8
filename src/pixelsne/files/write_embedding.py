"""A map in a file that other tools open as it is."""

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
from pixelsne.files.read_h5ad import need_anndata
from pixelsne.files.source import ReadOptions, Source
from pixelsne.screen import Screen

METADATA_KEY = hdf5_child.METADATA_KEY  # the key of what a file tells of itself
KEY_IN_H5AD = hdf5_child.MAP
PLACES = ("x", "y", "pixel_x", "pixel_y")
Y_AXIS, UP = "y_axis", "up"  # in what an h5ad tells; files without it have y downward
IN_NPZ = ("embedding", "pixels", METADATA_KEY, "file", "allow_pickle")  # NumPy has the last two for itself


@dataclass(frozen=True)
class Map:
    """What is written, and what `read_map` brings back."""

    placed: Placed  # (n, 2), pixels with fractions
    resolution: tuple[int, int]
    extra_columns: Any = None  # a table of pyarrow with n rows, in the input's own names
    metadata: dict[str, Any] = field(default_factory=dict)  # settings, seed, KL
    source: Path | None = None  # of the points; an h5ad keeps all it had

    @property
    def pixels(self) -> Pixels:
        return self.placed.astype(np.int32)

    def told(self) -> str:
        """JSON for the file's metadata; a map that is written again keeps the version that computed it."""
        return json.dumps({"pixelsne_version": __version__} | self.metadata | {"resolution": list(self.resolution)})

    def told_upward(self) -> str:
        """The same of a map that is stored with y upward."""
        return json.dumps(json.loads(self.told()) | {Y_AXIS: UP})


def upward(placed: AnyArray, resolution: tuple[int, int]) -> AnyArray:
    """Return positions from the bottom left instead of the top left, or the other way round.

    float64, so that turning them twice gives the same pixels.
    """
    turned = placed.astype(np.float64)
    turned[:, 1] = resolution[1] - turned[:, 1]
    return turned


def map_metadata(source: Source, wanted: ReadOptions, screen: Screen, **figures: Any) -> dict[str, Any]:
    """What every map tells of itself: what it shows and in which units; and how it was made, which callers know."""
    whole = "X" if source.path.suffix.lower() == ".h5ad" else None
    return {
        **figures,
        "columns": list(source.columns),
        "rep": wanted.representation or whole,
        "label": wanted.label,
        "unit_per_pixel": list(screen.unit_per_pixel),
    }


def as_table(one: Map) -> Any:
    """Places first, then all that travelled along; a column of the input called x becomes input_x."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    places = zip(PLACES, (*one.placed.T, *one.pixels.T), strict=True)
    columns = {name: pa.array(np.ascontiguousarray(column)) for name, column in places}
    if one.extra_columns is not None:
        for name, column in zip(one.extra_columns.column_names, one.extra_columns.columns, strict=True):
            columns[free_name(stored_name(name, PLACES), columns)] = column
    return pa.table(columns, metadata={METADATA_KEY: one.told()})


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken: an input may have several columns of one name."""
    while name in taken:
        name = f"input_{name}"
    return name


def write_parquet(file: IO[bytes], one: Map) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(as_table(one), file)


def write_csv(file: IO[bytes], one: Map, separator: str = ",") -> None:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv  # noqa: PLC0415

    table, columns = as_table(one), {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)):  # text has no room for lists
            columns[name] = printable(column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column)
    pa.csv.write_csv(pa.table(columns), file, pa.csv.WriteOptions(delimiter=separator))


def printable(column: Any) -> Any:
    """The column, or its words where Arrow has no text for its dates."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_temporal(column.type):
        return column
    try:
        column.cast(pa.string())  # what writing does
    except pa.ArrowException:
        return pa.array(words_of(column), pa.string())
    return column


def write_tsv(file: IO[bytes], one: Map) -> None:
    write_csv(file, one, "\t")


def write_npy(file: IO[bytes], one: Map) -> None:
    np.save(file, one.placed, allow_pickle=False)


def write_npz(file: IO[bytes], one: Map) -> None:
    arrays: dict[str, Any] = {"embedding": one.placed, "pixels": one.pixels, METADATA_KEY: np.array(one.told())}
    if one.extra_columns is not None:
        taken = set(IN_NPZ)
        for name, column in zip(one.extra_columns.column_names, one.extra_columns.columns, strict=True):
            array = plain_array(column)
            is_plain = array.dtype.kind in "biufU"
            free = free_name(stored_name(name, IN_NPZ), taken)
            taken.add(free)
            arrays[free] = array if is_plain else np.array(["" if value is None else str(value) for value in array])
    np.savez(file, allow_pickle=False, **arrays)


def write_h5ad(file: IO[bytes], one: Map) -> None:
    """Everything the source has, if that is an h5ad, and the map beside it, with y upward as in scanpy's plots."""
    if one.source is None or one.source.suffix.lower() != ".h5ad":
        write_new_h5ad(file, one)
        return
    with one.source.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)
    file.flush()
    placed = upward(one.placed, one.resolution)
    if os.name == "nt":  # whose processes inherit no open files
        hdf5_child.write_map_into(file, placed, one.told_upward())
        return
    request = {"task": "add", "handle": file.fileno(), "size": file.tell(), "told": one.told_upward()}
    with hdf5_process(one.source, request, (file.fileno(),)) as process:
        process.send(placed.tobytes())
        process.line()


def write_new_h5ad(file: IO[bytes], one: Map) -> None:
    import anndata.io  # noqa: PLC0415 - an extra, and slow to import
    import h5py  # noqa: PLC0415

    with h5py.File(file, "w") as cells:
        anndata.io.write_elem(cells, "/", as_cells(one))
        anndata.io.write_elem(cells.require_group("obsm"), KEY_IN_H5AD, upward(one.placed, one.resolution))
        anndata.io.write_elem(cells.require_group("uns"), METADATA_KEY, one.told_upward())


def as_cells(one: Map) -> Any:
    import anndata  # noqa: PLC0415

    rows = None if one.extra_columns is None else as_frame(one.extra_columns)
    if rows is not None:
        rows.index = rows.index.astype(str)
    return anndata.AnnData(obs=rows, shape=None if rows is not None else (len(one.placed), 0))


def as_frame(extra_columns: Any) -> Any:
    """Of columns that an h5ad can hold: numbers, truths, words; everything else in words."""
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    columns = {}
    for name, column in zip(extra_columns.column_names, extra_columns.columns, strict=True):
        array = plain_array(column)
        words = [None if value is None else str(value) for value in array] if array.dtype.kind not in "biuf" else array
        columns[str(name) or "row"] = pd.Categorical(words) if isinstance(words, list) else array
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
    """Before hours are spent: a kind we write (any, if there are none), a place that can be written, not an input."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    if kinds and path.suffix.lower() not in kinds:
        raise FileError(path, f"is of a kind that is not written here; known are {', '.join(kinds)}")
    if path.suffix.lower() == ".h5ad":
        need_anndata(path)
    check_distinct({str(given): given for given in inputs}, {"the output": path})
    check_writable(path)
    return path


def write_map(path: str | os.PathLike[str], one: Map) -> None:
    with created(Path(path)) as file:
        WRITERS[Path(path).suffix.lower()](file, one)


def created(path: Path) -> Any:
    """`replacing`, in a folder that is made if need be."""
    target_of(path).parent.mkdir(parents=True, exist_ok=True)
    return atomic_write(path)
