"""Where things are kept."""

import os
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"  # what was measured on the reference machine
REPORT = HERE.parent / "docs" / "paper.md"

# Prepared data, maps, what was compiled: can be made again. Gigabytes for a million points.
CACHE = Path(os.environ.get("PIXELSNE_EXPERIMENTS_CACHE", HERE / "cache"))
