"""Neighbors and affinities of each shard. An edge between two shards is sent once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.affinities import calibrate
from pixelsne.arrays import Positions
from pixelsne.distributed.initial_positions import Axes, initial_positions
from pixelsne.distributed.shards import ShardPoints
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.distributed.task_runner import TaskRunner, threads_here
from pixelsne.initial_positions import DEFAULT_INIT_SCALE
from pixelsne.neighborhood import Neighborhood
from pixelsne.neighbors import find_neighbors_of_first
from pixelsne.settings import Settings

COLUMNS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Edges(Sized):
    """Edges from the points of one shard to those of another, with their kernel values."""

    source_rows: NDArray[np.int64]  # rows of the input, each once
    target_rows: NDArray[np.int64]
    sources: NDArray[np.int32]  # (edges) indices into source_rows
    targets: NDArray[np.int32]
    values: NDArray[np.float32]


@dataclass(frozen=True)
class ShardKernels(Sized):
    """The kernels of a shard's points, in an order that keeps near points close in memory."""

    shard: int
    own: int
    rows: NDArray[np.int64]  # (own + ghosts) of the input
    owners: NDArray[np.int32]  # (own + ghosts)
    positions: Positions  # (own, 2), the initial ones
    indices: NDArray[np.int32]  # (own, k) among own points and ghosts
    values: NDArray[np.float32]  # (own, k)


@dataclass(frozen=True)
class ShardAffinities(Sized):
    """A shard's rows of P. Columns below `own` are its own points, the others its halo."""

    shard: int
    rows: NDArray[np.int64]  # (own) of the input
    offsets: NDArray[np.int64]  # (own + 1)
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    halo_rows: NDArray[np.int64]  # (halo) of the input, by owner
    halo_owners: NDArray[np.int32]  # (halo) ascending


def compute_kernels(
    shard_points: ShardPoints, neighborhood: Neighborhood, settings: Settings, axes: Axes | None
) -> ShardKernels:
    """Find neighbors, kernels and initial positions of the points that a shard owns."""
    own, k = shard_points.own, neighborhood.n_neighbors
    if own == 0:
        raise ValueError("a shard got no points; use fewer workers for so little data")
    if k >= len(shard_points.rows):
        raise ValueError(f"a shard has {len(shard_points.rows):,} points, too few for {k} neighbors; use fewer workers")
    threads = threads_here()
    found = find_neighbors_of_first(shard_points.points, own, k, settings.seed, threads)
    values = calibrate(found, neighborhood.perplexity, threads).values
    # The search reorders the points a shard owns, not its ghosts.
    order = np.arange(len(shard_points.rows))
    if found.order is not None:
        order[:own] = found.order
    deviation = settings.init_scale or DEFAULT_INIT_SCALE  # None is refused before the run
    positions = initial_positions(shard_points.points[:own], axes, settings.seed + shard_points.shard, deviation)
    return ShardKernels(
        shard_points.shard,
        own,
        shard_points.rows[order],
        shard_points.owners[order],
        positions[order[:own]],
        found.indices,
        values,
    )


def renumbered(indices: Any, count: int) -> tuple[Any, Any]:
    """Return the distinct indices, ascending, and for each index its position among them. All are below `count`."""
    occurs = np.zeros(count, dtype=bool)
    occurs[indices] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(occurs), numbers[indices]


