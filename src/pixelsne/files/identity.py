"""The identity of a run: the data, settings and version that must be equal to continue it bit for bit."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne import __version__
from pixelsne.choices import INITS
from pixelsne.files.errors import FileError
from pixelsne.files.model import as_plain
from pixelsne.settings import Settings

ROWS_AT_ONCE = 65_536

Identity = dict[str, Any]


def describe_run(rows: int, columns: int, values: str, settings: Settings, *, weights: str | None = None) -> Identity:
    """Return the identity of a run. values, weights: the fingerprints of the data and of its weights, if any."""
    data = {"version of pixelsne": __version__, "rows": rows, "columns": columns, "values": values, "weights": weights}
    return data | describe_settings(settings)


def describe_settings(settings: Settings) -> Identity:
    """Return the settings as JSON values, with null for infinity. The number of threads does not change results."""
    described = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "threads"}
    described["step_limit"] = None if settings.step_limit == float("inf") else settings.step_limit
    described["init"] = settings.init if isinstance(settings.init, str) else fingerprint(settings.init)
    return {name: as_plain(value) for name, value in described.items()}


def fingerprint(values: Any) -> str:
    """Return a hash of all values and their type."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(str(values.dtype).encode())
    parts = [values] if isinstance(values, np.ndarray) else [values.indptr, values.indices, values.data]
    for part in parts:
        for first in range(0, len(part), ROWS_AT_ONCE):
            digest.update(np.ascontiguousarray(part[first : first + ROWS_AT_ONCE]).data)
    return digest.hexdigest()


def check_identity(path: Path, document: dict[str, Any], identity: Identity) -> None:
    """Raise FileError if the document of a file belongs to another run."""
    before = document.get("run")
    if not isinstance(before, dict):
        raise FileError(path, "is damaged: the identity of its run is missing")
    for name, now in identity.items():
        if before.get(name) != now:
            raise FileError(path, difference(name, before.get(name), now))


def difference(name: str, before: Any, now: Any) -> str:
    """Return a description of how the file differs from this run."""
    if name == "values":
        return "was made from other data: the same numbers of rows and columns, but other values"
    if name in {"rows", "columns"}:
        return f"was made from other data: {before!r:.60} {name}, this run has {now}"
    if name == "fixed":
        return "was made with other fixed rows"
    if name == "weights":
        difference = "with other weights; pass those" if before else "without weights, this run has some; omit them"
        return f"was made {difference}"
    if name == "init":
        before, now = (value if value in INITS else "an array" for value in (before, now))
    return f"was made with {name} {before!r:.60}, this run has {now!r:.60}"
