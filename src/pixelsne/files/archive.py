"""Archives of arrays and a JSON document: an uncompressed zip of .npy files and one .json file.

Reading an archive never runs code from it, and checks names, sizes, types and checksums before using them.
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
MAX_DOCUMENT_BYTES = 16_000_000  # bytes
MAX_MEMBERS = 32
ENCRYPTED = 0x1

# A .npy file of version 1.0 begins with these bytes and the header's length. HEADER matches C-ordered numbers only.
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>|\d{1,15},|\d{1,15}, \d{1,15})\), \} *\n"
)


class DamagedFileError(ValueError):
    """Raised for an archive that is damaged or has unexpected content."""


def damage(error: Exception) -> str:
    """Return a description of the error. The message of a KeyError is only the missing key."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def write_archive(path: str | os.PathLike[str], document: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    text = json.dumps(document, indent=1, allow_nan=False)
    with atomic_write(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(DOCUMENT, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))  # as HEADER expects
                np.lib.format.write_array(member, stored, allow_pickle=False)


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the document and the arrays. Raise DamagedFileError if the file is damaged."""
    path = Path(path)
    with path.open("rb") as file:
        try:
            return read_members(file, path.stat().st_size)
        except Exception as error:  # noqa: BLE001 - reading a damaged zip can raise anything
            raise DamagedFileError(f"{path} is damaged, or not a pixelsne file: {error}") from None


def read_kind(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the document and the arrays of a file, after checking its kind and format version."""
    document, arrays = read_archive(path)
    if document.get("kind") != kind:
        raise DamagedFileError(f"{os.fspath(path)} is not a {kind}: its kind is {document.get('kind')!r:.60}")
    if document.get("version") != version:
        found = document.get("version")
        raise ValueError(
            f"{os.fspath(path)} has format version {found!r:.60}, but this pixelsne reads version {version}; "
            "use the release of pixelsne that wrote the file"
        )
    return document, arrays


def read_members(file: IO[bytes], size: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
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
    if len(members) != len(archive.infolist()) or len(members) > MAX_MEMBERS:
        raise DamagedFileError(f"it has a member twice, or more than {MAX_MEMBERS} members")
    if DOCUMENT not in members:
        raise DamagedFileError(f"it has no {DOCUMENT}")
    for name, member in members.items():
        if name != DOCUMENT and not (name.endswith(".npy") and name[:-4].isidentifier()):
            raise DamagedFileError(f"it has an unexpected member {name!r:.80}")
        stored = member.compress_type == zipfile.ZIP_STORED and member.compress_size == member.file_size
        if not stored or member.flag_bits & ENCRYPTED:
            raise DamagedFileError(f"its member {name} is compressed or encrypted")
    if sum(member.file_size for member in members.values()) > size:
        raise DamagedFileError("its members claim to be larger than the file")
    if members[DOCUMENT].file_size > MAX_DOCUMENT_BYTES:
        raise DamagedFileError(f"its {DOCUMENT} is larger than {MAX_DOCUMENT_BYTES // 1_000_000} MB")


def read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> AnyArray:
    """Return an array of numbers, after checking that its header matches the number of bytes.

    NumPy's reader would parse the header as a Python literal, whatever it contains.
    """
    content = archive.read(member)
    length = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 2], "little")
    begin = len(MAGIC) + 2
    header = HEADER.fullmatch(content[begin : begin + length]) if content.startswith(MAGIC) else None
    if header is None:
        raise DamagedFileError(f"{member.filename} is not an array of numbers")
    dtype = np.dtype(header["kind"].decode())
    shape = tuple(int(side) for side in header["shape"].replace(b",", b" ").split())
    if math.prod(shape) * dtype.itemsize != len(content) - begin - length:
        raise DamagedFileError(f"the size of {member.filename} does not match its header")
    return np.frombuffer(content, dtype=dtype, offset=begin + length).reshape(shape).copy()
