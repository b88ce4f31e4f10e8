"""Measure the time of the parts of both trees: `tree_profile.py mnist.npz`.

The parts of an evaluation are building the tree (sorting the points, counting the cells) and traversing it. Attraction
is measured, too. The maps are a finished map of MNIST, and Gaussian clusters in two dimensions with far more points
than pixels.
"""

import sys

import numpy as np

from measure import Clock, Rows, load_points, save
from pixelsne import PixelSNE, _core
from pixelsne.affinities import joint_affinities
from pixelsne.neighbors import find_neighbors
from pixelsne.screen import Screen

REPETITIONS = 20


def profile(positions: np.ndarray, method: str, r: int, threads: int) -> dict[str, object]:
    tree, push = _core.TreeRepulsion(), np.empty_like(positions)
    screen = Screen.around(_core.bounds(positions, threads), (r, r), "fill")
    seconds = []
    for _ in range(REPETITIONS if len(positions) < 200_000 else 3):
        if method == "barnes-hut":
            tree.barnes_hut(positions, 0.5, push, threads)
        else:
            tree.pixel_tree(positions, screen.origin, screen.unit_per_pixel, (r, r), 0.5, method, push, threads)
        seconds.append(tree.seconds())
    build, walk = 1000 * np.median(seconds, axis=0)
    cells = tree.cells()
    return {
        "method": method if method == "barnes-hut" else f"pixel-tree, {method}, r = {r}",
        "threads": threads,
        "build, ms": float(build),
        "walk, ms": float(walk),
        "cells": len(cells),
        "deepest level": int(cells[:, 0].max()) if method != "barnes-hut" else "",
    }


def other_parts(points: np.ndarray, positions: np.ndarray, threads: int) -> dict[str, object]:
    affinities = joint_affinities(find_neighbors(points, 150, "rp-forest", 0, 2), (50.0,), 2)
    attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
    force = np.empty_like(positions)
    with Clock() as clock:
        for _ in range(REPETITIONS):
            attraction.forces(positions, force, threads)
    return {
        "method": "attraction (the same for both)",
        "threads": threads,
        "walk, ms": 1000 * clock.seconds / REPETITIONS,
    }


def main(path: str) -> None:
    points, _ = load_points(path)
    changes = {"center": "mass", "learning_rate": "auto", "random_state": 0, "max_iter": 500}
    digits = PixelSNE.preset("pixelsne-rp", **changes).fit(points).positions_
    rng = np.random.default_rng(0)
    dense = (rng.normal(0, 60, (100, 2))[rng.integers(0, 100, 1_000_000)] + rng.normal(0, 10, (1_000_000, 2))).astype(
        np.float32
    )
    rows: Rows = []
    for name, positions in (("MNIST, 70,000", digits), ("clusters, 1,000,000", dense)):
        for threads in (1, 2):
            for method, r in [("barnes-hut", 1024), *[(c, r) for c in ("cell", "mass") for r in (512, 1024, 4096)]]:
                rows.append({"map": name, **profile(positions, method, r, threads)})
            if positions is digits:
                rows.append({"map": name, **other_parts(points, positions, threads)})
    save("tree_profile", "One evaluation of the repulsion, theta 0.5, on a finished map", rows)


if __name__ == "__main__":
    main(sys.argv[1])
