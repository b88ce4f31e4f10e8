"""Names of the input's columns in a map file, where some names are reserved: `y` is stored as `input_y`.

Every reader of a map restores the names of the input, so that files, pictures and pages agree.
"""

from collections.abc import Container

PREFIX = "input_"
REGIONS_KEY = "regions"  # of the table of regions in the metadata of a map file


def without_prefixes(name: str) -> str:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name


def stored_name(name: str, reserved: Container[str]) -> str:
    """Return the name under which a file with reserved names stores a column. Different names stay different."""
    return f"{PREFIX}{name}" if without_prefixes(name) in reserved else name


def input_name(name: str, reserved: Container[str]) -> str:
    """Return the name that a stored column had in the input."""
    return name.removeprefix(PREFIX) if without_prefixes(name) in reserved else name
