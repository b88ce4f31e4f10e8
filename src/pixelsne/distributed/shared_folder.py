"""Check that the client and all workers share a folder."""

import secrets
from pathlib import Path
from typing import Any

from pixelsne.distributed.task_runner import run_on_workers
from pixelsne.files.errors import FileError


def path_exists(path: str) -> bool:
    """Return whether a path exists on the worker that runs this."""
    return Path(path).exists()


def check_shared_folder(client: Any, folder: Path) -> None:
    """Raise FileError unless every worker sees the folder. Call it early, before hours of work."""
    probe = folder / f".seen-{secrets.token_hex(8)}"
    probe.touch()
    try:
        seen = run_on_workers(client, path_exists, str(probe))
    finally:
        probe.unlink(missing_ok=True)
    without = next((worker for worker, found in seen.items() if not found), None)
    if without is not None:
        raise FileError(folder, f"is not seen by the worker at {without}; choose a folder that all machines share")
