"""One file that holds the page and its map, and opens from disk without a network.

The file's own Content-Security-Policy allows its script and its style, by their hashes, and nothing else.
"""

import base64
import gzip
import hashlib
import json
from pathlib import PurePath

from pixelsne import __version__
from pixelsne.viewer.files import page_files
from pixelsne.viewer.layout import Page

ICON_LINK = '<link rel="icon" href="/static/icon.svg">\n'
STYLE_LINK = '<link rel="stylesheet" href="/static/style.css">'
GENERATOR = f'<meta name="generator" content="pixelsne {__version__}">\n'
SCRIPT_LINK = '<script type="module" src="/static/main.js"></script>'


def standalone(page: Page) -> str:
    files = {name: content.decode() for name, content in page_files().items()}
    style, script = files["style.css"], files["main.js"]
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = files["index.html"]
    text = text.replace(ICON_LINK, "").replace(
        STYLE_LINK, f'{GENERATOR}<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    )
    return text.replace(SCRIPT_LINK, f'{parts_of(page)}<script type="module">{script}</script>')


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
