"""Measure the error of the pixel field during a run: `field_error.py DATA ...`, DATA as in compare_peers.py.

At several iterations of a default run, the repulsion on 2,000 random points is compared with that of all pairs, by a
lattice of the spacing that the schedule has there. The finished map is measured with several spacings, and the error of
a tree everywhere. The resolution of the screen has no effect: up to 2,048 nodes along each axis the
lattice is as fine as the kernel needs, and no map here needs more.
"""

import argparse

import numpy as np

from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE, _core
from pixelsne.affinities import joint_affinities
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.neighborhood import choose_neighborhood
from pixelsne.neighbors import find_neighbors
from pixelsne.schedule import COARSE_SPACING, COOLING_SPACING, SPACING
from pixelsne.settings import settings_of

ITERATIONS = (1, 20, 40, 90, 120, 150, 199, 225, 249)
SPACINGS = (SPACING, COOLING_SPACING, 0.7, 0.85, COARSE_SPACING, 1.2)
MAX_NODES = 2048
SAMPLED_ROWS = 2000
MANY = 200_000  # from here on, a fifth of the rows is enough
ROWS_PER_BLOCK = 20


def push_on_rows(positions: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the push (rows, 2) and the kernel sum (rows) over all points, in float64."""
    positions = positions.astype(np.float64)
    push, kernels = np.empty((len(rows), 2)), np.empty(len(rows))
    for first in range(0, len(rows), ROWS_PER_BLOCK):
        block = slice(first, first + ROWS_PER_BLOCK)
        differences = positions[rows[block], None] - positions
        kernel = 1 / (1 + np.square(differences).sum(axis=2))
        push[block] = (differences * np.square(kernel)[..., None]).sum(axis=1)
        kernels[block] = kernel.sum(axis=1)
    return push, kernels


def error_of(push: np.ndarray, truth: np.ndarray) -> float:
    return 100 * float(np.sqrt(np.square(push - truth).sum() / np.square(truth).sum()))


def compare(positions: np.ndarray, rows: np.ndarray, spacing: float, threads: int) -> dict[str, object]:
    truth, kernels = push_on_rows(positions, rows)
    field, tree, push = _core.FieldRepulsion(), _core.TreeRepulsion(), np.empty_like(positions)
    field.pixel_field(positions, MAX_NODES, push, threads, spacing=spacing)  # computes the kernel's spectrum
    with Clock() as clock:
        field.pixel_field(positions, MAX_NODES, push, threads, spacing=spacing)
    chosen, columns, lines, outliers, used_tree = field.lattice()
    field_error, worst = error_of(push[rows], truth), np.max(np.hypot(*(push[rows] - truth).T) / kernels)
    with Clock() as tree_clock:
        tree.barnes_hut(positions, 0.5, push, threads)
    return {
        "span": float(np.ptp(positions, axis=0).max()),
        "lattice": "tree" if used_tree else f"{columns} x {lines}",
        "spacing asked for": spacing,
        "spacing": chosen,
        "outliers": outliers,
        "RMS error, %": field_error,
        "worst, % of kernels": 100 * float(worst),
        "milliseconds": 1000 * clock.seconds,
        "tree (theta 0.5): error, %": error_of(push[rows], truth),
        "tree: milliseconds": 1000 * tree_clock.seconds,
    }


def follow(source: str, threads: int) -> Rows:
    points, _ = load_points(source)
    settings = settings_of(PixelSNE(tol=0.0, repulsion="pixel-field", n_jobs=threads))
    neighborhood = choose_neighborhood(settings, len(points))
    found = find_neighbors(points, neighborhood.n_neighbors, "auto", 0, threads)
    affinities = joint_affinities(found, neighborhood.perplexity, threads)
    descent = Descent(affinities, initial_positions(points, "pca", 0), settings)
    sampled = SAMPLED_ROWS if len(points) <= MANY else SAMPLED_ROWS // 5
    rows = np.random.default_rng(0).permutation(len(points))[:sampled]
    name = {"data": source_name(source), "n": len(points)}
    measured: Rows = []

    def measure(iteration: int, spacing: float) -> None:
        error = compare(descent.positions, rows, spacing, threads)
        measured.append({**name, "iteration": iteration, **error})
        print(measured[-1], flush=True)

    measure(0, descent.schedule[0].spacing)
    for snapshot in descent:
        if snapshot.iteration in ITERATIONS:
            measure(snapshot.iteration, descent.schedule[snapshot.iteration].spacing)
    for spacing in SPACINGS:
        measure(descent.iteration, spacing)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    rows = [row for source in options.data for row in follow(source, options.threads)]
    save("field_error", "Error of the pixel field along a run, against all pairs", rows)


if __name__ == "__main__":
    main()