def outgoing_edges(kernels: ShardKernels, shards: int) -> list[Edges]:
    """Return, for each other shard, the edges that end there."""
    edges = np.flatnonzero(kernels.indices.ravel() >= kernels.own)
    owners = kernels.owners[kernels.indices.ravel()[edges]]
    k = kernels.indices.shape[1]
    parts = []
    for shard in range(shards):
        chosen = edges[owners == shard]
        source_points, sources = renumbered(chosen // k, kernels.own)
        target_points, targets = renumbered(kernels.indices.ravel()[chosen], len(kernels.rows))
        rows = kernels.rows[source_points], kernels.rows[target_points]
        parts.append(Edges(*rows, sources, targets, kernels.values.ravel()[chosen]))
    return parts


@dataclass(frozen=True)
class KnownPoints:
    """All points that a shard knows: those it owns, its ghosts, then others with edges to points it owns."""

    rows: NDArray[np.int64]  # of the input
    owners: NDArray[np.int32]


class RowIndex:
    """Find points by their rows of the input."""

    def __init__(self, rows: Any, first: int) -> None:
        self._order = np.argsort(rows, kind="stable")
        self._sorted, self._first = rows[self._order], first

    def find(self, rows: Any) -> tuple[Any, Any]:
        """Return the number of each row, counted from `first`, and whether it is known."""
        if not len(self._sorted):
            return np.zeros(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=bool)
        found = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        return (self._first + self._order[found]).astype(np.int32), self._sorted[found] == rows


# The arguments of the core: numbers of the source points and target points, then the three arrays of Edges.
IncomingEdges = list[tuple[Any, Any, Any, Any, Any]]


def number_incoming(kernels: ShardKernels, received: list[Edges]) -> tuple[KnownPoints, IncomingEdges]:
    """Return the edges received from other shards, with their ends numbered as in this shard."""
    own = kernels.own
    here, ghosts = RowIndex(kernels.rows[:own], 0), RowIndex(kernels.rows[own:], own)
    rows, owners, known = [kernels.rows], [kernels.owners], len(kernels.rows)
    parts: IncomingEdges = []
    for shard, edges in enumerate(received):
        numbers, is_known = ghosts.find(edges.source_rows)
        unknown_rows = edges.source_rows[~is_known]
        numbers[~is_known] = np.arange(known, known + len(unknown_rows))
        rows.append(unknown_rows)
        owners.append(np.full(len(unknown_rows), shard, dtype=np.int32))
        known += len(unknown_rows)
        targets = here.find(edges.target_rows)[0]
        parts.append((numbers, targets, aligned(edges.sources), aligned(edges.targets), aligned(edges.values)))
    return KnownPoints(np.concatenate(rows), np.concatenate(owners)), parts


def first_occurrences(columns: Any, count: int) -> Any:
    """Return (count) the index at which each number occurs first; len(columns) for those that never occur."""
    first = np.full(count, len(columns), dtype=np.int64)
    for end in range(len(columns), 0, -COLUMNS_AT_ONCE):
        begin = max(0, end - COLUMNS_AT_ONCE)
        # Assign backwards: for repeated numbers, NumPy keeps the last assignment, which is the first occurrence.
        first[columns[begin:end][::-1]] = np.arange(end - 1, begin - 1, -1)
    return first


def number_halo(columns: Any, own: int, known: KnownPoints) -> tuple[Any, Any]:
    """Renumber columns in place: points the shard owns, then its halo; return the halo's rows and owners.

    The halo is ordered by shard, then by first occurrence. Rows near each other share neighbors, so the positions that
    they read are close in memory.
    """
    first = first_occurrences(columns, len(known.rows))
    others = own + np.flatnonzero(first[own:] < len(columns))
    others = others[np.lexsort((first[others], known.owners[others]))]
    numbers = np.arange(len(known.rows), dtype=np.int32)
    numbers[others] = np.arange(own, own + len(others))
    for begin in range(0, len(columns), COLUMNS_AT_ONCE):
        columns[begin : begin + COLUMNS_AT_ONCE] = numbers[columns[begin : begin + COLUMNS_AT_ONCE]]
    return known.rows[others], known.owners[others]


def assemble(kernels: ShardKernels, received: list[Edges], n: int) -> ShardAffinities:
    """Return the shard's rows of P = (C + C^T) / 2n. received: for every shard, its edges that end here."""
    known, parts = number_incoming(kernels, received)
    offsets, columns, values = _core.joint_affinities_of_part(
        aligned(kernels.indices),
        aligned(kernels.values),
        parts,
        len(known.rows),
        n,
        _core.ProgressToken(),
        threads_here(),
    )
    halo_rows, halo_owners = number_halo(columns, kernels.own, known)
    rows = kernels.rows[: kernels.own].copy()
    return ShardAffinities(kernels.shard, rows, offsets, columns, values, halo_rows, halo_owners)


def distribute_affinities(
    runner: TaskRunner, shard_points: list[Any], axes: Any, neighborhood: Neighborhood, n: int, settings: Settings
) -> tuple[list[Any], list[Any]]:
    """Return the kernels of each shard and its rows of P, as futures."""
    kernels = runner.map_shards("neighbors", compute_kernels, shard_points, shared=(neighborhood, settings, axes))
    sent = runner.map_shards("affinities", outgoing_edges, kernels, shared=(runner.shards,))
    received = runner.transpose("affinities", sent, runner.shards)
    return kernels, runner.map_shards("affinities", assemble, kernels, received, shared=(n,))
