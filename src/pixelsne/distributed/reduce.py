"""Read, check and reduce the partitions of the input on the workers, with the same code as on one machine."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.components import sample_rows
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.inputs import without_mask
from pixelsne.reduce import Dimensions, Part, fit, reduces
from pixelsne.reduction import MAX_COVARIANCE_COLUMNS, Reduction, as_doubles

Result = TypeVar("Result")


@dataclass(frozen=True)
class Block(Sized):
    """The checked rows of one partition."""

    number: int  # index of the partition
    values: Any  # (rows, d)
    names: tuple[str, ...] = ()  # column names, if there are any


def check_shape(number: int, shape: tuple[int, ...], declared: tuple[int | None, int]) -> None:
    """Raise ValueError if a partition has another shape than its dask array declares. None: unknown number of rows."""
    expected = shape[0] if declared[0] is None else declared[0], declared[1]
    if shape != expected:
        raise ValueError(
            f"partition {number} of X has shape {shape}, but X.chunks declares {expected}; make X with the true chunks "
            "or, where the number of rows is not known, with nan"
        )


def count_rows(block: Block) -> int:
    return len(block.values)


def read_block(partition: Any, number: int, declared: tuple[int | None, int] | None = None) -> Block:
    """Return the numbers of a partition, after checking them. declared: its shape, if it is known."""
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


def call_on_part(block: Block, first_row: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function of a Part on the worker that holds its rows."""
    return function(Part(block.values, first_row, _core.ProgressToken()), *arguments)


def sampled_rows(block: Block, first_row: int, rows: int, numbers: int) -> Any:
    """Return the rows of a partition that one machine would sample, in float64. rows: the number of all rows."""
    chosen = sample_rows(rows, block.values.shape[1], numbers) - first_row
    return as_doubles(block.values[chosen[(chosen >= 0) & (chosen < len(block.values))]])


@dataclass(frozen=True)
class ShardedRows:
    """All partitions, as futures, and the index of the first row of each."""

    runner: TaskRunner
    blocks: Sequence[Any]
    first_rows: Sequence[int]
    shape: tuple[int, int]

    def map_reduce(
        self, function: Callable[..., Result], join: Callable[[Sequence[Result]], Result], *arguments: Any
    ) -> Result:
        parts = self.runner.map("reduce", call_on_part, self.blocks, self.first_rows, shared=(function, arguments))
        result: Result = self.runner.gather([self.runner.tree_reduce("reduce", join, parts)])[0]
        return result

    def sample(self, numbers: int) -> Any:
        shared = (self.shape[0], numbers)
        parts = self.runner.map("reduce", sampled_rows, self.blocks, self.first_rows, shared=shared)
        return np.concatenate(self.runner.gather(parts))

    def expect(self, passes: int) -> None:
        """Do nothing: the client counts completed tasks instead."""


def fit_reduction(rows: ShardedRows, dimensions: Dimensions, seed: int, metric: str) -> Reduction:
    """Return the reduction. Up to rounding, it equals that of one machine."""
    columns = rows.shape[1]
    if reduces(columns, dimensions) and columns > MAX_COVARIANCE_COLUMNS:
        raise ValueError(
            f"X has {columns:,} columns; distributed PCA takes up to {MAX_COVARIANCE_COLUMNS:,}. Reduce it first "
            "(dask_ml.decomposition.TruncatedSVD, for example), or pass n_pca=None"
        )
    return fit(rows, dimensions, seed, metric)


def send(reduction: Reduction) -> Reduction:
    """Return the reduction. As a task, it sends the reduction to the cluster once instead of once per partition."""
    return reduction


def apply(block: Block, reduction: Reduction) -> Points:
    return reduction.apply(block.values, _core.ProgressToken(), 1)


def digest(block: Block) -> str:
    """Return a hash of a partition's numbers and their dtype."""
    hashed = hashlib.blake2b(str(block.values.dtype).encode(), digest_size=16)
    hashed.update(block.values.data)
    return hashed.hexdigest()


def join_digests(parts: list[str]) -> str:
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
