"""Names of the input's columns in a map's file, where some names are taken: `y` is stored as `input_y`.

Everything that reads a map gets the input's own names back, so that files, pictures and pages agree.
"""

from collections.abc import Container

PREFIX = "input_"


def without_prefixes(name: str) -> str:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name


def stored_name(name: str, reserved: Container[str]) -> str:
    """Return the name of a column in a file that keeps some names for itself; no two columns get the same."""
    return f"{PREFIX}{name}" if without_prefixes(name) in reserved else name


def own_name(name: str, reserved: Container[str]) -> str:
    """Return the input's name of a stored column."""
    return name.removeprefix(PREFIX) if without_prefixes(name) in reserved else name
