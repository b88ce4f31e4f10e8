"""The npy and npz formats, including sparse matrices of SciPy."""

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from pixelsne.arrays import AnyArray
from pixelsne.coloring import plain_array
from pixelsne.files.column_names import stored_name
from pixelsne.files.columns import check_memory_for_rows
from pixelsne.files.errors import FileError, first_line
from pixelsne.files.format import Format
from pixelsne.files.maps import METADATA_KEY, Map, unused_name
from pixelsne.files.source import CheckMemory, ReadOptions, Source
from pixelsne.memory import GIGABYTE, available

ROWS_AT_ONCE = 65_536
SPARSE_PARTS = {"data", "shape", "format"}
INDEX_PARTS = {"indices", "indptr", "row", "col", "coords", "offsets", "shape"}
# A tiny file can claim any number of empty rows, for which CSR would take memory and time.
MOST_ROWS_PER_NUMBER = 1000
MOST_EMPTY_ROWS = 1_000_000
NUMBERS, TEXT = "biuf", "US"
MATRIX = 2  # number of dimensions
RESERVED_NAMES = ("embedding", "pixels", METADATA_KEY, "file", "allow_pickle")  # np.savez reserves the last two


@dataclass(frozen=True)
class Member:
    """The header of an array in an npz file."""

    file: str
    shape: tuple[int, ...]
    dtype: Any


