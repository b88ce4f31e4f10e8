"""Reduction of partitions: the local one's moments, summed over all of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.components import NUMBERS_IN_SAMPLE, sample_rows
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.extremes import (
    Census,
    Extremes,
    Threshold,
    describe_crowd,
    find_threshold,
    join_censuses,
    judge_census,
    take_census,
)
from pixelsne.inputs import without_mask
from pixelsne.reduce import (
    NUMBERS_PER_BLOCK,
    WIDEST_COVARIANCE,
    Dimensions,
    Reduction,
    Sample,
    Units,
    as_doubles,
    blocks_as_they_are,
    covariance_of,
    directions_to_keep,
    fix_signs,
    largest_magnitude,
    mean_row,
    reduces,
    spread_of,
    top_directions,
)
from pixelsne.row_transforms import ROW_TRANSFORMS


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


def sampled_rows(block: Block, first_row: int, rows: int, numbers: int) -> Any:
    """Those rows of a partition, in float64, that the local reduction would sample. rows: of all partitions."""
    chosen = sample_rows(rows, block.values.shape[1], numbers) - first_row
    return as_doubles(block.values[chosen[(chosen >= 0) & (chosen < len(block.values))]])


def stacked(parts: list[Any]) -> Any:
    return np.concatenate(parts)


def make_threshold(sample: Any, found: Moments, metric: str) -> Threshold | None:
    return None if ROW_TRANSFORMS[metric].apply else find_threshold(sample, found.total)


def census(block: Block, threshold: Threshold | None, first_row: int) -> Census | None:
    """What lies beyond the threshold; None where nothing can."""
    if threshold is None or len(block.values) == 0:
        return None
    blocks = blocks_as_they_are(block.values, token())
    return join_censuses([take_census(part, threshold, first_row + rows.start) for rows, part in blocks])


def joined(parts: list[Census | None]) -> Census | None:
    known = [part for part in parts if part is not None]
    return join_censuses(known) if known else None


def make_extremes(counted: Census | None, sample: Any, found: Moments, metric: str) -> Extremes:
    if counted is not None:
        return judge_census(counted, found.total)
    return Extremes(None, found.total, "" if ROW_TRANSFORMS[metric].apply else describe_crowd(sample, found.total))


def make_units(extremes: Extremes, metric: str) -> Units:
    return Units(extremes.magnitude or 1.0, metric, extremes.ordinary)


def make_mean(found: Moments) -> Any:
    return found.total / found.rows


def make_reduction(
    units: Units, mean: Any, found: Moments, dimensions: Dimensions, sample: Any, extremes: Extremes
) -> Reduction:
    """From the products, or where nothing is reduced (None), from the squares."""
    directions, spread = None, found.total
    if dimensions is not None:
        spread = float(np.trace(found.total))
    if isinstance(dimensions, int):
        directions = top_directions(found.total, min(dimensions, found.rows, len(mean)))
    elif dimensions is not None:
        directions = directions_to_keep(found.total, found.rows, Sample.of(sample.copy(), units, mean))
    scale = float(np.sqrt(spread / (found.rows * len(mean)))) or 1.0
    signed = None if directions is None else fix_signs(directions)
    return Reduction(units, mean, scale, signed, extremes.warning)


def apply(reduction: Reduction, block: Block) -> Points:
    return reduction.apply(block.values, token(), 1)


@dataclass(frozen=True)
class Rows:
    """All partitions, as futures, and the number of each one's first row."""

    blocks: Sequence[Any]
    first_rows: Sequence[int]
    shape: tuple[int, int]  # of all together

    def sample(self, runner: TaskRunner, numbers: int) -> Any:
        """The future of the rows that the local reduction would sample, so many numbers at most."""
        placed = zip(self.blocks, self.first_rows, strict=True)
        parts = [runner.task("reduce", sampled_rows, block, first, self.shape[0], numbers) for block, first in placed]
        return runner.task("reduce", stacked, parts)


def find_extremes(runner: TaskRunner, rows: Rows, metric: str) -> Any:
    """The future of Extremes."""
    found = runner.join("reduce", largest, [runner.task("reduce", magnitude, block) for block in rows.blocks])
    sample = rows.sample(runner, NUMBERS_PER_BLOCK)
    threshold = runner.task("reduce", make_threshold, sample, found, metric)
    placed = zip(rows.blocks, rows.first_rows, strict=True)
    censuses = [runner.task("reduce", census, block, threshold, first) for block, first in placed]
    return runner.task("reduce", make_extremes, runner.join("reduce", joined, censuses), sample, found, metric)


def fit_reduction(runner: TaskRunner, rows: Rows, dimensions: Dimensions, metric: str) -> Any:
    """The future of a Reduction, the same as the local one's but for rounding."""
    columns = rows.shape[1]
    is_reduced = reduces(columns, dimensions)
    if is_reduced and columns > WIDEST_COVARIANCE:
        raise ValueError(
            f"X has {columns:,} columns; distributed PCA takes up to {WIDEST_COVARIANCE:,}. Reduce it first "
            "(dask_ml.decomposition.TruncatedSVD, for example), or pass n_pca=None"
        )
    extremes = find_extremes(runner, rows, metric)
    units = runner.task("reduce", make_units, extremes, metric)
    totals = [runner.task("reduce", sums, block, units) for block in rows.blocks]
    mean = runner.task("reduce", make_mean, runner.join("reduce", added, totals))
    measure = products if is_reduced else squares
    spreads = [runner.task("reduce", measure, block, units, mean) for block in rows.blocks]
    whole = runner.join("reduce", added, spreads)
    sample = rows.sample(runner, NUMBERS_IN_SAMPLE) if is_reduced and dimensions == "auto" else None
    return runner.task(
        "reduce", make_reduction, units, mean, whole, dimensions if is_reduced else None, sample, extremes
    )


def digest(block: Block) -> str:
    """Of a partition's numbers and their kind."""
    found = hashlib.blake2b(str(block.values.dtype).encode(), digest_size=16)
    found.update(block.values.data)
    return found.hexdigest()


def join_digests(parts: list[str]) -> str:
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
