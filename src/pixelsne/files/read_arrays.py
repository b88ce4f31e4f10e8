"""NumPy's own files, and SciPy's sparse matrices in them."""

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pixelsne.arrays import AnyArray
from pixelsne.files.columns import check_told
from pixelsne.files.errors import FileError, first_words
from pixelsne.files.source import CheckRoom, ReadOptions, Source
from pixelsne.memory import GIGABYTE, available

ROWS_AT_ONCE = 65_536
SPARSE_PARTS = {"data", "shape", "format"}
INDEX_PARTS = {"indices", "indptr", "row", "col", "coords", "offsets", "shape"}
# A few bytes can claim any number of empty rows, which CSR would take memory and time for.
MOST_ROWS_PER_NUMBER = 1000
MOST_EMPTY_ROWS = 1_000_000
NUMBERS, TEXT = "biuf", "US"
MATRIX = 2  # dimensions


@dataclass(frozen=True)
class Member:
    """An array in an npz, before it is read."""

    file: str
    shape: tuple[int, ...]
    dtype: Any


def read_npy(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    """Mapped into memory, not read."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # noqa: BLE001 - what a hostile header makes NumPy raise is anybody's guess
        raise FileError(path, f"is damaged, or holds objects: {first_words(error)}") from None
    return matrix_source(path, values, None, wanted, check_room)


def read_npz(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    """The matrix X, or the only one there is; arrays of as many rows travel along."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): member_of(archive, name) for name in archive.namelist()}
            if members.keys() >= SPARSE_PARTS:
                return matrix_source(path, read_sparse(path, members), None, wanted, check_room)
            chosen, along = choose_arrays(path, members, wanted)
            arrays = {name: read_member(path, archive, members[name]) for name in (chosen, *along)}
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001 - as above, and zips have ways of their own
        raise FileError(path, f"is damaged, or holds objects: {first_words(error)}") from None
    values = arrays.pop(chosen)
    return matrix_source(path, values, pa.table(arrays) if arrays else None, wanted, check_room)


def member_of(archive: zipfile.ZipFile, name: str) -> Member:
    """By its header, if the bytes are there that it tells of: a small file may claim to hold more than any machine."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        begin = file.tell()
    if not dtype.hasobject and begin + math.prod(shape) * dtype.itemsize != archive.getinfo(name).file_size:
        raise ValueError(f"{name} does not hold the numbers its header tells of")
    return Member(name, shape, dtype)


def read_member(path: Path, archive: zipfile.ZipFile, member: Member) -> AnyArray:
    check_unpacked(path, [member])
    with archive.open(member.file) as file:
        array: AnyArray = np.lib.format.read_array(file, allow_pickle=False)
    return array


def read_sparse(path: Path, members: dict[str, Member]) -> Any:
    """A csr_array; nothing of the file is used as an index before it is known to lead into the matrix."""
    from scipy import sparse  # noqa: PLC0415 - only for those who have one

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
    size, there = sum(math.prod(member.shape) * member.dtype.itemsize for member in members), available()
    if size > there:
        raise FileError(path, f"unpacks to {size / GIGABYTE:.1f} GB, {there / GIGABYTE:.1f} GB are available")


def choose_arrays(path: Path, members: dict[str, Member], wanted: ReadOptions) -> tuple[str, list[str]]:
    """The matrix, and what travels along: columns of numbers or words with as many rows."""
    matrices = [name for name, member in members.items() if len(member.shape) == MATRIX]
    if wanted.matrix not in matrices and len(matrices) != 1:
        shapes = ", ".join(f"{name} {member.shape}" for name, member in members.items())
        raise FileError(
            path, f"must hold a matrix {wanted.matrix} (or one matrix of another name), has {shapes or 'nothing'}"
        )
    chosen = wanted.matrix if wanted.matrix in matrices else matrices[0]
    rows = members[chosen].shape[0]
    along = [
        name
        for name, member in members.items()
        if member.shape == (rows,) and member.dtype.kind in NUMBERS + TEXT and name != chosen
    ]
    return chosen, along


def matrix_source(
    path: Path, values: Any, extra_columns: pa.Table | None, wanted: ReadOptions, check_room: CheckRoom
) -> Source:
    if values.ndim != MATRIX or values.dtype.kind not in NUMBERS or 0 in values.shape:
        raise FileError(path, f"must hold a matrix of numbers (rows, columns), has {values.dtype} {values.shape}")
    if wanted.label is not None and (extra_columns is None or wanted.label not in extra_columns.column_names):
        known = ", ".join(extra_columns.column_names) if extra_columns is not None else "none"
        raise FileError(path, f"has no array {wanted.label!r} of {values.shape[0]:,} labels; it has {known}")
    if wanted.columns is not None:
        values = values[:, [column_place(path, name, values.shape[1]) for name in wanted.columns]]
    rows, width = values.shape
    check_told(path, rows, rows, width, values.dtype, check_room)  # mapped or read, they are there already
    check_numbers(path, values, wanted.columns)
    return Source(path, values, wanted.columns or (), extra_columns)


def column_place(path: Path, name: str, count: int) -> int:
    """Columns of a matrix have no names but their numbers, from 0."""
    if not name.isdecimal() or int(name) >= count:
        raise FileError(path, f"has no column {name!r}; its columns are 0 to {count - 1}")
    return int(name)


def check_numbers(path: Path, values: Any, columns: tuple[str, ...] | None) -> None:
    """All of them finite; of the first that is not, users learn where it stands."""
    if values.dtype.kind != "f":
        return
    for first in range(0, values.shape[0], ROWS_AT_ONCE):
        block = values[first : first + ROWS_AT_ONCE]
        numbers = block.data if not isinstance(block, np.ndarray) else block
        if np.isfinite(numbers).all():
            continue
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(dense)))
        name = column if columns is None else columns[column]
        raise FileError(path, f"column {name}, row {first + row + 1}: NaN or infinity; leave the row out")
