"""Read and write HDF5 files in a child process, which hdf5_process starts.

A damaged file can crash the HDF5 library, or make it loop forever in code that no signal interrupts. The child sends
what it reads to stdout: lines of JSON, and after a line {"bytes": n} that many bytes of an array. Nothing is pickled.
"""

import json
import math
import os
import signal
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne.files.column_names import REGIONS_KEY
from pixelsne.files.errors import FileError, first_line, not_a_map
from pixelsne.files.maps import METADATA_KEY

MATRIX = "X"
OBSM_KEY = "X_pixelsne"  # of the map
RegionColumns = dict[str, tuple[list[str], Any]]  # by name: categories, and the code of each row, or -1

BLOCK_BYTES = 16_000_000
SECONDS_TO_OPEN = 30  # CPU time
SLOWEST = 1e6  # bytes per second of CPU time; strings are slow to read
PARENT_DEATH = 1  # prctl: PR_SET_PDEATHSIG

MATRIX_KINDS = {"csr_matrix": "csr", "csc_matrix": "csc"}
SPARSE_PARTS = ("data", "indices", "indptr")


class Sender:
    """Sends JSON lines and arrays to the parent process."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def line(self, document: dict[str, Any]) -> None:
        self._file.write(json.dumps(document).encode() + b"\n")
        self._file.flush()

    def array(self, part: Any) -> None:
        """Send an array, or a dataset of HDF5 block by block, so that it is never in memory as a whole."""
        row = max(1, math.prod(part.shape[1:]) * part.dtype.itemsize)
        rows = max(1, BLOCK_BYTES // row)
        chunk = (getattr(part, "chunks", None) or (1,))[0]
        rows = max(1, rows // chunk) * chunk  # whole chunks, so that each is decompressed once
        for first in range(0, part.shape[0], rows):
            block = np.ascontiguousarray(part[first : first + rows])
            self.line({"bytes": block.nbytes})
            self._file.write(block.reshape(-1).view(np.uint8).data)
        self._file.flush()


def read(request: dict[str, Any], send: Sender) -> None:
    """Send the matrix to embed and the table of cells (obs)."""
    import anndata.io  # noqa: PLC0415 - an extra
    import h5py  # noqa: PLC0415

    with h5py.File(request["path"], "r") as file:
        name = choose_representation(Path(request["path"]), file, request["representation"])
        size = unpacked_size(h5py, file, (name, "obs"))
        send.line({"name": name, "unpacked": size})
        limit_seconds(SECONDS_TO_OPEN + size / SLOWEST)
        kind, shape, parts = matrix_parts(anndata.io, h5py, file[name])
        described = [[part.dtype.str, list(part.shape)] for part in parts]
        send.line({"kind": kind, "shape": [int(side) for side in shape], "parts": described})
        for part in parts:
            send.array(part)
        table = table_bytes(anndata.io.read_elem(file["obs"]))
        send.line({"parts": [[table.dtype.str, list(table.shape)]]})
        send.array(table)


def read_metadata(request: dict[str, Any], send: Sender) -> None:
    """Send the metadata of the map, or an empty object if there is none."""
    import h5py  # noqa: PLC0415

    with h5py.File(request["path"], "r") as file:
        metadata_json = str(file[f"uns/{METADATA_KEY}"].asstr()[()]) if f"uns/{METADATA_KEY}" in file else "{}"
    send.line({"metadata_json": metadata_json})


def add_map(request: dict[str, Any], send: Sender) -> None:
    """Add the map on stdin to the h5ad file with an open descriptor."""
    content, rows = sys.stdin.buffer.read(), request["rows"]
    placed = np.frombuffer(content, dtype=np.float64, count=2 * rows).reshape(-1, 2)
    codes = np.frombuffer(content, dtype=np.int32, offset=placed.nbytes).reshape(-1, rows)
    columns = dict(zip(request["columns"], zip(request["columns"].values(), codes, strict=True), strict=True))
    limit_seconds(SECONDS_TO_OPEN + request["size"] / SLOWEST)
    with os.fdopen(request["handle"], "r+b") as file:
        write_map_into(file, placed, request["metadata_json"], columns)
    send.line({"done": True})


def write_map_into(file: IO[bytes], placed: Any, metadata_json: str, columns: RegionColumns) -> None:
    """Add a map and its metadata to an h5ad file. columns: for obs, categories and each row's code, or -1."""
    import anndata.io  # noqa: PLC0415
    import h5py  # noqa: PLC0415

    with h5py.File(file, "r+") as cells:
        if not add_columns(h5py, anndata.io, cells, columns):
            metadata_json = without_regions(metadata_json)
        anndata.io.write_elem(cells.require_group("obsm"), OBSM_KEY, placed)
        anndata.io.write_elem(cells.require_group("uns"), METADATA_KEY, metadata_json)


