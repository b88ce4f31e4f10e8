"""What a worker will hold at most, before anything starts."""

from typing import Any

from pixelsne.memory import GIGABYTE

# Bytes beside the data: the interpreter, the libraries, Dask.
OF_A_PROCESS = 250_000_000

# Points visit this many shards in all, the one they live in included, and a shard may be this much larger than the
# mean (benchmarks/cluster.py tells what was seen).
VISITS = 3.0
UNEVEN = 1.3

# Edges of a row of P for every neighbor that was asked for: some are mutual, most are not.
EDGES_A_NEIGHBOR = 1.7


def worker_bytes(rows: int, columns: int, k: int, shards: int, nodes: int) -> int:
    """The largest sum over the stages, for the largest shard."""
    own = UNEVEN * rows / shards
    points = 4 * columns
    partition = own * (points + 8) * (1 + min(VISITS, shards))  # as they arrive, and joined
    # Residents, what the search makes of them (twice: sorted, and in panels), its rows and its table.
    search = own * min(VISITS, shards) * 3 * points + own * k * (8 + 8)
    edges = own * k * EDGES_A_NEIGHBOR
    kernels = own * k * (8 + 4 + 4)  # rows of the input, owners, values
    assemble = kernels + edges * (8 + 8 + 4) + 2 * edges * 8
    descend = edges * 8 + own * 2 * 4 * 8 + 4 * nodes * nodes * 4
    return int(OF_A_PROCESS + max(partition, search + kernels, assemble, descend))


def memory_limit(dask_worker: Any) -> int | None:
    """Of the worker this runs on; None: it has none."""
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit


def check_workers(client: Any, rows: int, columns: int, k: int, shards: int, nodes: int) -> int:
    """Bytes a worker needs; MemoryError if the smallest has less."""
    needed = worker_bytes(rows, columns, k, shards, nodes)
    smallest = min((limit for limit in client.run(memory_limit).values() if limit), default=0)
    if smallest and needed > smallest:
        enough = shards
        while worker_bytes(rows, columns, k, enough, nodes) > smallest and enough < rows:
            enough *= 2
        raise MemoryError(
            f"a map of {rows:,} points needs about {needed / GIGABYTE:.1f} GB on each of {shards} workers, and the "
            f"smallest has {smallest / GIGABYTE:.1f} GB; {enough} workers of that size would do, or a lower perplexity"
        )
    return needed
