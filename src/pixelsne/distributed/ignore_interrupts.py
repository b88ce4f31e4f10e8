"""Make workers ignore Ctrl-C. Workers that `pixelsne embed --cluster local` starts load this module.

A terminal sends Ctrl-C to every process that was started there. Without this, workers would end before the command has
saved their results.
"""

import signal
from typing import Any


def dask_setup(_worker: Any) -> None:
    """Ignore SIGINT. Dask calls this function in every worker, also in restarted ones."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
