"""Time the parts of an iteration by the number of points, on finished maps.

The time of a whole run also depends on the maps on the way: with a fixed learning rate, maps of more points unfold
more slowly, and the time of a tree depends on the state of the map.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.ablation import seconds_of
from experiments.cells import Cell, Result
from experiments.data.catalog import open_prepared
from experiments.methods import METHODS
from pixelsne import _core
from pixelsne.affinities import joint_affinities
from pixelsne.arrays import Positions
from pixelsne.neighbors import find_neighbors
from pixelsne.repulsion import repel_by_barnes_hut, repel_by_pixel_field, repel_by_pixel_tree
from pixelsne.settings import Settings, settings_of

SIDES = (512, 2048)  # a screen with far fewer pixels than points, and one with more

ATTRACTION_IN_INPUT_ORDER = "attraction, input order"
ATTRACTION_IN_CLUSTER_ORDER = "attraction, cluster order"


def parts(cell: Cell) -> Result:
    """Return the seconds of one evaluation of each part."""
    points = open_prepared(cell.data, cell.n, subset=cell.subset).points
    model = METHODS["ours"].model(cell.resolution, cell.seed, cell.threads).fit(points)
    positions, screen = np.ascontiguousarray(model.positions_), model.screen_
    spent = {}
    for side in SIDES:
        settings = settings_for(cell, side)
        smaller = type(screen).around(_core.bounds(positions, 1), settings.resolution, settings.aspect)
        spent[f"tree with pixel leaves, r = {side}"] = seconds_of(repel_by_pixel_tree(settings), positions, smaller)
    spent["tree with point leaves"] = seconds_of(repel_by_barnes_hut(settings), positions, screen)
    spent["pixel field"] = seconds_of(repel_by_pixel_field(settings), positions, screen)
    for name, reorder in ((ATTRACTION_IN_INPUT_ORDER, False), (ATTRACTION_IN_CLUSTER_ORDER, True)):
        spent[name] = seconds_of(make_attraction(points, settings, reorder=reorder), positions, screen)
    return {"part seconds": spent, "points": len(points)}


def settings_for(cell: Cell, side: int) -> Settings:
    model = METHODS["pixelsne-rp"].model(side, cell.seed, cell.threads)
    return settings_of(model, cell.seed)


def make_attraction(points: Any, settings: Settings, *, reorder: bool) -> Callable[..., float]:
    """Return the attraction along P with the signature of a repulsion, so that it is timed in the same way."""
    k = int(3 * max(settings.perplexity))
    neighbors = find_neighbors(points, k, "clusters", settings.seed, settings.threads, reorder=reorder)
    joint = joint_affinities(neighbors, settings.perplexity, settings.threads)
    attraction = _core.Attraction(joint.offsets, joint.columns, joint.values)
    ordered: list[Positions] = []  # the map in the order of the affinities, computed once

    def attract(positions: Positions, _screen: Any, force: Positions, _spacing: float) -> float:
        if not ordered:
            ordered.append(positions if neighbors.order is None else positions[neighbors.order])
        attraction.forces(ordered[0], force, settings.threads)
        return 0.0

    return attract
