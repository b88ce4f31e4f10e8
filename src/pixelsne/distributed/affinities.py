"""Neighbors and affinities, shard by shard; edges between shards travel once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.affinities import calibrate
from pixelsne.arrays import Points
from pixelsne.distributed.crew import Crew, threads_here
from pixelsne.distributed.shards import Residents, take
from pixelsne.distributed.sized import Sized
from pixelsne.neighbors import find_neighbors_of_first
from pixelsne.settings import Settings


@dataclass(frozen=True)
class Edges(Sized):
    """Kernels of one shard's points over those of another: from whom, to whom, how strong."""

    sources: NDArray[np.int64]  # rows of the input
    targets: NDArray[np.int64]
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Searched(Sized):
    """A shard's points, in an order in which near ones are close together, with their kernels."""

    shard: int
    rows: NDArray[np.int64]  # (own) of the input
    axes: Points  # (own, p): where they are, for the start
    indices: NDArray[np.int64]  # (own, k) rows of the input
    owners: NDArray[np.int32]  # (own, k) shards of those
    values: NDArray[np.float32]  # (own, k)


@dataclass(frozen=True)
class Rows(Sized):
    """A shard's rows of P: columns below `own` are its own points, the others its halo."""

    shard: int
    rows: NDArray[np.int64]  # (own)
    offsets: NDArray[np.int64]  # (own + 1)
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    halo_rows: NDArray[np.int64]  # (halo) of the input, by owner, then ascending
    halo_owners: NDArray[np.int32]  # (halo) ascending


def search(residents: Residents, k: int, settings: Settings) -> Searched:
    if residents.own == 0:
        raise ValueError("a shard got no points; use fewer workers for so little data")
    if k >= len(residents.rows):
        raise ValueError(f"a shard sees {len(residents.rows):,} points, too few for {k} neighbors; use fewer workers")
    threads = threads_here()
    found = find_neighbors_of_first(residents.points, residents.own, k, settings.seed, threads)
    values = calibrate(found, settings.perplexity, threads).values
    order = np.arange(residents.own) if found.order is None else found.order
    # Own points were numbered anew, visitors were not.
    numbers = np.arange(len(residents.rows))
    numbers[: residents.own] = order
    indices = numbers[found.indices]
    return Searched(
        residents.shard,
        residents.rows[order],
        np.ascontiguousarray(residents.points[order]),
        residents.rows[indices],
        residents.owners[indices],
        values,
    )


def outgoing(searched: Searched, shards: int) -> list[Edges]:
    """For each shard, the edges that end there."""
    sources = np.broadcast_to(searched.rows[:, None], searched.indices.shape)
    parts = []
    for shard in range(shards):
        chosen = searched.owners == shard
        parts.append(Edges(sources[chosen], searched.indices[chosen], searched.values[chosen]))
    return parts


def assemble(searched: Searched, arrived: list[Edges], n: int) -> Rows:
    """P = (C + C^T) / 2n, the shard's rows. `arrived`: from every shard, the own one too, what ends here."""
    own = len(searched.rows)
    by_row = np.argsort(searched.rows, kind="stable")
    known = searched.rows[by_row]
    halo_rows, halo_owners = halo_of(searched, arrived)
    finder = np.argsort(halo_rows, kind="stable")

    def local(rows: Any, owners: Any) -> Any:
        """Places of rows of the input: own points, then the halo."""
        mine = owners == searched.shard
        places = np.empty(rows.shape, dtype=np.int32)
        places[mine] = by_row[np.searchsorted(known, rows[mine])]
        places[~mine] = own + finder[np.searchsorted(halo_rows, rows[~mine], sorter=finder)]
        return places

    shape = (own, own + len(halo_rows))
    columns = local(searched.indices, searched.owners)
    offsets = np.arange(0, columns.size + 1, columns.shape[1])
    forward = sparse.csr_array((searched.values.ravel(), columns.ravel(), offsets), shape=shape)
    backward = sparse.csr_array(shape, dtype=np.float32)
    for shard, edges in enumerate(arrived):
        rows = by_row[np.searchsorted(known, edges.targets)]
        places = local(edges.sources, np.full(len(edges.sources), shard))
        backward = backward + sparse.coo_array((edges.values, (rows, places)), shape=shape).tocsr()
    joint = (forward + backward).tocsr()
    values = (joint.data / np.float32(2 * n)).astype(np.float32)
    return Rows(
        searched.shard,
        searched.rows,
        joint.indptr.astype(np.int64),
        joint.indices.astype(np.int32),
        values,
        halo_rows,
        halo_owners,
    )


def halo_of(searched: Searched, arrived: list[Edges]) -> tuple[Any, Any]:
    """Points of other shards that this one has edges with."""
    rows, owners = [], []
    for shard, edges in enumerate(arrived):
        if shard != searched.shard:
            there = np.unique(np.concatenate([searched.indices[searched.owners == shard], edges.sources]))
            rows.append(there)
            owners.append(np.full(len(there), shard, dtype=np.int32))
    if not rows:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    return np.concatenate(rows), np.concatenate(owners)


def distribute_affinities(crew: Crew, residents: list[Any], k: int, n: int, settings: Settings) -> list[Any]:
    """Stages 2 and 3: the rows of P of each shard, and where its points are in space; futures."""
    searched = [crew.task("neighbors", search, one, k, settings, shard=s) for s, one in enumerate(residents)]
    sent = [crew.task("affinities", outgoing, one, crew.shards, shard=s) for s, one in enumerate(searched)]
    arrived = [[crew.task("affinities", take, one, shard) for one in sent] for shard in range(crew.shards)]
    rows = [
        crew.task("affinities", assemble, one, edges, n, shard=s)
        for s, (one, edges) in enumerate(zip(searched, arrived, strict=True))
    ]
    return list(zip(searched, rows, strict=True))
