"""The documentation site: `make docs`.

Its root is the repository's, so that links between pages work the same here, in an editor and in the repository.
"""

from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

project = "pixelsne"
author = "the pixelsne authors"
copyright = f"{datetime.now(tz=UTC).year}, {author}"  # noqa: A001 - Sphinx's name
version = release = metadata.version("pixelsne")

root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/howto/*.md",
    "benchmarks/results/*.md",
    "experiments/README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [".*", "build", "dist", "experiments/cache", "benchmarks/results/*_quick.md"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # results begin where their table does
autodoc_typehints = "none"  # docstrings say it in words
napoleon_google_docstring = False
pygments_style = "tango"
smartquotes = False  # two hyphens are two hyphens

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "pixelsne"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "logo": {"text": "pixelsne"},
}
html_extra_path = ["site/index.html"]
html_show_sourcelink = False
html_copy_source = False


def as_it_stands(_app: object, _context: object, lines: list[str]) -> None:
    """Help texts are no markup: a star in a pattern of files is a star."""
    lines[:] = [line.replace("*", r"\*") for line in lines]


def write_formula(translator: Any, node: Any) -> None:
    """As MathML, which browsers know: no script, and nothing fetched from elsewhere."""
    display = "block" if node.tagname == "math_block" else "inline"
    translator.body.append(convert(node.astext(), display=display))
    raise SkipNode


def setup(app: Any) -> None:
    app.connect("sphinx-click-process-description", as_it_stands)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
