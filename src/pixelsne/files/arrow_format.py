"""The parquet and feather formats."""

from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from pixelsne.files.columns import read_batches
from pixelsne.files.errors import FileError, first_line
from pixelsne.files.format import Format
from pixelsne.files.maps import METADATA_KEY, Map, to_table
from pixelsne.files.source import CheckMemory, ReadOptions, Source

ROWS_PER_BATCH = 65_536


def read_parquet(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            batches = file.iter_batches(ROWS_PER_BATCH)
            return read_batches(path, file.schema_arrow, file.metadata.num_rows, batches, options, check_memory)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise damaged(path, error, "parquet") from None


def read_feather(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    try:
        with pa.memory_map(str(path)) as raw, pa.ipc.open_file(raw) as file:
            batches = (file.get_batch(index) for index in range(file.num_record_batches))
            return read_batches(path, file.schema, None, batches, options, check_memory)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise damaged(path, error, "feather") from None


def damaged(path: Path, error: Exception, kind: str) -> FileError:
    """Return the error for a file that Arrow cannot read."""
    return FileError(path, f"is damaged, or not a {kind} file: {first_line(error)}")


def write_parquet(file: IO[bytes], map_: Map) -> None:
    pq.write_table(to_table(map_), file)


def read_parquet_metadata(path: Path) -> str | bytes:
    metadata_json: str | bytes = (pq.read_schema(path).metadata or {}).get(METADATA_KEY.encode(), "{}")
    return metadata_json


PARQUET = Format((".parquet", ".pq"), read_parquet, write_parquet, read_metadata_json=read_parquet_metadata)
FEATHER = Format((".feather", ".arrow"), read_feather)
