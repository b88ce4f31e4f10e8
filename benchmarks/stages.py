"""Measure time and memory of one run of PixelSNE, by stage: `stages.py VALUES.npy RESOLUTION ITERATIONS THREADS`.

Started by scaling.py, once for each run.
"""

import json
import sys
import time

import numpy as np

from measure import Clock, peak_memory
from pixelsne import PixelSNE, _core
from pixelsne.repulsion import choose_repulsion
from pixelsne.schedule import SPACING
from pixelsne.screen import Screen
from pixelsne.settings import settings_of

ALONG = [1, 50, *range(100, 1001, 100)]
WINDOW = 20  # iterations that a median is taken over; every 50th iteration takes longer, because it measures the map


def follow(model: PixelSNE, values: np.ndarray) -> np.ndarray:
    """Fit the model; return the seconds of each iteration but the first, (iterations - 1)."""
    marks = [time.perf_counter() for snapshot in model.iter_fit(values) if snapshot.screen is not None]
    return np.diff(marks)


def milliseconds_at(seconds: np.ndarray, iteration: int) -> float:
    """Return the median of the window that ends with this iteration, or of the first window."""
    last = max(iteration - 1, min(WINDOW, len(seconds)))
    return 1000 * float(np.median(seconds[max(0, last - WINDOW) : last]))


def repulsion_milliseconds(model: PixelSNE) -> float:
    """Return the time of one evaluation of the repulsion on the finished map, best of five."""
    settings = settings_of(model)
    repel = choose_repulsion(settings, len(model.positions_))
    bounds = _core.bounds(model.positions_, settings.threads)
    screen, push = Screen.around(bounds, settings.resolution, settings.aspect), np.empty_like(model.positions_)
    best = np.inf
    for _ in range(5):
        with Clock() as clock:
            repel(model.positions_, screen, push, SPACING)
        best = min(best, clock.seconds)
    return 1000 * best


def child(path: str, resolution: int, iterations: int, threads: int) -> None:
    values = np.load(path)
    model = PixelSNE(resolution=resolution, max_iter=iterations, tol=0.0, random_state=0, n_jobs=threads)
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
        "along": {iteration: milliseconds_at(seconds, iteration) for iteration in ALONG if iteration <= iterations},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    child(sys.argv[1], *map(int, sys.argv[2:]))
