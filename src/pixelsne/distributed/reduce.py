"""Reduction of partitions: the local one's moments, summed over all of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.sized import Sized
from pixelsne.inputs import without_mask
from pixelsne.reduce import (
    WIDEST_COVARIANCE,
    Reduction,
    Units,
    covariance_of,
    fix_signs,
    largest_magnitude,
    mean_row,
    spread_of,
    top_directions,
)


@dataclass(frozen=True)
class Block(Sized):
    """Rows of one partition, checked."""

    number: int  # of the partition
    values: Any  # (rows, d)
    names: tuple[str, ...] = ()  # of the columns, if they have some


@dataclass(frozen=True)
class Moments(Sized):
    rows: int
    total: Any  # sums over the rows


def check_shape(number: int, shape: tuple[int, ...], declared: tuple[int | None, int]) -> None:
    """ValueError if a partition is not as large as its dask array says. No number of rows: unknown."""
    expected = shape[0] if declared[0] is None else declared[0], declared[1]
    if shape != expected:
        raise ValueError(
            f"partition {number} of X has shape {shape}, but X.chunks declares {expected}; make X with the true chunks "
            "or, where the number of rows is not known, with nan"
        )


def count_rows(block: Block) -> int:
    return len(block.values)


def read_block(partition: Any, number: int, declared: tuple[int | None, int] | None = None) -> Block:
    """The numbers of a partition, checked. declared: its shape, where it is known."""
    if np.ma.isMaskedArray(partition):
        partition = without_mask(partition, f"partition {number} of X", "da.ma.filled(X, value)")
    values = np.ascontiguousarray(partition)
    if values.ndim != 2 or values.dtype.kind not in "biuf":  # noqa: PLR2004
        raise ValueError(f"partition {number} must hold numbers (rows, columns), has {values.dtype} {values.shape}")
    if declared is not None:
        check_shape(number, values.shape, declared)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(f"partition {number}, row {row}: NaN or infinity; leave the row out or fill it in")
    return Block(number, values)


def token() -> _core.ProgressToken:
    return _core.ProgressToken()


def magnitude(block: Block) -> Moments:
    rows = len(block.values)
    return Moments(rows, largest_magnitude(block.values, token()) if rows else 0.0)


def largest(parts: list[Moments]) -> Moments:
    return Moments(sum(part.rows for part in parts), max(part.total for part in parts))


def sums(block: Block, units: Units) -> Moments:
    rows = len(block.values)
    return Moments(rows, rows * mean_row(block.values, units, token()) if rows else np.zeros(block.values.shape[1]))


def squares(block: Block, units: Units, mean: Any) -> Moments:
    """The sum of all squared deviations."""
    return Moments(len(block.values), spread_of(block.values, units, mean, token()))


def products(block: Block, units: Units, mean: Any) -> Moments:
    """(d, d) sums of products of deviations, the lower half."""
    return Moments(len(block.values), covariance_of(block.values, units, mean, token()))


def added(parts: list[Moments]) -> Moments:
    return Moments(sum(part.rows for part in parts), sum(part.total for part in parts))


def make_units(found: Moments, to_length_one: bool) -> Units:  # noqa: FBT001
    return Units(found.total or 1.0, to_length_one)


def make_mean(found: Moments) -> Any:
    return found.total / found.rows


def make_reduction(units: Units, mean: Any, found: Moments, dimensions: int | None) -> Reduction:
    """From the products, or where nothing is reduced, from the squares."""
    directions, spread = None, found.total
    if dimensions is not None:
        spread = float(np.trace(found.total))
        directions = fix_signs(top_directions(found.total, min(dimensions, found.rows, len(mean))))
    scale = float(np.sqrt(spread / (found.rows * len(mean)))) or 1.0
    return Reduction(units, mean, scale, directions)


def apply(reduction: Reduction, block: Block) -> Points:
    return reduction.apply(block.values, token(), 1)


def fit_reduction(crew: Crew, blocks: Sequence[Any], columns: int, dimensions: int | None, *, cosine: bool) -> Any:
    """The future of a Reduction, the same as the local one's but for rounding."""
    reduces = dimensions is not None and columns > dimensions
    if reduces and columns > WIDEST_COVARIANCE:
        raise ValueError(
            f"X has {columns:,} columns; distributed PCA takes up to {WIDEST_COVARIANCE:,}. Reduce it first "
            "(dask_ml.decomposition.TruncatedSVD, for example), or pass n_pca=None"
        )
    magnitudes = [crew.task("reduce", magnitude, block) for block in blocks]
    units = crew.task("reduce", make_units, crew.join("reduce", largest, magnitudes), cosine)
    totals = [crew.task("reduce", sums, block, units) for block in blocks]
    mean = crew.task("reduce", make_mean, crew.join("reduce", added, totals))
    measure = products if reduces else squares
    spreads = [crew.task("reduce", measure, block, units, mean) for block in blocks]
    whole = crew.join("reduce", added, spreads)
    return crew.task("reduce", make_reduction, units, mean, whole, dimensions if reduces else None)


def digest(block: Block) -> str:
    """Of a partition's numbers and their kind."""
    found = hashlib.blake2b(str(block.values.dtype).encode(), digest_size=16)
    found.update(block.values.data)
    return found.hexdigest()


def join_digests(parts: list[str]) -> str:
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
