"""Read parquet and feather files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from pixelsne.files.columns import read_batches
from pixelsne.files.errors import FileError, first_line
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
