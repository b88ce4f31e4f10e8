"""The halo of a shard: points of other shards that its points have edges with, and how their positions are sent."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import RowIndex, Rows
from pixelsne.distributed.shards import take
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.distributed.task_runner import TaskRunner


@dataclass(frozen=True)
class HaloExport(Sized):
    """The points of a shard that other shards need."""

    rows: NDArray[np.int64]  # of the input
    indices: NDArray[np.int32]  # in the shard, ascending


@dataclass(frozen=True)
class EncodedPositions(Sized):
    """Positions to be sent, in 16 bits per coordinate, relative to their bounds.

    A map of 300 units is then known to a 400th of a unit, which no measure of quality notices (a test compares).
    """

    coding: "_core.Coding"
    numbers: NDArray[np.uint16]  # (points, 2)


def encode(positions: Positions, chosen: Any, threads: int) -> EncodedPositions:
    return EncodedPositions(*_core.encode_positions(positions, chosen, threads))


def decode(encoded: EncodedPositions, chosen: Any, center: tuple[float, float], to: Positions, threads: int) -> None:
    """Write the chosen positions, minus the center, to (chosen, 2)."""
    _core.decode_positions(encoded.coding, aligned(encoded.numbers), aligned(chosen), center, to, threads)


def needed_rows(rows: Rows, shards: int) -> list[Any]:
    """Return, for each shard, the rows of its points that this one needs."""
    return [rows.halo_rows[rows.halo_owners == shard] for shard in range(shards)]


def export_halo(rows: Rows, asked: list[Any]) -> HaloExport:
    """Return the points that at least one other shard asked for."""
    indices = np.unique(RowIndex(rows.rows, 0).find(np.concatenate(asked))[0])
    return HaloExport(rows.rows[indices], indices)


def exported_rows(exported: HaloExport) -> Any:
    return exported.rows


def locate_halo(rows: Rows, exported: list[Any]) -> list[Any]:
    """Return, for each shard, the indices of this shard's halo among the points that one exports."""
    return [
        RowIndex(there, 0).find(rows.halo_rows[rows.halo_owners == shard])[0] for shard, there in enumerate(exported)
    ]


def exchange_halo(runner: TaskRunner, rows: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the HaloExport of each shard, and where each shard finds its halo in those; futures."""
    lists = [runner.task("halo", needed_rows, one, runner.shards, shard=s) for s, one in enumerate(rows)]
    asked = [[runner.task("halo", take, one, shard) for one in lists] for shard in range(runner.shards)]
    exported = runner.each("halo", export_halo, rows, asked)
    told = [runner.task("halo", exported_rows, one) for one in exported]
    return exported, [runner.task("halo", locate_halo, one, told, shard=s) for s, one in enumerate(rows)]
