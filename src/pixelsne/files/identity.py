"""Which run a file belongs to: what must be the same for the same bits."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne import __version__
from pixelsne.choices import STARTS
from pixelsne.files.errors import FileError
from pixelsne.files.model import as_plain
from pixelsne.settings import Settings

ROWS_AT_ONCE = 65_536

Identity = dict[str, Any]


def describe_run(rows: int, columns: int, values: str, settings: Settings) -> Identity:
    """The data, the settings and the program. values: the fingerprint of all numbers."""
    metadata = {"version of pixelsne": __version__, "rows": rows, "columns": columns, "values": values}
    return metadata | describe_settings(settings)


def describe_settings(settings: Settings) -> Identity:
    """In words of JSON, which has no infinity. The number of threads does not matter, so it is left out."""
    described = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "threads"}
    described["step_limit"] = None if settings.step_limit == float("inf") else settings.step_limit
    described["init"] = settings.init if isinstance(settings.init, str) else fingerprint(settings.init)
    return {name: as_plain(value) for name, value in described.items()}


def fingerprint(values: Any) -> str:
    """Of all numbers and their kind."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(str(values.dtype).encode())
    parts = [values] if isinstance(values, np.ndarray) else [values.indptr, values.indices, values.data]
    for part in parts:
        for first in range(0, len(part), ROWS_AT_ONCE):
            digest.update(np.ascontiguousarray(part[first : first + ROWS_AT_ONCE]).data)
    return digest.hexdigest()


def check_identity(path: Path, document: dict[str, Any], identity: Identity) -> None:
    """FileError unless the document of the file tells of this run."""
    before = document.get("run")
    if not isinstance(before, dict):
        raise FileError(path, "is damaged: it does not tell which run it is of")
    for name, now in identity.items():
        if before.get(name) != now:
            raise FileError(path, difference(name, before.get(name), now))


def difference(name: str, before: Any, now: Any) -> str:
    if name == "values":
        return "is of other data: as many rows and columns, but other numbers"
    if name in {"rows", "columns"}:
        return f"is of other data: {before!r:.60} {name}, this run has {now}"
    if name == "init":
        before, now = (value if value in STARTS else "an array of its own" for value in (before, now))
    return f"was made with {name} {before!r:.60}, this run has {now!r:.60}"
