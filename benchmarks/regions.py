"""Measure how long finding the regions of a map takes, by the number of points.

python benchmarks/regions.py [POINTS ...]
"""

import sys
import time

import numpy as np

from pixelsne.regions import find_regions

RESOLUTION = (1024, 1024)
CLUSTERS = 300


def clustered_map(n: int) -> np.ndarray:
    random = np.random.default_rng(0)
    centers = random.uniform(40, 984, (CLUSTERS, 2))
    placed = centers[random.integers(0, CLUSTERS, n)] + random.normal(0, 12, (n, 2))
    return np.clip(placed, 0, 1023.99).astype(np.float32)


def main(numbers: list[int]) -> None:
    print(f"{'points':>10}  {'seconds':>7}  regions by level")
    for n in numbers:
        placed = clustered_map(n)
        start = time.perf_counter()
        regions = find_regions(placed, RESOLUTION)
        seconds = time.perf_counter() - start
        by_level = [len(regions.level(level + 1)) for level in range(len(regions.indices))]
        print(f"{n:>10,}  {seconds:>7.2f}  {' · '.join(map(str, by_level))}")


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]] or [1_000, 10_000, 100_000, 1_000_000, 10_000_000])
