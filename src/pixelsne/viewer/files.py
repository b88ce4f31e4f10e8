"""The page's own files in `static`, and its modules concatenated into one script."""

import re
from importlib import resources

IMPORT = re.compile(r'^import [^;]+? from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)


def static_files() -> dict[str, bytes]:
    """Return the content of every file in `static` by its name."""
    folder = resources.files("pixelsne.viewer") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def page_files() -> dict[str, bytes]:
    """Return all files that are served, by name; no path leads to anything else.

    The modules are one script, because dozens of requests would take longer than the first rendered frame.
    """
    files = static_files()
    modules = {name: content.decode() for name, content in files.items() if name.endswith(".js")}
    others = {name: content for name, content in files.items() if name not in modules or name == "enter.js"}
    return others | {"main.js": concatenate(modules, "main.js").encode()}


def concatenate(files: dict[str, str], name: str, seen: set[str] | None = None) -> str:
    """Return a module after all modules that it imports.

    Imports must be acyclic and top-level names must differ between modules; a test checks both.
    """
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    imported = "".join(concatenate(files, other, seen) for other in IMPORT.findall(files[name]))
    return imported + EXPORT.sub("", IMPORT.sub("", files[name]))
