"""Estimate the peak memory of a worker, and check it before the run starts."""

import math
from dataclasses import dataclass
from typing import Any

from pixelsne.distributed.shards import FEW_SHARDS
from pixelsne.distributed.task_runner import smallest_memory_limit
from pixelsne.memory import EDGE, FLOAT, GIGABYTE, JOINT_PER_CHOSEN, KEY, PAIR, SHARE_AT_ONCE

# Bytes beside the data: the interpreter, the libraries, Dask.
PROCESS_BYTES = 200_000_000

# With every doubling of the shards, a point is copied to this many more of them. A shard may be this much larger than
# the mean (benchmarks/results/cluster_halo_reviews1m.md).
COPIES_PER_DOUBLING = 1.25
UNEVEN = 1.1

# An edge between shards is sent once, in EDGE bytes, and both workers hold it. At most this share of all edges is
# between shards, if there are few shards or many.
CROSSING = 0.3
CROSSING_OF_MANY = 0.8

# Bytes of a point in the descent: position, velocity, gains, both forces, and its index in the order of the field, for
# two iterations, since Dask drops the last one late.
POINT_IN_DESCENT = 180
LATTICES = 6  # a worker's own, those it adds up, the field, the transform's planes and the kernel's spectrum

# Above this share of its limit, a Dask worker pauses.
USABLE_SHARE = 0.8


@dataclass(frozen=True)
class ClusterWorkload:
    """The sizes that decide how much memory the workers need."""

    n: int
    row_bytes: int  # of the input
    dimensions: int  # after reduction
    neighbors: int
    nodes: int  # a side of the lattice at most


def bytes_by_stage(work: ClusterWorkload, shards: int) -> dict[str, float]:
    """Return the peak bytes of each stage on the worker of the largest shard."""
    own, copies = UNEVEN * work.n / shards, min(1 + COPIES_PER_DOUBLING * math.log2(shards), shards)
    points, pairs = FLOAT * work.dimensions * own, work.neighbors * own
    kernels, joint = PAIR * pairs, JOINT_PER_CHOSEN * PAIR * pairs
    crossing = 0.0 if shards == 1 else (CROSSING if shards <= FEW_SHARDS else CROSSING_OF_MANY) * EDGE * pairs
    return {
        "reduce": work.row_bytes * work.n / shards + points,
        "partition": points * (1 + 3 * copies),  # sent, received, and ordered
        "neighbors": 2 * copies * points + KEY * pairs + kernels,  # points and reordered points
        "affinities": kernels + joint + SHARE_AT_ONCE * (EDGE * pairs + joint) + 2 * crossing,
        "descent": joint + POINT_IN_DESCENT * own + LATTICES * FLOAT * work.nodes**2,
    }


def worker_bytes(work: ClusterWorkload, shards: int) -> int:
    return int(PROCESS_BYTES + max(bytes_by_stage(work, shards).values()))


def check_workers(client: Any, work: ClusterWorkload, shards: int) -> None:
    """Raise MemoryError if the smallest worker has too little memory."""
    needed = worker_bytes(work, shards)
    smallest = smallest_memory_limit(client)
    usable = USABLE_SHARE * smallest
    if smallest and needed > usable:
        enough = shards
        while worker_bytes(work, enough) > usable and enough < work.n:
            enough *= 2
        advice = f"{enough} workers of that size would do, or" if enough < work.n else "give workers more memory, or"
        raise MemoryError(
            f"a map of {work.n:,} points needs about {needed / GIGABYTE:.1f} GB on each of {shards} workers, and "
            f"the smallest can use {usable / GIGABYTE:.1f} GB ({USABLE_SHARE:.0%} of its limit); {advice} take a lower "
            f"perplexity"
        )
