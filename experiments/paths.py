"""Paths of results, report and cache."""

import os
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"  # measured on the reference machine
REPORT = HERE.parent / "docs" / "paper.md"

# Prepared data, maps and compiled code, which can be computed again. Gigabytes for a million points.
CACHE = Path(os.environ.get("PIXELSNE_EXPERIMENTS_CACHE", HERE / "cache"))
