"""The table of file formats. A new format is a module with a Format, and an entry here."""

from collections.abc import Callable
from pathlib import Path
from typing import IO

from pixelsne.files.arrow_format import FEATHER, PARQUET
from pixelsne.files.csv_format import CSV, TSV
from pixelsne.files.errors import FileError
from pixelsne.files.format import Format
from pixelsne.files.h5ad_format import H5AD
from pixelsne.files.maps import Map
from pixelsne.files.numpy_format import NPY, NPZ

FORMATS: dict[str, Format] = {
    suffix: format_
    for format_ in (CSV, TSV, PARQUET, FEATHER, NPY, NPZ, H5AD)
    for suffix in format_.suffixes
}  # fmt: skip
WRITABLE: dict[str, Callable[[IO[bytes], Map], None]] = {
    format_.suffixes[0]: format_.write_map for format_ in FORMATS.values() if format_.write_map is not None
}


READABLE = f"{', '.join(FORMATS)}, and .csv.gz, .tsv.gz"  # for messages


def find_format(path: Path) -> Format | None:
    """Return the format of a file by its suffix, or that before .gz; None for an unknown suffix."""
    is_gzipped = path.suffix.lower() == ".gz"
    format_ = FORMATS.get(Path(path.stem).suffix.lower() if is_gzipped else path.suffix.lower())
    return None if format_ is not None and is_gzipped and not format_.can_be_gzipped else format_


def format_of(path: Path) -> Format:
    """Return the format of a file. Raise FileError for an unknown suffix."""
    format_ = find_format(path)
    if format_ is None:
        raise FileError(path, f"is of an unknown kind; known are {READABLE}")
    return format_
