"""Parquet and Feather."""

from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from pixelsne.files.columns import read_batches
from pixelsne.files.errors import FileError, first_words
from pixelsne.files.source import CheckRoom, ReadOptions, Source

ROWS_PER_BATCH = 65_536


def read_parquet(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            batches = file.iter_batches(ROWS_PER_BATCH)
            return read_batches(path, file.schema_arrow, file.metadata.num_rows, batches, wanted, check_room)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        refuse(path, error, "parquet")


def read_feather(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    try:
        with pa.memory_map(str(path)) as raw, pa.ipc.open_file(raw) as file:
            batches = (file.get_batch(place) for place in range(file.num_record_batches))
            return read_batches(path, file.schema, None, batches, wanted, check_room)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        refuse(path, error, "feather")


def refuse(path: Path, error: Exception, kind: str) -> NoReturn:
    raise FileError(path, f"is damaged, or no {kind} file: {first_words(error)}") from None
