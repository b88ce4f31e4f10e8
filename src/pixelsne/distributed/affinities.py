"""Neighbors and affinities, shard by shard; edges between shards travel once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.affinities import calibrate
from pixelsne.arrays import Positions
from pixelsne.distributed.crew import Crew, threads_here
from pixelsne.distributed.initial_positions import Axes, start_positions
from pixelsne.distributed.shards import Residents, take
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.neighbors import find_neighbors_of_first
from pixelsne.settings import Settings

COLUMNS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Edges(Sized):
    """Kernels of one shard's points over those of another: from whom, to whom, how strong."""

    source_rows: NDArray[np.int64]  # rows of the input, each once
    target_rows: NDArray[np.int64]
    sources: NDArray[np.int32]  # (edges) places in source_rows
    targets: NDArray[np.int32]
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Searched(Sized):
    """A shard's points, in an order in which near ones are close together, with their kernels."""

    shard: int
    own: int
    rows: NDArray[np.int64]  # (own + visitors) of the input
    owners: NDArray[np.int32]  # (own + visitors)
    start: Positions  # (own, 2)
    indices: NDArray[np.int32]  # (own, k) among own points and visitors
    values: NDArray[np.float32]  # (own, k)


@dataclass(frozen=True)
class Rows(Sized):
    """A shard's rows of P: columns below `own` are its own points, the others its halo."""

    shard: int
    rows: NDArray[np.int64]  # (own)
    offsets: NDArray[np.int64]  # (own + 1)
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    halo_rows: NDArray[np.int64]  # (halo) of the input, by owner
    halo_owners: NDArray[np.int32]  # (halo) ascending


def search(residents: Residents, k: int, settings: Settings, axes: Axes | None) -> Searched:
    own = residents.own
    if own == 0:
        raise ValueError("a shard got no points; use fewer workers for so little data")
    if k >= len(residents.rows):
        raise ValueError(f"a shard sees {len(residents.rows):,} points, too few for {k} neighbors; use fewer workers")
    threads = threads_here()
    found = find_neighbors_of_first(residents.points, own, k, settings.seed, threads)
    values = calibrate(found, settings.perplexity, threads).values
    # Own points were numbered anew, visitors were not.
    order = np.arange(len(residents.rows))
    if found.order is not None:
        order[:own] = found.order
    start = start_positions(residents.points[:own], axes, settings.seed + residents.shard)
    return Searched(
        residents.shard,
        own,
        residents.rows[order],
        residents.owners[order],
        start[order[:own]],
        found.indices,
        values,
    )


def numbered(places: Any, count: int) -> tuple[Any, Any]:
    """Which of `count` there are, ascending, and the place of each among those."""
    there = np.zeros(count, dtype=bool)
    there[places] = True
    numbers = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(there), numbers[places]


