"""Maps of data that outgrow one machine, on a Dask cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelsne.distributed.entry import embed, start, start_files
    from pixelsne.distributed.pipeline import DistributedRun
    from pixelsne.distributed.result import DistributedMap

# Imported when first used: workers import this package for its tasks, and should not hold what only the client needs.
_HOMES = {
    "DistributedMap": "pixelsne.distributed.result",
    "DistributedRun": "pixelsne.distributed.pipeline",
    "embed": "pixelsne.distributed.entry",
    "start": "pixelsne.distributed.entry",
    "start_files": "pixelsne.distributed.entry",
}

__all__ = ["DistributedMap", "DistributedRun", "embed", "start", "start_files"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pixelsne.distributed' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
