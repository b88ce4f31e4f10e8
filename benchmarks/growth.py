"""Time per iteration and memory against the number of points: `growth.py [DATA.npz] [n ...]`.

Without data: Gaussian clusters. Each size runs in a process of its own: 300 iterations of PixelSNE-RP with
perplexity 30 (k = 90) at r = 1024, 2 threads.
"""

import json
import sys
from pathlib import Path

import numpy as np

from measure import Rows, clusters, in_own_process, load, peak_memory, save
from pixelsne import PixelSNE, _core
from pixelsne.descent import Snapshot
from pixelsne.screen import Screen

ITERATIONS = 300
SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]


def milliseconds(positions: np.ndarray, center: str) -> float:
    """One evaluation of the pixel tree, best of five."""
    import time  # noqa: PLC0415

    tree, push = _core.TreeRepulsion(), np.empty_like(positions)
    screen = Screen.around(_core.bounds(positions, 2), (1024, 1024), "fill")
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        tree.pixel_tree(positions, screen.origin, screen.unit_per_pixel, (1024, 1024), 0.5, center, push, 2)
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def child(source: str, n: int) -> None:
    points = clusters(n)[0] if source == "clusters" else load(source, n)[0].astype(np.float32)
    marks: dict[int, float] = {}

    def mark(snapshot: Snapshot) -> None:
        import time  # noqa: PLC0415

        marks[snapshot.iteration] = time.perf_counter()

    model = PixelSNE.preset(
        "pixelsne-rp", perplexity=30, learning_rate="auto", max_iter=ITERATIONS, random_state=0, callback=mark
    ).fit(points)
    memory = peak_memory()
    result = {
        "n": n,
        **{f"{stage}, s": seconds for stage, seconds in model.timings_.items()},
        "ms an iteration, first 50": 1000 * (marks[50] - marks[1]) / 49,
        "ms an iteration, last 50": 1000 * (marks[ITERATIONS] - marks[ITERATIONS - 50]) / 50,
        "pixel tree (cell), ms": milliseconds(model.positions_, "cell"),
        "pixel tree (mass), ms": milliseconds(model.positions_, "mass"),
        "peak memory, GB": memory,
    }
    print(json.dumps(result))


def main(source: str, sizes: list[int]) -> None:
    rows: Rows = []
    for n in sizes:
        rows.append(in_own_process(__file__, "--child", source, n))
        if len(rows) > 1:
            for head in ("ms an iteration, last 50", "pixel tree (cell), ms"):
                rows[-1][f"{head}: growth by n"] = (rows[-1][head] / rows[-2][head]) / (n / rows[-2]["n"])
        print(rows[-1], flush=True)
    name = "clusters" if source == "clusters" else Path(source).stem
    save(f"growth_{name}", f"PixelSNE-RP on {name}, perplexity 30, r = 1024, {ITERATIONS} iterations", rows)


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
        names = [argument for argument in sys.argv[1:] if not argument.isdigit()]
        main(names[0] if names else "clusters", numbers or SIZES)
