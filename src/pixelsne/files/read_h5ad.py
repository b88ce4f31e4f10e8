"""Read h5ad files, the AnnData format of single-cell biology, if the anndata package is installed."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pixelsne.files.errors import FileError, first_line
from pixelsne.files.hdf5_process import Hdf5Process, hdf5_process
from pixelsne.files.source import CheckMemory, ReadOptions, Source

LIBRARIES = ("anndata", "h5py")


def require_anndata(path: Path) -> None:
    if any(find_spec(name) is None for name in LIBRARIES):
        raise FileError(path, "needs the packages anndata and h5py: pip install 'pixelsne[anndata]'")


def read_h5ad(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    """Return the matrix to embed and the table of cells (obs). Nothing else of the file is read."""
    from pixelsne.files.read_arrays import matrix_source  # noqa: PLC0415 - slow to import

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
    source = matrix_source(path, values, extra_columns, ReadOptions(label=options.label), check_memory)
    return Source(path, source.values, (str(header["name"]),), extra_columns)


def read_matrix(path: Path, process: Hdf5Process) -> Any:
    from scipy import sparse  # noqa: PLC0415 - slow to import

    from pixelsne.files.read_arrays import checked_csr  # noqa: PLC0415

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