def add_columns(h5py: Any, io: Any, cells: Any, columns: RegionColumns) -> bool:
    """Add columns to obs, in place of those of an earlier map; return whether they are there.

    If another column has the name of one of them, none is added, so that only columns of an earlier map are replaced.
    """
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    obs = cells.get("obs")
    if not isinstance(obs, h5py.Group) or "column-order" not in obs.attrs:
        return False
    own = earlier_columns(cells)
    order = [str(name) for name in obs.attrs["column-order"]]
    for name in own.intersection(order):
        del obs[name]
    order = [name for name in order if name not in own]
    is_free = not set(order).intersection(columns)
    if is_free:
        for name, (categories, codes) in columns.items():
            io.write_elem(obs, name, pd.Categorical.from_codes(codes, categories))
        order += columns
    obs.attrs["column-order"] = np.array(order, dtype=h5py.string_dtype())
    return is_free


def earlier_columns(cells: Any) -> set[str]:
    """Return the columns that an earlier map has in obs, by its metadata."""
    try:
        regions = json.loads(cells[f"uns/{METADATA_KEY}"][()])[REGIONS_KEY]
        return {f"region_{int(region['level'])}" for region in regions}
    except (KeyError, TypeError, ValueError, RecursionError):
        return set()  # no map, an earlier version's, or damaged metadata


def without_regions(metadata_json: str) -> str:
    return json.dumps({key: value for key, value in json.loads(metadata_json).items() if key != REGIONS_KEY})


def choose_representation(path: Path, file: Any, requested: str | None) -> str:
    """Return the path of the matrix in the file: X, or a key in obsm."""
    known = list(file.get("obsm", {}))
    if requested is None or requested == MATRIX:
        if MATRIX not in file:
            remedy = f"choose one of {', '.join(known)} with --rep" if known else "and nothing in obsm"
            raise FileError(path, f"has no X; {remedy}")
        return MATRIX
    if requested == OBSM_KEY and OBSM_KEY not in known:
        raise not_a_map(path, f"it has no {OBSM_KEY} in obsm")
    if requested not in known:
        raise FileError(path, f"has no {requested!r} in obsm; it has {', '.join(known) or 'none'}, and X")
    return f"obsm/{requested}"


def unpacked_size(h5py: Any, file: Any, names: tuple[str, ...]) -> int:
    """Return the decompressed size in bytes. A small file may claim more than any machine has."""
    sizes: list[int] = []

    def count(_name: str, part: Any) -> None:
        if isinstance(part, h5py.Dataset):
            sizes.append(int(part.size or 0) * part.dtype.itemsize)

    for name in names:
        count(name, file[name])
        if isinstance(file[name], h5py.Group):
            file[name].visititems(count)
    return sum(sizes)


def matrix_parts(io: Any, h5py: Any, element: Any) -> tuple[str, Any, list[Any]]:
    """Return the kind of a matrix ("dense", "csr" or "csc"), its shape, and the arrays that store it."""
    if isinstance(element, h5py.Dataset) and element.dtype.kind in "biuf":
        return "dense", element.shape, [element]
    if isinstance(element, h5py.Group) and element.attrs.get("encoding-type") in MATRIX_KINDS:
        kind = MATRIX_KINDS[element.attrs["encoding-type"]]
        return kind, element.attrs["shape"], [element[part] for part in SPARSE_PARTS]
    values = io.read_elem(element)
    if getattr(values, "format", None) in MATRIX_KINDS.values():
        return values.format, values.shape, [getattr(values, part) for part in SPARSE_PARTS]
    values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)  # obsm may hold data frames
    if values.dtype.kind not in "biuf":
        raise ValueError(f"it holds {values.dtype} where numbers should be")
    return "dense", values.shape, [values]


def table_bytes(cells: Any) -> Any:
    """Return a data frame as the bytes of an Arrow stream. The index becomes a column."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    names = (cells.index.name, "cell", "cell name", "row name")
    index = next(name for name in names if name and name not in cells.columns)
    table = pa.Table.from_pandas(cells.reset_index(names=index), preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def limit_seconds(seconds: float) -> None:
    """Limit the CPU time of this process: reading a damaged file may never end."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    limit = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard < 0 else min(limit, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """End this process when its parent is killed. Linux only; elsewhere, writing to the parent will fail."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)


TASKS = {"read": read, "about": read_metadata, "add": add_map}


def main(request_json: str) -> None:
    """Run one task and exit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and kills this process
    end_with_parent()
    limit_seconds(SECONDS_TO_OPEN)
    request = json.loads(request_json)
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries goes to stderr
    send = Sender(stdout)
    try:
        TASKS[request["task"]](request, send)
    except FileError as error:
        send.line({"problem": error.problem})
    except Exception as error:  # noqa: BLE001 - reading a damaged file can raise anything
        send.line({"problem": f"is damaged, or not an h5ad file: {first_line(error)}"})
    stdout.flush()
    os._exit(0)  # closing a damaged file may crash or hang as well
