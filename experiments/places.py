"""Where things are kept."""

from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE / "cache"  # prepared data, maps, what was compiled: can be made again
RESULTS = HERE / "results"  # what was measured on the reference machine
REPORT = HERE.parent / "docs" / "paper.md"