def read_npy(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    """Return the matrix of an npy file as a memory map."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # noqa: BLE001 - NumPy can raise anything on a damaged header
        raise FileError(path, f"is damaged, or holds objects: {first_line(error)}") from None
    return matrix_source(path, values, None, options, check_memory)


def read_npz(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    """Return the matrix X of an npz file, or its only matrix, and its arrays of the same length as extra columns."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): member_of(archive, name) for name in archive.namelist()}
            if members.keys() >= SPARSE_PARTS:
                return matrix_source(path, read_sparse(path, members), None, options, check_memory)
            chosen, extra = choose_arrays(path, members, options)
            arrays = {name: read_member(path, archive, members[name]) for name in (chosen, *extra)}
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001 - as above, for damaged zips too
        raise FileError(path, f"is damaged, or holds objects: {first_line(error)}") from None
    values = arrays.pop(chosen)
    return matrix_source(path, values, pa.table(arrays) if arrays else None, options, check_memory)


def member_of(archive: zipfile.ZipFile, name: str) -> Member:
    """Return the header of an array, after checking that it matches the size of the array: it may claim any size."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        begin = file.tell()
    if not dtype.hasobject and begin + math.prod(shape) * dtype.itemsize != archive.getinfo(name).file_size:
        raise ValueError(f"the size of {name} does not match its header")
    return Member(name, shape, dtype)


def read_member(path: Path, archive: zipfile.ZipFile, member: Member) -> AnyArray:
    check_unpacked(path, [member])
    with archive.open(member.file) as file:
        array: AnyArray = np.lib.format.read_array(file, allow_pickle=False)
    return array


def read_sparse(path: Path, members: dict[str, Member]) -> Any:
    """Return a csr_array, whose indices are checked before they are used."""
    from scipy import sparse  # noqa: PLC0415 - slow to import

    check_unpacked(path, list(members.values()))
    for name in INDEX_PARTS & members.keys():
        if members[name].dtype.kind not in "iu":
            raise FileError(path, f"is damaged: its {name} are {members[name].dtype}, not integers")
    return checked_csr(path, sparse.load_npz(path))


def checked_csr(path: Path, matrix: Any) -> Any:
    from pixelsne.sparse_structure import StructureError, to_csr  # noqa: PLC0415 - as above

    rows, stored = matrix.shape[0], int(matrix.data.size)
    if rows > MOST_ROWS_PER_NUMBER * stored + MOST_EMPTY_ROWS or 8 * rows > available():
        raise FileError(path, f"claims to have shape {matrix.shape}, but holds {stored:,} numbers")
    try:
        return to_csr(matrix)
    except StructureError as error:
        raise FileError(path, f"is damaged: {error}") from None


def check_unpacked(path: Path, members: list[Member]) -> None:
    size, memory = sum(math.prod(member.shape) * member.dtype.itemsize for member in members), available()
    if size > memory:
        raise FileError(path, f"unpacks to {size / GIGABYTE:.1f} GB, {memory / GIGABYTE:.1f} GB are available")


def choose_arrays(path: Path, members: dict[str, Member], options: ReadOptions) -> tuple[str, list[str]]:
    """Return the name of the matrix, and those of the numeric and string arrays with one value per row."""
    matrices = [name for name, member in members.items() if len(member.shape) == MATRIX]
    if options.matrix not in matrices and len(matrices) != 1:
        shapes = ", ".join(f"{name} {member.shape}" for name, member in members.items())
        raise FileError(
            path, f"must hold a matrix {options.matrix} (or one matrix of another name), has {shapes or 'nothing'}"
        )
    chosen = options.matrix if options.matrix in matrices else matrices[0]
    rows = members[chosen].shape[0]
    extra = [
        name
        for name, member in members.items()
        if member.shape == (rows,) and member.dtype.kind in NUMBERS + TEXT and name != chosen
    ]
    return chosen, extra


def matrix_source(
    path: Path, values: Any, extra_columns: pa.Table | None, options: ReadOptions, check_memory: CheckMemory
) -> Source:
    if values.ndim != MATRIX or values.dtype.kind not in NUMBERS or 0 in values.shape:
        raise FileError(path, f"must hold a matrix of numbers (rows, columns), has {values.dtype} {values.shape}")
    known = [] if extra_columns is None else extra_columns.column_names
    for name, role in options.kept().items():
        if name not in known:
            raise FileError(
                path, f"has no array {name!r} of {values.shape[0]:,} {role}s; it has {', '.join(known) or 'none'}"
            )
    if options.columns is not None:
        values = values[:, [column_index(path, name, values.shape[1]) for name in options.columns]]
    rows, width = values.shape
    check_memory_for_rows(path, rows, rows, width, values.dtype, check_memory)  # nothing is left to be allocated
    check_finite_values(path, values, options.columns)
    return Source(path, values, options.columns or (), extra_columns)


def column_index(path: Path, name: str, count: int) -> int:
    """Return the index of a column of a matrix, which is its name."""
    if not name.isdecimal() or int(name) >= count:
        raise FileError(path, f"has no column {name!r}; its columns are 0 to {count - 1}")
    return int(name)


def check_finite_values(path: Path, values: Any, columns: tuple[str, ...] | None) -> None:
    """Raise FileError with the position of the first value that is not finite."""
    if values.dtype.kind != "f":
        return
    for first in range(0, values.shape[0], ROWS_AT_ONCE):
        block = values[first : first + ROWS_AT_ONCE]
        numbers = block.data if not isinstance(block, np.ndarray) else block
        if np.isfinite(numbers).all():
            continue
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        row, column = (int(indices[0]) for indices in np.nonzero(~np.isfinite(dense)))
        name = column if columns is None else columns[column]
        raise FileError(path, f"column {name}, row {first + row + 1}: NaN or infinity; remove the row")


def write_npy(file: IO[bytes], map_: Map) -> None:
    np.save(file, map_.placed, allow_pickle=False)


def write_npz(file: IO[bytes], map_: Map) -> None:
    metadata_json = np.array(map_.metadata_json())
    arrays: dict[str, Any] = {"embedding": map_.placed, "pixels": map_.pixels, METADATA_KEY: metadata_json}
    for name, column in map_.region_columns.items():
        arrays[name] = np.array(["" if value is None else value for value in column.to_pylist()], dtype=str)
    if map_.extra_columns is not None:
        reserved = (*RESERVED_NAMES, *map_.region_columns)
        taken = set(reserved)
        for name, column in zip(map_.extra_columns.column_names, map_.extra_columns.columns, strict=True):
            array = plain_array(column)
            is_plain = array.dtype.kind in "biufU"
            free = unused_name(stored_name(name, reserved), taken)
            taken.add(free)
            arrays[free] = array if is_plain else np.array(["" if value is None else str(value) for value in array])
    np.savez(file, allow_pickle=False, **arrays)


def read_npz_metadata(path: Path) -> str:
    with np.load(path, allow_pickle=False) as arrays:
        return str(arrays[METADATA_KEY]) if METADATA_KEY in arrays else "{}"


MAP_OPTIONS = ReadOptions(matrix="embedding")
NPY = Format((".npy",), read_npy, write_npy, MAP_OPTIONS, reserved_names=())
NPZ = Format((".npz",), read_npz, write_npz, MAP_OPTIONS, RESERVED_NAMES, read_npz_metadata)
