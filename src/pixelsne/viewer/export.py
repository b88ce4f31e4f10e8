"""One file that holds the page and its map, and opens from disk without a network.

Modules cannot be imported from a file:// page, so they are joined into one script; the file's own
Content-Security-Policy allows that script and that style, by their hashes, and nothing else.
"""

import base64
import gzip
import hashlib
import json
import re
from pathlib import PurePath

from pixelsne.viewer.files import static_files
from pixelsne.viewer.layout import Page

IMPORT = re.compile(r'^import [^;]+? from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)
ICON_LINK = '<link rel="icon" href="/static/icon.svg">\n'
STYLE_LINK = '<link rel="stylesheet" href="/static/style.css">'
SCRIPT_LINK = '<script type="module" src="/static/main.js"></script>'


def standalone(page: Page) -> str:
    files = {name: content.decode() for name, content in static_files().items()}
    style, script = files["style.css"], joined(files, "main.js")
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = files["index.html"]
    text = text.replace(ICON_LINK, "").replace(
        STYLE_LINK, f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    )
    return text.replace(SCRIPT_LINK, f'{parts_of(page)}<script type="module">{script}</script>')


def joined(files: dict[str, str], name: str, seen: set[str] | None = None) -> str:
    """A module after all that it imports. Names of one module must not be those of another; a test looks."""
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    before = "".join(joined(files, other, seen) for other in IMPORT.findall(files[name]))
    return before + EXPORT.sub("", IMPORT.sub("", files[name]))


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def parts_of(page: Page) -> str:
    manifest = json.dumps({**page.manifest(), "live": False, "server": False, "exports": False}).encode()
    parts = {"manifest": manifest, **page.parts()}
    lines = (
        f'<script type="application/octet-stream" id="part-{name}">{packed(content)}</script>\n'
        for name, content in parts.items()
    )
    return "".join(lines)


def packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def title_of(path: str) -> str:
    return PurePath(path).name
