"""One file with arrays and a JSON document: a zip without compression, of .npy files and one .json.

Nothing in it can run code, and nothing it says is believed before it is checked: names, sizes, types and sums.
"""

import json
import math
import os
import re
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.files.atomic_write import atomic_write

DOCUMENT = "document.json"
LARGEST_DOCUMENT = 16_000_000  # bytes
MOST_PARTS = 32
ENCRYPTED = 0x1

# How NumPy begins a file: version 1.0, then the header's length. Of headers, those of numbers by rows.
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>|\d{1,15},|\d{1,15}, \d{1,15})\), \} *\n"
)


class DamagedFileError(ValueError):
    """The file is not what it should be."""


def damage(error: Exception) -> str:
    """What is wrong, in words: a KeyError tells no more than a name."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def write_archive(path: str | os.PathLike[str], document: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    text = json.dumps(document, indent=1, allow_nan=False)
    with atomic_write(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(DOCUMENT, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                in_order = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))  # as it is read
                np.lib.format.write_array(member, in_order, allow_pickle=False)


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The document and the arrays; DamagedFileError unless the file is whole."""
    path = Path(path)
    with path.open("rb") as file:
        try:
            return read_parts(file, path.stat().st_size)
        except Exception as error:  # noqa: BLE001 - what a damaged zip makes its readers raise is anybody's guess
            raise DamagedFileError(f"{path} is damaged, or no file of pixelsne: {error}") from None


def read_kind(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The same of a file that must be of this kind, and of the version that is read here."""
    document, arrays = read_archive(path)
    if document.get("kind") != kind:
        raise DamagedFileError(f"{os.fspath(path)} holds no {kind}, but {document.get('kind')!r:.60}")
    if document.get("version") != version:
        told = document.get("version")
        raise ValueError(f"{os.fspath(path)} has version {told!r:.60}, this pixelsne reads {version}: update it")
    return document, arrays


def read_parts(file: IO[bytes], size: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
        check_members(size, archive, members)
        document = json.loads(archive.read(DOCUMENT))
        if not isinstance(document, dict):
            raise DamagedFileError(f"its {DOCUMENT} is not an object")
        arrays = {
            name.removesuffix(".npy"): read_array(archive, member)
            for name, member in members.items()
            if name != DOCUMENT
        }
    return document, arrays


def check_members(size: int, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
    if len(members) != len(archive.infolist()) or len(members) > MOST_PARTS:
        raise DamagedFileError("it names a part twice, or too many of them")
    if DOCUMENT not in members:
        raise DamagedFileError(f"it has no {DOCUMENT}")
    for name, member in members.items():
        if name != DOCUMENT and not (name.endswith(".npy") and name[:-4].isidentifier()):
            raise DamagedFileError(f"it has a part {name!r:.80} that does not belong there")
        stored = member.compress_type == zipfile.ZIP_STORED and member.compress_size == member.file_size
        if not stored or member.flag_bits & ENCRYPTED:
            raise DamagedFileError(f"its part {name} is not stored as it should be")
    if sum(member.file_size for member in members.values()) > size:
        raise DamagedFileError("its parts claim to be larger than the file")
    if members[DOCUMENT].file_size > LARGEST_DOCUMENT:
        raise DamagedFileError(f"its {DOCUMENT} is too large")


def read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> AnyArray:
    """Of plain numbers, and no larger than the bytes that are there: the header decides nothing alone.

    NumPy's own reader would parse whatever stands in the header as Python.
    """
    content = archive.read(member)
    length = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 2], "little")
    begin = len(MAGIC) + 2
    header = HEADER.fullmatch(content[begin : begin + length]) if content.startswith(MAGIC) else None
    if header is None:
        raise DamagedFileError(f"{member.filename} is no array of numbers")
    dtype = np.dtype(header["kind"].decode())
    shape = tuple(int(side) for side in header["shape"].replace(b",", b" ").split())
    if math.prod(shape) * dtype.itemsize != len(content) - begin - length:
        raise DamagedFileError(f"{member.filename} does not hold the numbers its header tells of")
    return np.frombuffer(content, dtype=dtype, offset=begin + length).reshape(shape).copy()
