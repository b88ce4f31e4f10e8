"""Time and memory of one run of PixelSNE, by stage: `stages.py VALUES.npy RESOLUTION ITERATIONS THREADS`.

Meant to be started by scaling.py, once for each run.
"""

import json
import sys
import time

import numpy as np

from measure import Clock, peak_memory
from pixelsne import PixelSNE, _core
from pixelsne.repulsion import choose_repulsion
from pixelsne.screen import Screen
from pixelsne.settings import settings_of

ALONG = [1, 50, *range(100, 1001, 100)]
WINDOW = 20  # iterations over which a time per iteration is the median: every 50th takes longer, it also looks


def follow(model: PixelSNE, values: np.ndarray) -> np.ndarray:
    """Fits the model; seconds of each iteration but the first, (iterations - 1)."""
    marks = [time.perf_counter() for snapshot in model.iter_fit(values) if snapshot.screen is not None]
    return np.diff(marks)


def milliseconds_at(seconds: np.ndarray, iteration: int) -> float:
    """The median of the window that ends with this iteration, or begins with the second one."""
    last = max(iteration - 1, min(WINDOW, len(seconds)))
    return 1000 * float(np.median(seconds[max(0, last - WINDOW) : last]))


def repulsion_milliseconds(model: PixelSNE) -> float:
    """One evaluation of the repulsion on the finished map, best of five."""
    settings = settings_of(model)
    repel = choose_repulsion(settings, len(model.positions_))
    bounds = _core.bounds(model.positions_, settings.threads)
    screen, push = Screen.around(bounds, settings.resolution, settings.aspect), np.empty_like(model.positions_)
    best = np.inf
    for _ in range(5):
        with Clock() as clock:
            repel(model.positions_, screen, push)
        best = min(best, clock.seconds)
    return 1000 * best


def child(path: str, resolution: int, iterations: int, threads: int) -> None:
    values = np.load(path)
    model = PixelSNE(resolution, max_iter=iterations, tol=0.0, random_state=0, n_jobs=threads)
    with Clock() as clock:
        seconds = follow(model, values)
    memory = peak_memory()
    result = {
        "n": len(values),
        "r": resolution,
        **{f"{stage}, s": spent for stage, spent in model.timings_.items()},
        "ms per iteration, early": milliseconds_at(seconds, 50),
        "ms per iteration, late": milliseconds_at(seconds, iterations),
        "repulsion, ms": repulsion_milliseconds(model),
        "total, s": clock.seconds,
        "peak memory, GB": memory,
        "along": {at: milliseconds_at(seconds, at) for at in ALONG if at <= iterations},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    child(sys.argv[1], *map(int, sys.argv[2:]))
