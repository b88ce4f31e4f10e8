"""Cells: the AnnData format of single-cell biology, for those who have installed its library."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pixelsne.files.errors import FileError, first_words
from pixelsne.files.hdf5_process import Hdf5Process, hdf5_process
from pixelsne.files.source import CheckRoom, ReadOptions, Source

LIBRARIES = ("anndata", "h5py")


def need_anndata(path: Path) -> None:
    if any(find_spec(name) is None for name in LIBRARIES):
        raise FileError(path, "needs a library: pip install 'pixelsne[anndata]'")


def read_h5ad(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    """Of the file, what is embedded and the table of cells; the rest stays where it is."""
    from pixelsne.files.read_arrays import matrix_source  # noqa: PLC0415 - slow to import

    need_anndata(path)
    if wanted.columns is not None:
        raise FileError(path, "--columns is for tables; --rep chooses what of an h5ad is embedded")
    request = {"task": "read", "path": os.fspath(path), "representation": wanted.representation}
    with hdf5_process(path, request) as process:
        begin = process.line()
        process.check_room(int(begin["unpacked"]))
        values = read_matrix(path, process)
        extra_columns = read_cells(path, process)
    if len(extra_columns) != values.shape[0]:
        raise FileError(
            path, f"is damaged: it has {values.shape[0]:,} rows of numbers and {len(extra_columns):,} cells"
        )
    source = matrix_source(path, values, extra_columns, ReadOptions(label=wanted.label), check_room)
    return Source(path, source.values, (str(begin["name"]),), extra_columns)


def read_matrix(path: Path, process: Hdf5Process) -> Any:
    from scipy import sparse  # noqa: PLC0415 - slow to import

    from pixelsne.files.read_arrays import checked_csr  # noqa: PLC0415

    told = process.line()
    arrays = process.arrays(told["parts"])
    if told["kind"] == "dense":
        return arrays[0]
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array}[told["kind"]]
    try:
        data, indices, offsets = arrays
        if {indices.dtype.kind, offsets.dtype.kind} - set("iu"):
            raise FileError(path, f"is damaged: its indices are {indices.dtype} and {offsets.dtype}, not integers")
        return checked_csr(path, make((data, indices, offsets), shape=tuple(told["shape"])))
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, FileError) else FileError(path, f"is damaged: {error}") from None


def read_cells(path: Path, process: Hdf5Process) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    try:
        with pa.ipc.open_stream(pa.py_buffer(process.arrays(process.line()["parts"])[0])) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except pa.ArrowException as error:
        raise FileError(path, f"is damaged: its table of cells is none: {first_words(error)}") from None
    return table


def read_h5ad_metadata(path: Path) -> str:
    """What a map tells of itself, in JSON."""
    need_anndata(path)
    with hdf5_process(path, {"task": "about", "path": os.fspath(path)}) as process:
        return str(process.line()["told"])
