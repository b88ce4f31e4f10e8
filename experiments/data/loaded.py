"""The result of a loader, and functions to read files that all loaders use."""

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne.files.errors import FileError
from pixelsne.files.numpy_format import member_of, read_member


@dataclass(frozen=True)
class Loaded:
    """A data set before its reduction to 50 dimensions."""

    values: Any  # (n, d), dense or sparse
    labels: Any  # (n) integers
    names: tuple[str, ...]  # of the labels
    source: str  # the files that were read
    texts: list[str] = field(default_factory=list)  # (n), or empty
    stands_for: str = ""  # differences from the paper's data


def first_file(folder: Path, *names: str) -> Path | None:
    """Return the first of these files that exists, plain or gzipped."""
    candidates = [folder / f"{name}{ending}" for name in names for ending in ("", ".gz")]
    return next((path for path in candidates if path.exists()), None)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked; damage raises an error of one line that names the file."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (EOFError, OSError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileError(path, f"is damaged or cut off: {error}") from None


def read_arrays(path: Path, *names: str) -> tuple[Any, ...]:
    """Return arrays of an npz file by name."""
    present = array_names(path)
    missing = [name for name in names if name not in present]
    if missing:
        raise FileError(path, f"has no array {', '.join(missing)}; it has {', '.join(sorted(present))}")
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(read_member(path, archive, member_of(archive, f"{name}.npy")) for name in names)
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged zip raises anything
        raise FileError(path, f"is damaged: {error}") from None


def array_names(path: Path) -> set[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name.removesuffix(".npy") for name in archive.namelist()}
    except zipfile.BadZipFile as error:
        raise FileError(path, f"is damaged or no npz: {error}") from None


def read_texts(path: Path | None, n: int) -> list[str]:
    """Return the key "text" of every line of JSON, or an empty list without a file."""
    if path is None:
        return []
    texts = []
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                texts.append(str(json.loads(line)["text"]))
            except (ValueError, LookupError, TypeError):
                raise FileError(path, f'line {number:,}: not a JSON object with a "text"') from None
    if len(texts) != n:
        raise FileError(path, f"has {len(texts):,} texts where {n:,} are expected")
    return texts


def check_labels(path: Path, labels: Any, n: int, classes: int) -> Any:
    """Return (n) integers from 0 to classes - 1, or fail."""
    labels = np.asarray(labels)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise FileError(path, f"must have {n:,} whole numbers as labels, has {labels.dtype} {labels.shape}")
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise FileError(path, f"has labels from {labels.min()} to {labels.max()} where 0 to {classes - 1} are known")
    return labels.astype(np.int64)
