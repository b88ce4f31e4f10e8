"""Maps of data that do not fit on one machine, computed on a Dask cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelsne.distributed.entry import embed, start, start_files
    from pixelsne.distributed.pipeline import DistributedRun
    from pixelsne.distributed.result import DistributedMap

# Modules are imported when their names are first used: workers import this package for its tasks, and need less of it
# than the client.
_MODULES = {
    "DistributedMap": "pixelsne.distributed.result",
    "DistributedRun": "pixelsne.distributed.pipeline",
    "embed": "pixelsne.distributed.entry",
    "start": "pixelsne.distributed.entry",
    "start_files": "pixelsne.distributed.entry",
}

__all__ = ["DistributedMap", "DistributedRun", "embed", "start", "start_files"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'pixelsne.distributed' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
