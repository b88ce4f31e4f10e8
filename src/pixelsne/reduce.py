"""From any numeric input to centered float32 points of few dimensions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray, Points

Float64s = NDArray[np.float64]

# Rows are read in blocks of about this many numbers, so that no second copy of the input is made.
NUMBERS_PER_BLOCK = 4_000_000

# A covariance matrix of this many columns takes 128 MB; wider input goes to scikit-learn's solver.
WIDEST_COVARIANCE = 4096


def exact_blocks(values: AnyArray) -> Iterator[tuple[slice, Float64s]]:
    """The rows of `values`, block after block, in float64."""
    rows = max(1, NUMBERS_PER_BLOCK // max(1, values.shape[1]))
    for first in range(0, len(values), rows):
        block = slice(first, first + rows)
        yield block, values[block].astype(np.float64)


def standardize(values: AnyArray) -> Points:
    """Centered, and divided by one common scale, in float64 before the result becomes float32.

    1e30 must not overflow when squared, and an offset of 1e9 must not swallow the variation. One scale
    for all columns leaves every ratio of distances as it was.
    """
    largest = max(float(np.abs(block).max()) for _, block in exact_blocks(values))
    unit = largest if largest > 0 else 1.0  # squares of values / unit cannot overflow
    mean = sum((block / unit).sum(axis=0) for _, block in exact_blocks(values)) / len(values)
    spread = sum(np.square(block / unit - mean).sum() for _, block in exact_blocks(values))
    scale = float(np.sqrt(spread / values.size)) or 1.0
    points = np.empty(values.shape, dtype=np.float32)
    for rows, block in exact_blocks(values):
        points[rows] = (block / unit - mean) / scale
    return points


def principal_components(points: Points, count: int, seed: int) -> Points:
    """Coordinates along the `count` directions of largest variance, (n, count)."""
    if points.shape[1] > WIDEST_COVARIANCE:
        from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import and rarely needed

        solver: Any = PCA(count, random_state=seed % 2**32)
        return np.ascontiguousarray(solver.fit_transform(points), dtype=np.float32)
    mean = points.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((points.shape[1], points.shape[1]))
    for _, block in exact_blocks(points):
        centered = block - mean
        covariance += centered.T @ centered
    directions = np.linalg.eigh(covariance)[1][:, ::-1][:, :count]
    # The sign of an eigenvector is arbitrary: let its largest entry be positive, on every machine.
    largest = np.abs(directions).argmax(axis=0)
    directions *= np.sign(directions[largest, np.arange(count)])
    reduced = np.empty((len(points), count), dtype=np.float32)
    for rows, block in exact_blocks(points):
        reduced[rows] = (block - mean) @ directions
    return reduced


def reduce(values: AnyArray, dimensions: int | None, seed: int) -> Points:
    """Stage 1: at most `dimensions` columns (None = all), the largest directions of variance first."""
    points = standardize(values)
    if dimensions is None or points.shape[1] <= dimensions:
        return points
    return principal_components(points, min(dimensions, *points.shape), seed)
