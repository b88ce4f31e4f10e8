"""The page itself: plain files beside this one."""

from importlib import resources


def static_files() -> dict[str, bytes]:
    """All that is ever served, by name; nothing else is reachable, whatever a path says."""
    folder = resources.files("pixelsne.viewer") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
