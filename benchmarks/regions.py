"""Measure how long finding and naming the regions of a map takes: `regions.py [POINTS | MAP ...]`.

POINTS is a number of points in 300 clusters on a plane. MAP is a map file; its regions are named by its columns.
"""

import sys
from pathlib import Path

import numpy as np

from measure import Clock, save
from pixelsne.files.read_map import read_map
from pixelsne.region_names import name_regions
from pixelsne.regions import Regions, find_regions

RESOLUTION = (1024, 1024)
CLUSTERS = 300


def clustered_map(n: int) -> np.ndarray:
    random = np.random.default_rng(0)
    centers = random.uniform(40, 984, (CLUSTERS, 2))
    placed = centers[random.integers(0, CLUSTERS, n)] + random.normal(0, 12, (n, 2))
    return np.clip(placed, 0, 1023.99).astype(np.float32)


def count_by_level(regions: Regions) -> str:
    return " · ".join(str(len(regions.level(level + 1))) for level in range(len(regions.indices)))


def measure(source: str) -> dict[str, object]:
    """Return the seconds and the numbers of regions of one map."""
    map_ = None if source.isdigit() else read_map(source)
    placed, resolution = (clustered_map(int(source)), RESOLUTION) if map_ is None else (map_.placed, map_.resolution)
    with Clock() as finding:
        regions = find_regions(placed, resolution)
    row: dict[str, object] = {
        "map": "clusters" if map_ is None else Path(source).stem,
        "points": len(placed),
        "find, s": finding.seconds,
        "regions by level": count_by_level(regions),
    }
    if map_ is not None:
        with Clock() as naming:
            named = name_regions(regions, map_.extra_columns)
        row |= {
            "name, s": naming.seconds,
            "first names": ", ".join(region.name or "-" for region in named.level(1)[:3]),
        }
    return row


def main(sources: list[str]) -> None:
    rows = []
    for source in sources:
        rows.append(measure(source))
        print(rows[-1], flush=True)
    save("regions", "Finding and naming the regions of a map", rows)


if __name__ == "__main__":
    main(sys.argv[1:] or ["1000", "10000", "100000", "1000000", "10000000"])
