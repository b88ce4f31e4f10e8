"""The page and its map in one HTML file, which opens from disk without a network.

The file's own Content-Security-Policy allows its script and its style, by their hashes, and nothing else.
"""

import base64
import gzip
import hashlib
import json

from pixelsne import __version__
from pixelsne.viewer.files import page_files
from pixelsne.viewer.layout import Page

ICON_LINK = '<link rel="icon" href="/static/icon.svg">\n'
STYLE_LINK = '<link rel="stylesheet" href="/static/style.css">'
GENERATOR = f'<meta name="generator" content="pixelsne {__version__}">\n'
SCRIPT_LINK = '<script type="module" src="/static/main.js"></script>'


def standalone(page: Page) -> str:
    """Return the HTML of a file that contains the whole page."""
    files = {name: content.decode() for name, content in page_files().items()}
    style, script = files["style.css"], files["main.js"]
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = files["index.html"].replace(ICON_LINK, "")
    text = text.replace(
        STYLE_LINK, f'{GENERATOR}<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    )
    return text.replace(SCRIPT_LINK, f'{part_elements(page)}<script type="module">{script}</script>')


def digest(text: str) -> str:
    """Return the hash of a script or style, as Content-Security-Policy writes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def part_elements(page: Page) -> str:
    """Return a script element for each part of the page; browsers do not execute one of this media type."""
    manifest = json.dumps({**page.manifest(), "live": False, "server": False, "canExport": False}).encode()
    parts = {"manifest": manifest, **page.parts()}
    elements = (
        f'<script type="application/octet-stream" id="part-{name}">{compress(content)}</script>\n'
        for name, content in parts.items()
    )
    return "".join(elements)


def compress(content: bytes) -> str:
    """Return gzip in base64."""
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()
