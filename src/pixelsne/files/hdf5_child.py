"""All that touches HDF5, for a process of its own (hdf5_process starts it).

A damaged file can crash the library, or keep it busy for ever in code that no signal interrupts. What was read goes to
stdout: lines of JSON, and after a line {"bytes": n} as many bytes of an array. Nothing is pickled.
"""

import json
import math
import os
import signal
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne.files.errors import FileError, first_words, no_map

MATRIX = "X"
MAP = "X_pixelsne"  # in obsm
METADATA_KEY = "pixelsne"  # in uns: what a map tells of itself

BLOCK_BYTES = 16_000_000
SECONDS_TO_OPEN = 60  # of computing
SLOWEST = 1e6  # bytes a second; the strings of a table are slow to read
PARENT_DEATH = 1  # prctl: PR_SET_PDEATHSIG

MATRIX_KINDS = {"csr_matrix": "csr", "csc_matrix": "csc"}
SPARSE_PARTS = ("data", "indices", "indptr")


class Sender:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def line(self, document: dict[str, Any]) -> None:
        self._file.write(json.dumps(document).encode() + b"\n")
        self._file.flush()

    def array(self, part: Any) -> None:
        """part: an array or a dataset of HDF5, which is never in memory as a whole."""
        row = max(1, math.prod(part.shape[1:]) * part.dtype.itemsize)
        rows = max(1, BLOCK_BYTES // row)
        chunk = (getattr(part, "chunks", None) or (1,))[0]
        rows = max(1, rows // chunk) * chunk  # a chunk is unpacked once
        for first in range(0, part.shape[0], rows):
            block = np.ascontiguousarray(part[first : first + rows])
            self.line({"bytes": block.nbytes})
            self._file.write(block.reshape(-1).view(np.uint8).data)
        self._file.flush()


def read(request: dict[str, Any], send: Sender) -> None:
    """The matrix to embed and the table of cells."""
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
    """What a map tells of itself, as it was written."""
    import h5py  # noqa: PLC0415

    with h5py.File(request["path"], "r") as file:
        told = str(file[f"uns/{METADATA_KEY}"].asstr()[()]) if f"uns/{METADATA_KEY}" in file else "{}"
    send.line({"told": told})


def add_map(request: dict[str, Any], send: Sender) -> None:
    """Adds a map, which comes on stdin, to the file of an open handle."""
    placed = np.frombuffer(sys.stdin.buffer.read(), dtype=np.float64).reshape(-1, 2)
    limit_seconds(SECONDS_TO_OPEN + request["size"] / SLOWEST)
    with os.fdopen(request["handle"], "r+b") as file:
        write_map_into(file, placed, request["told"])
    send.line({"done": True})


def write_map_into(file: IO[bytes], placed: Any, told: str) -> None:
    import anndata.io  # noqa: PLC0415
    import h5py  # noqa: PLC0415

    with h5py.File(file, "r+") as cells:
        anndata.io.write_elem(cells.require_group("obsm"), MAP, placed)
        anndata.io.write_elem(cells.require_group("uns"), METADATA_KEY, told)


def choose_representation(path: Path, file: Any, asked: str | None) -> str:
    known = list(file.get("obsm", {}))
    if asked is None or asked == MATRIX:
        if MATRIX not in file:
            raise FileError(path, f"has no X; choose one of {', '.join(known) or 'no others, either'} with --rep")
        return MATRIX
    if asked == MAP and MAP not in known:
        raise no_map(path, f"it has no {MAP} in obsm")
    if asked not in known:
        raise FileError(path, f"has no {asked!r} in obsm; it has {', '.join(known) or 'none'}, and X")
    return f"obsm/{asked}"


def unpacked_size(h5py: Any, file: Any, names: tuple[str, ...]) -> int:
    """Bytes; a small file may tell of more than any machine has."""
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
    """Its kind ("dense", "csr" or "csc"), its shape, and the arrays it is made of."""
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
    """A data frame as an Arrow stream; its index becomes a column."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    names = (cells.index.name, "cell", "cell name", "row name")
    index = next(name for name in names if name and name not in cells.columns)
    table = pa.Table.from_pandas(cells.reset_index(names=index), preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def limit_seconds(seconds: float) -> None:
    """The system ends this process after so much computing: what takes longer never ends."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard < 0 else min(wanted, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """If that is killed. Only Linux knows how; elsewhere, writing to it will fail."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)


TASKS = {"read": read, "about": read_metadata, "add": add_map}


def main(asked: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's business
    end_with_parent()
    limit_seconds(SECONDS_TO_OPEN)
    request = json.loads(asked)
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print does not get between
    send = Sender(stdout)
    try:
        TASKS[request["task"]](request, send)
    except FileError as error:
        send.line({"problem": error.problem})
    except Exception as error:  # noqa: BLE001 - what a damaged file makes its libraries raise is anybody's guess
        send.line({"problem": f"is damaged, or no h5ad file: {first_words(error)}"})
    stdout.flush()
    os._exit(0)  # closing a damaged file may crash or hang, too