def outgoing(searched: Searched, shards: int) -> list[Edges]:
    """For each other shard, the edges that end there."""
    edges = np.flatnonzero(searched.indices.ravel() >= searched.own)
    owners = searched.owners[searched.indices.ravel()[edges]]
    k = searched.indices.shape[1]
    parts = []
    for shard in range(shards):
        chosen = edges[owners == shard]
        from_whom, sources = numbered(chosen // k, searched.own)
        to_whom, targets = numbered(searched.indices.ravel()[chosen], len(searched.rows))
        rows = searched.rows[from_whom], searched.rows[to_whom]
        parts.append(Edges(*rows, sources, targets, searched.values.ravel()[chosen]))
    return parts


@dataclass(frozen=True)
class Known:
    """The points a shard has heard of: its own, its visitors, then those that only have edges to its own."""

    rows: NDArray[np.int64]  # of the input
    owners: NDArray[np.int32]


class Directory:
    """Finds points by their rows of the input."""

    def __init__(self, rows: Any, first: int) -> None:
        self._order = np.argsort(rows, kind="stable")
        self._sorted, self._first = rows[self._order], first

    def find(self, rows: Any) -> tuple[Any, Any]:
        """Their numbers, from `first` on, and whether they are there at all."""
        if not len(self._sorted):
            return np.zeros(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=bool)
        places = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        return (self._first + self._order[places]).astype(np.int32), self._sorted[places] == rows


Arrivals = list[tuple[Any, Any, Any, Any, Any]]  # as the core wants them


def arrivals(searched: Searched, arrived: list[Edges]) -> tuple[Known, Arrivals]:
    """The edges that come from elsewhere, with the numbers their ends have here."""
    own = searched.own
    here, visitors = Directory(searched.rows[:own], 0), Directory(searched.rows[own:], own)
    rows, owners, known = [searched.rows], [searched.owners], len(searched.rows)
    parts: Arrivals = []
    for shard, edges in enumerate(arrived):
        numbers, there = visitors.find(edges.source_rows)
        strangers = edges.source_rows[~there]
        numbers[~there] = np.arange(known, known + len(strangers))
        rows.append(strangers)
        owners.append(np.full(len(strangers), shard, dtype=np.int32))
        known += len(strangers)
        targets = here.find(edges.target_rows)[0]
        parts.append((numbers, targets, aligned(edges.sources), aligned(edges.targets), aligned(edges.values)))
    return Known(np.concatenate(rows), np.concatenate(owners)), parts


def first_met(columns: Any, count: int) -> Any:
    """(count) where each number comes first; len(columns) for those that never come."""
    first = np.full(count, len(columns), dtype=np.int64)
    for end in range(len(columns), 0, -COLUMNS_AT_ONCE):
        begin = max(0, end - COLUMNS_AT_ONCE)
        first[columns[begin:end][::-1]] = np.arange(end - 1, begin - 1, -1)  # of several, the last assignment holds
    return first


def number_halo(columns: Any, own: int, known: Known) -> tuple[Any, Any]:
    """Numbers columns anew, in place: own points, then others that have an edge; returns those.

    By shard, then by where they come first: rows that are near each other have neighbors in common, so their
    positions will be close in memory.
    """
    first = first_met(columns, len(known.rows))
    others = own + np.flatnonzero(first[own:] < len(columns))
    others = others[np.lexsort((first[others], known.owners[others]))]
    numbers = np.arange(len(known.rows), dtype=np.int32)
    numbers[others] = np.arange(own, own + len(others))
    for at in range(0, len(columns), COLUMNS_AT_ONCE):
        columns[at : at + COLUMNS_AT_ONCE] = numbers[columns[at : at + COLUMNS_AT_ONCE]]
    return known.rows[others], known.owners[others]


def assemble(searched: Searched, arrived: list[Edges], n: int) -> Rows:
    """P = (C + C^T) / 2n, the shard's rows. `arrived`: from every shard, what ends here."""
    known, parts = arrivals(searched, arrived)
    offsets, columns, values = _core.joint_affinities_of_part(
        aligned(searched.indices),
        aligned(searched.values),
        parts,
        len(known.rows),
        n,
        _core.ProgressToken(),
        threads_here(),
    )
    halo_rows, halo_owners = number_halo(columns, searched.own, known)
    return Rows(searched.shard, searched.rows[: searched.own].copy(), offsets, columns, values, halo_rows, halo_owners)


def distribute_affinities(
    crew: Crew, residents: list[Any], axes: Any, k: int, n: int, settings: Settings
) -> tuple[list[Any], list[Any]]:
    """Stages 2 to 4: where each shard's points start, and its rows of P; futures."""
    searched = [crew.task("neighbors", search, one, k, settings, axes, shard=s) for s, one in enumerate(residents)]
    sent = [crew.task("affinities", outgoing, one, crew.shards, shard=s) for s, one in enumerate(searched)]
    arrived = [[crew.task("affinities", take, one, shard) for one in sent] for shard in range(crew.shards)]
    rows = [
        crew.task("affinities", assemble, one, edges, n, shard=s)
        for s, (one, edges) in enumerate(zip(searched, arrived, strict=True))
    ]
    return searched, rows
