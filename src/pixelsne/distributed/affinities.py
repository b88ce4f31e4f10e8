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
    own: int
    rows: NDArray[np.int64]  # (own + visitors) of the input
    owners: NDArray[np.int32]  # (own + visitors)
    axes: Points  # (own, p): where they are, for the start
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
    halo_rows: NDArray[np.int64]  # (halo) of the input, by owner, then ascending
    halo_owners: NDArray[np.int32]  # (halo) ascending


def search(residents: Residents, k: int, settings: Settings) -> Searched:
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
    return Searched(
        residents.shard,
        own,
        residents.rows[order],
        residents.owners[order],
        residents.points[order[:own]],
        found.indices,
        values,
    )


def outgoing(searched: Searched, shards: int) -> list[Edges]:
    """For each other shard, the edges that end there."""
    sources, ranks = np.nonzero(searched.indices >= searched.own)
    targets = searched.indices[sources, ranks]
    owners = searched.owners[targets]
    parts = []
    for shard in range(shards):
        chosen = np.flatnonzero(owners == shard)
        there, here = targets[chosen], sources[chosen]
        parts.append(Edges(searched.rows[here], searched.rows[there], searched.values[here, ranks[chosen]]))
    return parts


def halo_of(searched: Searched, arrived: list[Edges]) -> tuple[Any, Any]:
    """Points of other shards that this one has edges with: by shard, then ascending."""
    met = np.zeros(len(searched.rows), dtype=bool)
    met[searched.indices.ravel()] = True
    met[: searched.own] = False
    parts = []
    for shard, edges in enumerate(arrived):
        visitors = searched.rows[met & (searched.owners == shard)]
        parts.append(np.union1d(visitors, edges.sources))
    owners = np.repeat(np.arange(len(arrived), dtype=np.int32), [len(part) for part in parts])
    return np.concatenate(parts), owners


def places_in_halo(rows: Any, shard: int, halo_rows: Any, halo_owners: Any) -> Any:
    """Where points of one shard are in the halo."""
    first, last = np.searchsorted(halo_owners, [shard, shard + 1])
    return first + np.searchsorted(halo_rows[first:last], rows)


def assemble(searched: Searched, arrived: list[Edges], n: int) -> Rows:
    """P = (C + C^T) / 2n, the shard's rows. `arrived`: from every shard, what ends here."""
    own = searched.own
    halo_rows, halo_owners = halo_of(searched, arrived)
    # Own points keep their numbers, visitors get those of the halo; some nobody has met have none.
    numbers = np.arange(len(searched.rows), dtype=np.int32)
    for shard in range(len(arrived)):
        of_shard = own + np.flatnonzero(searched.owners[own:] == shard)
        places = places_in_halo(searched.rows[of_shard], shard, halo_rows, halo_owners)
        numbers[of_shard] = own + np.minimum(places, len(halo_rows) - 1)
    columns = numbers[searched.indices]
    backward = transposed(searched, columns, arrived, halo_rows, halo_owners)
    offsets = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int64)
    forward = sparse.csr_array((searched.values.ravel(), columns.ravel(), offsets), shape=backward.shape)
    joint = forward + backward
    del forward, backward, columns
    joint.data /= np.float32(2 * n)
    return Rows(
        searched.shard,
        searched.rows[:own],
        joint.indptr.astype(np.int64),
        joint.indices.astype(np.int32, copy=False),
        joint.data,
        halo_rows,
        halo_owners,
    )


def transposed(searched: Searched, columns: Any, arrived: list[Edges], halo_rows: Any, halo_owners: Any) -> Any:
    """C^T: edges between own points the other way round, and those that came from elsewhere."""
    own = searched.own
    sources, ranks = np.nonzero(columns < own)
    by_row = np.argsort(searched.rows[:own], kind="stable").astype(np.int32)
    known = searched.rows[by_row]
    rows, places, values = [columns[sources, ranks]], [sources.astype(np.int32)], [searched.values[sources, ranks]]
    del sources, ranks
    for shard, edges in enumerate(arrived):
        rows.append(by_row[np.searchsorted(known, edges.targets)])
        found = places_in_halo(edges.sources, shard, halo_rows, halo_owners)
        places.append((own + found).astype(np.int32))
        values.append(edges.values)
    parts = np.concatenate(values), (np.concatenate(rows), np.concatenate(places))
    return sparse.coo_array(parts, shape=(own, own + len(halo_rows))).tocsr()


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
