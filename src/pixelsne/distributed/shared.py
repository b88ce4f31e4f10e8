"""Folders that the client and all workers see."""

import secrets
from pathlib import Path
from typing import Any

from pixelsne.files.errors import FileError


def sees(path: str) -> bool:
    """Whether the worker that runs this does."""
    return Path(path).exists()


def check_shared(client: Any, folder: Path) -> None:
    """FileError if a worker does not see the folder, which else would be noticed only when it is needed."""
    witness = folder / f".seen-{secrets.token_hex(8)}"
    witness.touch()
    try:
        seen = client.run(sees, str(witness))
    finally:
        witness.unlink(missing_ok=True)
    blind = next((worker for worker, found in seen.items() if not found), None)
    if blind is not None:
        raise FileError(folder, f"is not seen by the worker at {blind}; choose a folder that all machines share")
