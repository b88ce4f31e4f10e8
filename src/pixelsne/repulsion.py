"""Compute the repulsive forces between all points, by one of several methods.

Contract: a method writes the push on every point, sum over j of w_j (y_i - y_j) / (1 + d^2)^2, undivided and without
the factor 4, and returns the normalizer Z, sum over i != j of w_i w_j / (1 + d^2). Without weights, all w are 1.
The last argument, the spacing of the lattice, is for the pixel field.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.screen import Screen

if TYPE_CHECKING:  # settings reads the table below to check names
    from pixelsne.settings import Settings

Repulsion = Callable[[Positions, Screen, Positions, float], float]  # positions, screen, push (written), spacing -> Z
Weights = NDArray[np.float32] | None  # (n), positive

# Up to this many points, all pairs take about a millisecond.
EXACT_UP_TO = 2_000

# The most nodes per side of the field's lattice: USUAL_MAX_NODES, or the pixels of the screen or NODES_PER_ROOT times
# the root of n if those are more, up to MAX_NODES, which keeps memory below half a gigabyte. Where a map needs more
# nodes, beyond 850 units for the first, the spacing of the lattice grows.
USUAL_MAX_NODES = 2048
NODES_PER_ROOT = 2.0
MAX_NODES = 4096

# Up to this many points, an exact normalizer for the final KL takes about a second.
EXACT_NORMALIZER_UP_TO = 50_000


def repel_exactly(settings: "Settings", weights: Weights = None) -> Repulsion:
    def repel(positions: Positions, _screen: Screen, push: Positions, _spacing: float) -> float:
        return _core.exact_repulsion(positions, push, settings.threads, weights)

    return repel


def repel_by_barnes_hut(settings: "Settings", weights: Weights = None) -> Repulsion:
    tree = _core.TreeRepulsion()

    def repel(positions: Positions, _screen: Screen, push: Positions, _spacing: float) -> float:
        return tree.barnes_hut(positions, settings.theta, push, settings.threads, weights)

    return repel


def repel_by_pixel_tree(settings: "Settings", weights: Weights = None) -> Repulsion:
    tree = _core.TreeRepulsion()

    def repel(positions: Positions, screen: Screen, push: Positions, _spacing: float) -> float:
        return tree.pixel_tree(
            positions,
            screen.origin,
            screen.unit_per_pixel,
            screen.resolution,
            settings.theta,
            settings.center,
            push,
            settings.threads,
            weights,
        )

    return repel


def repel_by_pixel_field(settings: "Settings", weights: Weights = None) -> Repulsion:
    field = _core.FieldRepulsion()

    def repel(positions: Positions, _screen: Screen, push: Positions, spacing: float) -> float:
        usual = max(*settings.resolution, USUAL_MAX_NODES, int(NODES_PER_ROOT * math.sqrt(len(positions))))
        most_nodes = min(usual, MAX_NODES) // 16 * 16
        return field.pixel_field(positions, most_nodes, push, settings.threads, weights, spacing)

    return repel


METHODS: dict[str, Callable[["Settings", Weights], Repulsion]] = {
    "exact": repel_exactly,
    "barnes-hut": repel_by_barnes_hut,
    "pixel-tree": repel_by_pixel_tree,
    "pixel-field": repel_by_pixel_field,
}


def choose_repulsion(settings: "Settings", n: int, weights: Weights = None) -> Repulsion:
    name = settings.repulsion
    if name == "auto":
        name = "exact" if n <= EXACT_UP_TO else "pixel-field"
    return METHODS[name](settings, weights)


def best_normalizer(positions: Positions, threads: int, weights: Weights = None) -> float:
    """Return the normalizer Z: exact up to EXACT_NORMALIZER_UP_TO points, above that by the field (within 0.02 %)."""
    push = np.empty_like(positions)
    if len(positions) <= EXACT_NORMALIZER_UP_TO:
        return _core.exact_repulsion(positions, push, threads, weights)
    return _core.FieldRepulsion().pixel_field(positions, MAX_NODES, push, threads, weights)
