"""Measure recall and time of the neighbor searches, and of faiss if installed: `neighbors.py DATA.npz [k] [n ...]`.

Recall is the share of the true neighbors that are found, for a thousand random points.
The environment variables THREADS (default 2) and DIMENSIONS (default 50) set the number of threads and of principal
components.
"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from measure import Clock, Rows, in_own_process, load_source, save, source_name
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import reduce

THREADS = int(os.environ.get("THREADS", "2"))
DEFAULT_DIMENSIONS = 50
DIMENSIONS = int(os.environ.get("DIMENSIONS", DEFAULT_DIMENSIONS))
EXACT_UP_TO = 100_000
ROWS_AT_ONCE = 50


def true_neighbors(points: NDArray[np.float32], rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    norms = np.square(points, dtype=np.float64).sum(axis=1)
    truth = []
    for block in np.array_split(rows, max(1, len(rows) // ROWS_AT_ONCE)):
        squared = norms - 2.0 * (points[block] @ points.T)
        squared[np.arange(len(block)), block] = np.inf
        truth.append(np.argpartition(squared, k - 1, axis=1)[:, :k])
    return np.concatenate(truth)


def recall(found: NDArray[np.int32], truth: NDArray[np.int64]) -> float:
    return float(np.mean([len(np.intersect1d(*pair)) for pair in zip(found, truth, strict=True)]) / truth.shape[1])


def measure_own(points: NDArray[np.float32], k: int, rows: NDArray[np.int64], truth: NDArray[np.int64]) -> Rows:
    few = len(points) <= EXACT_UP_TO
    measured: Rows = []
    for method in ("exact", "vp-tree", "rp-forest", "clusters") if few else ("rp-forest", "clusters"):
        with Clock() as clock:
            found = find_neighbors(points, k, method, 0, THREADS).indices
        measured.append({"search": method, "seconds": clock.seconds, "recall": recall(found[rows], truth)})
    return measured


def measure_faiss(points: NDArray[np.float32], k: int, rows: NDArray[np.int64], truth: NDArray[np.int64]) -> Rows:
    """Measure faiss. Its lists contain the point itself, usually first, so k + 1 are searched."""
    if importlib.util.find_spec("faiss") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/points.npy", points)
        np.save(f"{folder}/points.rows.npy", rows)
        script = str(Path(__file__).with_name("faiss_search.py"))
        measured: Rows = in_own_process(script, f"{folder}/points.npy", k, THREADS, f"{folder}/found.npz")["rows"]
        with np.load(f"{folder}/found.npz") as found:
            return [row | {"recall": recall(found[row["search"]], truth)} for row in measured]


def main(path: str, k: int, sizes: list[int]) -> None:
    table: Rows = []
    for n in sizes:
        points = reduce(load_source(path, n)[0], DIMENSIONS, 0)
        rows = np.random.default_rng(1).choice(n, min(n, 1000), replace=False)
        truth = true_neighbors(points, rows, k)
        for measured in (measure_own, measure_faiss):
            table += [{"n": n, "k": k} | row for row in measured(points, k, rows, truth)]
            print(*table, sep="\n", flush=True)
    name = source_name(path) + ("" if DIMENSIONS == DEFAULT_DIMENSIONS else f"_{DIMENSIONS}d")
    title = f"Neighbor searches on {source_name(path)}, at most {DIMENSIONS} dimensions, {THREADS} threads"
    save(f"neighbors_{name}", title, table)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[2:]]
    main(sys.argv[1], numbers[0] if numbers else 90, numbers[1:] or [2_000, 5_000, 10_000, 20_000, 40_000, 70_000])
