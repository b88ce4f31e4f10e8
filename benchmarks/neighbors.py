"""Recall and time of the neighbor searches: `neighbors.py DATA.npz [k] [n ...]`."""

import sys

import numpy as np

from measure import Clock, Rows, load_points, save
from pixelsne.neighbors import find_neighbors


def recall(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of the true neighbors found, over a thousand rows."""
    rows = np.linspace(0, len(truth) - 1, min(len(truth), 1000)).astype(int)
    return float(np.mean([len(np.intersect1d(found[row], truth[row])) for row in rows]) / truth.shape[1])


def main(path: str, k: int, sizes: list[int]) -> None:
    rows: Rows = []
    for n in sizes:
        points, _ = load_points(path, n)
        truth = None
        for method in ("exact", "vp-tree", "rp-forest"):
            with Clock() as clock:
                found = find_neighbors(points, k, method, 0, 2).indices
            truth = found if truth is None else truth
            rows.append({"n": n, "k": k, "search": method, "seconds": clock.seconds, "recall": recall(found, truth)})
            print(rows[-1], flush=True)
    save("neighbors", "Neighbor searches on MNIST (PCA 50), 2 threads", rows)


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[2:]]
    main(sys.argv[1], given[0] if given else 150, given[1:] or [2_000, 5_000, 10_000, 20_000, 40_000, 70_000])
