"""Synthetic data that are hard for a search by clusters.

Each function returns points (n, d) float32. It also returns special rows, such as noise between clusters, whose recall
a mean over all rows would hide, or None.
"""

from collections.abc import Callable

import numpy as np

PointsAndRows = tuple[np.ndarray, np.ndarray | None]


def noise(n: int, seed: int = 0) -> PointsAndRows:
    """A hundred tight clusters. One in a hundred points is noise between them."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (100, 50))[rng.integers(0, 100, n)] + rng.normal(0, 0.1, (n, 50))
    rows = rng.choice(n, n // 100, replace=False)
    points[rows] = rng.uniform(-1, 1, (len(rows), 50))
    return points.astype(np.float32), rows


def uniform(n: int, seed: int = 0) -> PointsAndRows:
    return np.random.default_rng(seed).random((n, 50), dtype=np.float32), None


def nested(n: int, seed: int = 0) -> PointsAndRows:
    """Clusters of clusters of clusters: 4 x 5 x 5, with deviations of 20, 6 and 2, and 0.5 within."""
    rng = np.random.default_rng(seed)
    shapes = {20.0: (4, 1, 1, 50), 6.0: (4, 5, 1, 50), 2.0: (4, 5, 5, 50)}
    centers = sum(rng.normal(0, deviation, shape) for deviation, shape in shapes.items())
    points = np.reshape(centers, (100, 50))[rng.integers(0, 100, n)] + rng.normal(0, 0.5, (n, 50))
    return points.astype(np.float32), None


def student(n: int, seed: int = 0) -> PointsAndRows:
    """Independent columns of Student's t with two degrees of freedom."""
    return np.random.default_rng(seed).standard_t(2, (n, 50)).astype(np.float32), None


def elliptic_student(n: int, seed: int = 0) -> PointsAndRows:
    """The multivariate t distribution: uniform directions, lengths with a heavy tail."""
    rng = np.random.default_rng(seed)
    lengths = np.sqrt(rng.chisquare(2, (n, 1)) / 2)
    return (rng.standard_normal((n, 50)) / lengths).astype(np.float32), None


def duplicates(n: int, seed: int = 0) -> PointsAndRows:
    """Four copies of each point on average, from clusters with noise between them."""
    few = noise(n // 4, seed)[0]
    return few[np.random.default_rng(seed).integers(0, len(few), n)], None


def swiss_roll(n: int, seed: int = 0) -> PointsAndRows:
    """A rolled-up plane, rotated into 50 dimensions, with a little noise."""
    rng = np.random.default_rng(seed)
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    roll = np.column_stack([angle * np.cos(angle), 21 * rng.random(n), angle * np.sin(angle)])
    directions = np.linalg.qr(rng.standard_normal((50, 3)))[0]
    return (roll @ directions.T + rng.normal(0, 0.01, (n, 50))).astype(np.float32), None


def outliers(n: int, seed: int = 0) -> PointsAndRows:
    """Seven points of the nested clusters at a distance of about 1e15."""
    points = nested(n, seed)[0]
    rows = np.random.default_rng(seed).choice(n, 7, replace=False)
    points[rows] *= np.float32(1e15 / 20)
    return points, rows


SETS: dict[str, Callable[[int], PointsAndRows]] = {
    "noise": noise,
    "uniform": uniform,
    "nested": nested,
    "student": student,
    "elliptic-student": elliptic_student,
    "duplicates": duplicates,
    "swiss-roll": swiss_roll,
    "outliers": outliers,
}
