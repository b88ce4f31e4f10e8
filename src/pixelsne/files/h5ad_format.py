"""The h5ad format, AnnData's files of single-cell biology. Needs the packages anndata and h5py."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from pixelsne.coloring import plain_array
from pixelsne.files import hdf5_child
from pixelsne.files.column_names import stored_name
from pixelsne.files.errors import FileError, first_line
from pixelsne.files.format import Format
from pixelsne.files.hdf5_process import Hdf5Process, hdf5_process
from pixelsne.files.maps import METADATA_KEY, Map, flip_y, unused_name
from pixelsne.files.numpy_format import checked_csr, matrix_source
from pixelsne.files.source import CheckMemory, ReadOptions, Source

OBSM_KEY = hdf5_child.OBSM_KEY
LIBRARIES = ("anndata", "h5py")


def require_anndata(path: Path) -> None:
    if any(find_spec(name) is None for name in LIBRARIES):
        raise FileError(path, "needs the packages anndata and h5py: pip install 'pixelsne[anndata]'")


def read_h5ad(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    """Return the matrix to embed and the table of cells (obs). Nothing else of the file is read."""
    require_anndata(path)
    if options.columns is not None:
        raise FileError(path, "is not a table, so --columns does not apply; choose the matrix to embed with --rep")
    request = {"task": "read", "path": os.fspath(path), "representation": options.representation}
    with hdf5_process(path, request) as process:
        header = process.line()
        process.check_memory(int(header["unpacked"]))
        values = read_matrix(path, process)
        extra_columns = read_cells(path, process)
    if len(extra_columns) != values.shape[0]:
        raise FileError(
            path, f"is damaged: it has {values.shape[0]:,} rows of numbers and {len(extra_columns):,} cells"
        )
    source = matrix_source(
        path, values, extra_columns, ReadOptions(label=options.label, weight=options.weight), check_memory
    )
    return Source(path, source.values, (str(header["name"]),), extra_columns)


def read_matrix(path: Path, process: Hdf5Process) -> Any:
    from scipy import sparse  # noqa: PLC0415 - slow to import

    header = process.line()
    arrays = process.arrays(header["parts"])
    if header["kind"] == "dense":
        return arrays[0]
    matrix_type = {"csr": sparse.csr_array, "csc": sparse.csc_array}[header["kind"]]
    try:
        data, indices, offsets = arrays
        if {indices.dtype.kind, offsets.dtype.kind} - set("iu"):
            raise FileError(path, f"is damaged: its indices are {indices.dtype} and {offsets.dtype}, not integers")
        return checked_csr(path, matrix_type((data, indices, offsets), shape=tuple(header["shape"])))
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, FileError) else FileError(path, f"is damaged: {error}") from None


def read_cells(path: Path, process: Hdf5Process) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    try:
        with pa.ipc.open_stream(pa.py_buffer(process.arrays(process.line()["parts"])[0])) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except pa.ArrowException as error:
        raise FileError(path, f"is damaged: its table of cells cannot be read: {first_line(error)}") from None
    return table


def read_h5ad_metadata(path: Path) -> str:
    """Return the metadata of a map as JSON."""
    require_anndata(path)
    with hdf5_process(path, {"task": "about", "path": os.fspath(path)}) as process:
        return str(process.line()["metadata_json"])


def write_h5ad(file: IO[bytes], map_: Map) -> None:
    """Write a copy of the source, if that is an h5ad file, and add the map with y upward, as scanpy plots it."""
    if map_.source is None or map_.source.suffix.lower() != ".h5ad":
        write_new_h5ad(file, map_)
        return
    with map_.source.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)
    file.flush()
    placed = flip_y(map_.placed, map_.resolution)
    columns = {
        name: (column.dictionary.to_pylist(), column.indices.fill_null(-1).to_numpy())
        for name, column in map_.region_columns.items()
    }
    if os.name == "nt":  # child processes on Windows inherit no open files
        hdf5_child.write_map_into(file, placed, map_.metadata_json_y_up(), columns)
        return
    request = {"task": "add", "handle": file.fileno(), "size": file.tell(), "metadata_json": map_.metadata_json_y_up()}
    request |= {"rows": len(placed), "columns": {name: categories for name, (categories, _) in columns.items()}}
    with hdf5_process(map_.source, request, (file.fileno(),)) as process:
        process.send(b"".join([placed.tobytes(), *(codes.tobytes() for _, codes in columns.values())]))
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
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    columns = {name: pa.chunked_array([column]) for name, column in map_.region_columns.items()}
    if map_.extra_columns is not None:
        for name, column in zip(map_.extra_columns.column_names, map_.extra_columns.columns, strict=True):
            columns[unused_name(stored_name(name, map_.region_columns), columns)] = column
    rows = to_data_frame(columns) if columns else None
    if rows is not None:
        rows.index = rows.index.astype(str)
    return anndata.AnnData(obs=rows, shape=None if rows is not None else (len(map_.placed), 0))


def to_data_frame(arrow_columns: dict[str, Any]) -> Any:
    """Return a pandas data frame of numeric, boolean and categorical columns, the types that an h5ad file can hold."""
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    columns = {}
    for name, column in arrow_columns.items():
        array = plain_array(column)
        is_number = array.dtype.kind in "biuf"
        strings = None if is_number else [None if value is None else str(value) for value in array]
        columns[str(name) or "row"] = array if strings is None else pd.Categorical(strings)
    return pd.DataFrame(columns)


H5AD = Format(
    (".h5ad",),
    read_h5ad,
    write_h5ad,
    ReadOptions(representation=OBSM_KEY),
    reserved_names=(),
    read_metadata_json=read_h5ad_metadata,
    check_installed=require_anndata,
)
