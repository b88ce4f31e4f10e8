"""Loaded by workers that `pixelsne embed --cluster local` starts: they leave Ctrl-C to the command.

A terminal sends it to every process that was started there. Workers would die of it, and with them what the command
is about to keep.
"""

import signal
from typing import Any


def dask_setup(_worker: Any) -> None:
    """Called by Dask in every worker, also in those that take the place of others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
