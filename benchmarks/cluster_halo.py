"""Measure the connections between the shards of a data set, by the number of shards: `cluster_halo.py reviews1m.npz`.

Nothing is distributed here: neighbors are found in one process, and every point is assigned the shard that would own
it.
"""

import sys
from typing import Any

import numpy as np

from measure import Rows, load_points, save, source_name
from pixelsne.distributed.shards import make_cells, nearest_cells, sample, share_sampled
from pixelsne.neighbors import find_neighbors

NEIGHBORS = 90
SHARDS = (2, 4, 16, 64, 256)


def needed_by(shard: int, owners: Any, indices: Any, owners_of_neighbors: Any) -> Any:
    """Return a mask of the points of other shards that one shard has edges with, in either direction."""
    needed = (owners_of_neighbors == shard).any(axis=1)
    needed[np.unique(indices[owners == shard])] = True
    needed[owners == shard] = False
    return needed


def describe(points: Any, indices: Any, shards: int) -> dict[str, Any]:
    cells = make_cells([sample(points, 0, share_sampled(len(points), shards), 0)], shards, 0)
    sent_to = cells.owners[nearest_cells(points, cells)].astype(np.int16)
    owners = sent_to[:, 0]
    owners_of_neighbors = owners[indices]
    exported, halo, adjoining = np.zeros(len(points), dtype=bool), 0, 0
    for shard in range(shards):
        needed = needed_by(shard, owners, indices, owners_of_neighbors)
        exported |= needed
        halo += int(np.count_nonzero(needed))
        adjoining += len(np.unique(owners[needed]))
    shards_per_point = 1 + np.count_nonzero(np.diff(np.sort(sent_to, axis=1), axis=1), axis=1)
    return {
        "shards": shards,
        "largest / mean": float(np.bincount(owners, minlength=shards).max() * shards / len(points)),
        "shards a point is sent to": float(shards_per_point.mean()),
        "edges within a shard": float((owners_of_neighbors == owners[:, None]).mean()),
        "neighbors among the ghosts": share_found(owners, sent_to, indices),
        "points exported / all": float(exported.mean()),
        "halo / own": halo / len(points),
        "adjoining shards": adjoining / shards,
    }


def share_found(owners: Any, sent_to: Any, indices: Any) -> float:
    """Return the share of the neighbors of every hundredth point that its shard owns or receives as ghosts."""
    rows = np.arange(0, len(owners), 100)
    present = (sent_to[indices[rows]] == owners[rows][:, None, None]).any(axis=2)
    return float(present.mean())


def main(path: str) -> None:
    points, _ = load_points(path)
    indices = find_neighbors(points, NEIGHBORS, "auto", 0, 2).indices
    rows: Rows = []
    for shards in SHARDS:
        rows.append(describe(points, indices, shards))
        print(rows[-1], flush=True)
    save(f"cluster_halo_{source_name(path)}", f"Connections between shards, {source_name(path)}", rows)


if __name__ == "__main__":
    main(sys.argv[1])
