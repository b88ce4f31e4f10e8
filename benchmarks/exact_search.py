"""Measure the time to compare all pairs, and fit the constants of neighbors.exact_seconds: `exact_search.py [threads]`.

`neighbors="auto"` compares all pairs where the model predicts at most two seconds. Constants are fitted to relative
errors. Seconds are processor time divided by the threads, so that other load does not count.
"""

import math
import sys
import time

import numpy as np
from scipy.optimize import nnls

from measure import Rows, save
from pixelsne.neighbors import exact_seconds, find_neighbors

SIZES = (10_000, 20_000, 40_000)
DIMENSIONS = (2, 10, 30, 50, 100, 300)
NEIGHBORS = (10, 30, 90)
MAX_SECONDS = 5.0


def measure(n: int, d: int, k: int, threads: int) -> float:
    points = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    start = time.process_time()
    find_neighbors(points, k, "exact", 0, threads)
    return (time.process_time() - start) / threads


def fit(rows: Rows) -> np.ndarray:
    """Return seconds per pair, per coordinate of a pair, and per candidate."""
    terms = [
        [row["n"] ** 2, row["n"] ** 2 * row["d"], row["n"] * row["k"] * math.log(row["n"] / row["k"])] for row in rows
    ]
    seconds = np.array([row["seconds"] for row in rows])
    return np.asarray(nnls(np.array(terms) / seconds[:, None], np.ones(len(rows)))[0])


def main(threads: int) -> None:
    rows: Rows = []
    for n in SIZES:
        for d in DIMENSIONS:
            for k in NEIGHBORS:
                if exact_seconds(n, d, k) > MAX_SECONDS:
                    continue
                seconds = measure(n, d, k, threads)
                rows.append({"n": n, "d": d, "k": k, "seconds": seconds, "model": exact_seconds(n, d, k)})
                print(rows[-1], flush=True)
    pair, coordinate, candidate = fit(rows) * 1e9
    per_pair = f"{pair:.3g} ns per pair, {coordinate:.3g} ns per coordinate of a pair"
    notes = f"Fitted: {per_pair}, {candidate:.3g} ns per candidate."
    save("exact_search", f"Comparing all pairs, {threads} threads", rows, notes)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
