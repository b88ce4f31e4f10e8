"""The halo of a shard: the points of other shards that its points have edges with. Their positions are sent encoded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import RowIndex, ShardAffinities
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

    In a map of 300 units, the error is at most a 400th of a unit, which changes no quality measure (a test compares).
    """

    coding: "_core.Coding"
    numbers: NDArray[np.uint16]  # (points, 2)


def encode(positions: Positions, chosen: Any, threads: int) -> EncodedPositions:
    return EncodedPositions(*_core.encode_positions(positions, chosen, threads))


def decode(encoded: EncodedPositions, chosen: Any, center: tuple[float, float], to: Positions, threads: int) -> None:
    """Write the chosen positions, minus the center, to (chosen, 2)."""
    _core.decode_positions(encoded.coding, aligned(encoded.numbers), aligned(chosen), center, to, threads)


def needed_rows(affinities: ShardAffinities, shards: int) -> list[Any]:
    """Return, for each shard, the input rows of its points that this shard needs."""
    return [affinities.halo_rows[affinities.halo_owners == shard] for shard in range(shards)]


def export_halo(affinities: ShardAffinities, needed: list[Any]) -> HaloExport:
    """Return the points that at least one other shard needs."""
    indices = np.unique(RowIndex(affinities.rows, 0).find(np.concatenate(needed))[0])
    return HaloExport(affinities.rows[indices], indices)


def exported_rows(export: HaloExport) -> Any:
    return export.rows


def locate_halo(affinities: ShardAffinities, exported: list[Any]) -> list[Any]:
    """Return, for each shard, which of the points it exports are in this shard's halo, by index."""
    needed = needed_rows(affinities, len(exported))
    return [RowIndex(rows, 0).find(halo_rows)[0] for rows, halo_rows in zip(exported, needed, strict=True)]


def exchange_halo(runner: TaskRunner, affinities: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the HaloExport of each shard, and the indices of each shard's halo in those, as futures."""
    by_shard = runner.map_shards("halo", needed_rows, affinities, shared=(runner.shards,))
    exports = runner.map_shards("halo", export_halo, affinities, runner.transpose("halo", by_shard, runner.shards))
    exported = runner.map("halo", exported_rows, exports)
    return exports, runner.map_shards("halo", locate_halo, affinities, shared=(exported,))
