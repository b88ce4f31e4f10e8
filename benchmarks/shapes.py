"""Synthetic data with a known global arrangement, which maps should preserve. All are float32 with 50 columns.

Each function takes a number of rows and a seed and returns the rows and a class for each.
"""

from typing import Any

import numpy as np

COLUMNS = 50
LEAVES = (4, 5, 5)  # super-clusters, clusters in each, sub-clusters in each
LEAF_DEVIATIONS = (20.0, 6.0, 2.0)  # deviations of the means on each level
SEGMENTS = 20  # classes along a curve or a roll
BRANCHES = 31  # branches of a binary tree


def nested(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Clusters in clusters in clusters, 4 x 5 x 5; a class is one of the 100 smallest."""
    rng, n = np.random.default_rng(seed), n or 20_000
    means = np.zeros((1, COLUMNS))
    for parts, deviation in zip(LEAVES, LEAF_DEVIATIONS, strict=True):
        means = np.repeat(means, parts, axis=0)
        means = means + rng.normal(0, deviation, means.shape)
    labels = rng.integers(0, len(means), n)
    return (means[labels] + rng.normal(0, 0.5, (n, COLUMNS))).astype(np.float32), labels


def curve(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """A smooth closed curve with a little noise, rows in the order of the curve; a class is a twentieth of it."""
    rng, n = np.random.default_rng(seed), n or 10_000
    angle = 2 * np.pi * np.arange(n) / n
    frequency = np.arange(1, 11)
    weights = rng.normal(0, 1, (2, len(frequency), COLUMNS)) / np.sqrt(frequency)[:, None]
    rows = np.cos(angle[:, None] * frequency) @ weights[0] + np.sin(angle[:, None] * frequency) @ weights[1]
    rows += rng.normal(0, 0.01, rows.shape)
    return rows.astype(np.float32), np.arange(n) * SEGMENTS // n


def swiss_roll(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """A rolled-up sheet, rotated into 50 dimensions; a class is a twentieth of the way along the roll."""
    rng, n = np.random.default_rng(seed), n or 10_000
    along, across = np.sort(rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)), rng.uniform(0, 20, n)
    sheet = np.column_stack([along * np.cos(along), across, along * np.sin(along)])
    rows = sheet @ np.linalg.qr(rng.normal(size=(COLUMNS, 3)))[0].T
    return (rows + rng.normal(0, 0.05, rows.shape)).astype(np.float32), np.arange(n) * SEGMENTS // n


def tree(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """A binary tree of straight branches in random directions; a class is a branch."""
    rng, n = np.random.default_rng(seed), n or 10_000
    steps = rng.normal(0, 1, (BRANCHES, COLUMNS))
    ends = np.zeros((BRANCHES, COLUMNS))
    starts = np.zeros((BRANCHES, COLUMNS))
    for branch in range(BRANCHES):
        starts[branch] = 0 if branch == 0 else ends[(branch - 1) // 2]
        ends[branch] = starts[branch] + 10 * steps[branch] / np.linalg.norm(steps[branch])
    labels, along = rng.integers(0, BRANCHES, n), rng.uniform(0, 1, (n, 1))
    rows = starts[labels] + along * (ends - starts)[labels] + rng.normal(0, 0.1, (n, COLUMNS))
    return rows.astype(np.float32), labels


def noise(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Normal noise without any arrangement; classes are random."""
    rng, n = np.random.default_rng(seed), n or 10_000
    return rng.standard_normal((n, COLUMNS), dtype=np.float32), rng.integers(0, 10, n)


SHAPES = {"nested": nested, "curve": curve, "swiss_roll": swiss_roll, "tree": tree, "noise": noise}


def share_beside_relatives(positions: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of the classes of `nested` whose nearest class on the map belongs to the same super-cluster."""
    centers = np.array([positions[labels == leaf].mean(axis=0) for leaf in range(np.prod(LEAVES))])
    distances = np.square(centers[:, None] - centers[None]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    per_super = len(centers) // LEAVES[0]
    return float(np.mean(distances.argmin(axis=1) // per_super == np.arange(len(centers)) // per_super))


def tears(positions: np.ndarray) -> int:
    """Return how often consecutive points of a `curve` are more than ten times as far apart as the median."""
    steps = np.linalg.norm(np.diff(positions, axis=0, append=positions[:1]), axis=1)
    return int(np.sum(steps > 10 * np.median(steps)))
