"""Measure the error of both trees, compared with all pairs, on a finished map: `force_error.py mnist.npz [points]`."""

import sys

import numpy as np

from measure import Clock, Rows, load_points, save
from pixelsne import PixelSNE, _core
from pixelsne.screen import Screen


def relative_error(push: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.square(push - truth).sum() / np.square(truth).sum()))


def main(path: str, n: int) -> None:
    points, _ = load_points(path, n)
    positions = PixelSNE(random_state=0, repulsion="barnes-hut", theta=0.3, tol=0).fit(points).positions_
    truth = np.empty_like(positions)
    normalizer = _core.exact_repulsion(positions, truth, 2)
    bounds = _core.bounds(positions, 2)
    rows: Rows = []
    for theta in (0.2, 0.3, 0.5, 0.8, 1.0):
        methods = [("barnes-hut", "mass", None)]
        methods += [("pixel-tree", center, r) for center in ("mass", "cell") for r in (512, 1024, 2048, 4096)]
        for method, center, r in methods:
            tree, push = _core.TreeRepulsion(), np.empty_like(positions)
            with Clock() as clock:
                if r is None:
                    found = tree.barnes_hut(positions, theta, push, 2)
                else:
                    screen = Screen.around(bounds, (r, r), "fill")
                    found = tree.pixel_tree(
                        positions, screen.origin, screen.unit_per_pixel, (r, r), theta, center, push, 2
                    )
            rows.append({
                "theta": theta,
                "method": method,
                "center": center,
                "r": r or "",
                "RMS force error, %": 100 * relative_error(push, truth),
                "normalizer error, %": 100 * abs(found / normalizer - 1),
                "milliseconds": 1000 * clock.seconds,
                "cells": len(tree.cells()),
            })  # fmt: skip
    save("force_error", f"Force error of the trees on a finished map of {len(positions):,} MNIST digits", rows)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 70_000)
