"""Time the paper's trees, which differ in one property at a time, on the maps of one run.

All trees are timed on the same maps, so only the tree differs. The map in the middle of 100 iterations represents all
100. The core's two trees are timed, too.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.cells import Cell, Result
from experiments.data.catalog import open_prepared
from experiments.literal_tree import VARIANTS, LiteralTree
from experiments.methods import METHODS
from pixelsne.arrays import Positions
from pixelsne.repulsion import Repulsion, repel_by_barnes_hut, repel_by_pixel_tree
from pixelsne.schedule import SPACING
from pixelsne.screen import Screen
from pixelsne.settings import settings_of

ITERATIONS_BETWEEN_MAPS = 100

# The fastest of several evaluations counts, because other load can only add time.
EVALUATIONS = 3


def trees(cell: Cell) -> Result:
    """Return the seconds that a whole run would spend in each tree."""
    model = METHODS[cell.method].model(cell.resolution, cell.seed, cell.threads)
    settings = settings_of(model, cell.seed)
    methods: dict[str, Repulsion] = {
        str(variant): LiteralTree(variant, settings.resolution, settings.theta) for variant in VARIANTS
    }
    methods["core, point leaves"] = repel_by_barnes_hut(settings)
    methods["core, pixel leaves"] = repel_by_pixel_tree(settings)
    spent = dict.fromkeys(methods, 0.0)
    for number, (positions, screen) in enumerate(maps_of(model, cell)):
        # The order rotates, so that no tree always runs after the same other tree, which would leave the caches alike.
        names = list(methods)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            spent[name] += ITERATIONS_BETWEEN_MAPS * seconds_of(methods[name], positions, screen)
    return {"tree seconds": spent, "points": len(positions), "iterations": settings.max_iter}


def maps_of(model: Any, cell: Cell) -> Iterator[tuple[Positions, Screen]]:
    """Yield the map in the middle of every 100 iterations."""
    points = open_prepared(cell.data, cell.n, subset=cell.subset).points
    for snapshot in model.make_run(points).snapshots():
        if snapshot.screen is not None and snapshot.iteration % ITERATIONS_BETWEEN_MAPS == ITERATIONS_BETWEEN_MAPS // 2:
            yield snapshot.positions, snapshot.screen


def seconds_of(repel: Callable[..., float], positions: Positions, screen: Screen) -> float:
    push, seconds = np.empty_like(positions), []
    for _ in range(EVALUATIONS):
        began = time.perf_counter()
        repel(positions, screen, push, SPACING)
        seconds.append(time.perf_counter() - began)
    return min(seconds)
