"""What a worker will hold at most, before anything starts."""

import math
from dataclasses import dataclass
from typing import Any

from pixelsne.distributed.shards import FEW_SHARDS
from pixelsne.distributed.task_runner import smallest_memory_limit
from pixelsne.memory import EDGE, FLOAT, GIGABYTE, JOINT_PER_CHOSEN, KEY, PAIR, SHARE_AT_WORK

# Bytes beside the data: the interpreter, the libraries, Dask.
PROCESS_BYTES = 200_000_000

# A point is sent to so many more shards for every doubling of their number, and a shard may be this much larger than
# the mean (benchmarks/results/cluster_halo_reviews1m.md).
VISITS_A_DOUBLING = 1.25
UNEVEN = 1.1

# Edges between shards travel once, in a form of EDGE bytes: they are held where they come from and where they arrive.
# So large a share of all edges crosses, at most.
CROSSING = 0.3
CROSSING_OF_MANY = 0.8

# Of a point in the descent: position, velocity, gains, both forces, its place in the field's order, and as much again
# of the next iteration while the last one is not forgotten.
POINT_IN_DESCENT = 180
LATTICES = 6  # a worker's own, those it adds up, the field, the transform's planes and the kernel's spectrum

# From here on a worker pauses, and does not take on anything new.
USABLE_SHARE = 0.8


@dataclass(frozen=True)
class Load:
    """What is asked of a cluster, as far as memory goes."""

    rows: int
    row_bytes: int  # of the input
    width: int  # columns after reduction
    neighbors: int
    nodes: int  # a side of the lattice at most


def bytes_by_stage(load: Load, shards: int) -> dict[str, float]:
    """Of the largest shard's worker, at the busiest moment of each stage."""
    own, visits = UNEVEN * load.rows / shards, min(1 + VISITS_A_DOUBLING * math.log2(shards), shards)
    points, pairs = FLOAT * load.width * own, load.neighbors * own
    kernels, joint = PAIR * pairs, JOINT_PER_CHOSEN * PAIR * pairs
    crossing = 0.0 if shards == 1 else (CROSSING if shards <= FEW_SHARDS else CROSSING_OF_MANY) * EDGE * pairs
    return {
        "reduce": load.row_bytes * load.rows / shards + points,
        "partition": points * (1 + 3 * visits),  # sent, received, and settled
        "neighbors": 2 * visits * points + KEY * pairs + kernels,  # in another order
        "affinities": kernels + joint + SHARE_AT_WORK * (EDGE * pairs + joint) + 2 * crossing,
        "descent": joint + POINT_IN_DESCENT * own + LATTICES * FLOAT * load.nodes**2,
    }


def worker_bytes(load: Load, shards: int) -> int:
    return int(PROCESS_BYTES + max(bytes_by_stage(load, shards).values()))


def check_workers(client: Any, load: Load, shards: int) -> None:
    """MemoryError if the smallest worker has less than each needs."""
    needed = worker_bytes(load, shards)
    smallest = smallest_memory_limit(client)
    usable = USABLE_SHARE * smallest
    if smallest and needed > usable:
        enough = shards
        while worker_bytes(load, enough) > usable and enough < load.rows:
            enough *= 2
        advice = f"{enough} workers of that size would do, or" if enough < load.rows else "give workers more memory, or"
        raise MemoryError(
            f"a map of {load.rows:,} points needs about {needed / GIGABYTE:.1f} GB on each of {shards} workers, and "
            f"the smallest can use {usable / GIGABYTE:.1f} GB ({USABLE_SHARE:.0%} of its limit); {advice} take a lower "
            f"perplexity"
        )
