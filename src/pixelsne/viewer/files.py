"""The page itself: plain files beside this one, and its modules joined into one script."""

import re
from importlib import resources

IMPORT = re.compile(r'^import [^;]+? from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)


def static_files() -> dict[str, bytes]:
    folder = resources.files("pixelsne.viewer") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def page_files() -> dict[str, bytes]:
    """All that is ever served, by name; nothing else is reachable, whatever a path says.

    The modules as one script: dozens of requests would take longer than the first picture.
    """
    files = static_files()
    modules = {name: content.decode() for name, content in files.items() if name.endswith(".js")}
    kept = {name: content for name, content in files.items() if name not in modules or name == "enter.js"}
    return kept | {"main.js": joined(modules, "main.js").encode()}


def joined(files: dict[str, str], name: str, seen: set[str] | None = None) -> str:
    """A module after all that it imports. Names of one module must not be those of another; a test looks."""
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    before = "".join(joined(files, other, seen) for other in IMPORT.findall(files[name]))
    return before + EXPORT.sub("", IMPORT.sub("", files[name]))
