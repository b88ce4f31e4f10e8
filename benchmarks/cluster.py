"""A cluster of processes on this machine against the local run: `cluster.py reviews1m.npz mnist.npz`.

Time of the first file with two workers of one thread each against two threads, with every iteration's parts;
quality of the second with 1, 2 and 4 workers; memory of each worker.
"""

import sys
import threading
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from judge import Judge
from measure import Clock, Rows, in_own_process, load_points, peak_memory, save, source_name
from pixelsne import PixelSNE
from pixelsne.distributed import start

PARTITIONS = 8
ITERATIONS_WATCHED = (150, 200)
MEGABYTE = 2**20


def local(path: str, n: int | None) -> dict[str, Any]:
    """In a process of its own: seconds by stage and peak memory."""
    points, labels = load_points(path, n)
    model = PixelSNE(random_state=0, n_jobs=2)
    with Clock() as clock:
        model.fit(points)
    memory = peak_memory()
    judged = Judge(points, labels, 30.0, 2).judge(model.positions_)
    return {"total, s": clock.seconds, **model.timings_, "peak memory, GB": memory, **judged}


def resident_memory() -> float:
    """Gigabytes of this process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 2**20


class Memory:
    """The most that any worker of a cluster held, asked for four times a second."""

    def __init__(self, client: Client) -> None:
        self._client, self._stop, self.most = client, threading.Event(), 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.25):
            self.most = max([self.most, *self._client.run(resident_memory).values()])

    def stop(self) -> float:
        self._stop.set()
        self._thread.join()
        return self.most


def parts_of(stream: list[dict[str, Any]], seconds: float, workers: int) -> dict[str, float]:
    """Milliseconds of an iteration, for a worker: what it computed, what it waited for from others, what is left."""
    spent = {"compute": 0.0, "transfer": 0.0}
    for task in stream:
        for part in task["startstops"]:
            if part["action"] in spent:
                spent[part["action"]] += part["stop"] - part["start"]
    iterations = ITERATIONS_WATCHED[1] - ITERATIONS_WATCHED[0]
    each = {name: 1000 * total / workers / iterations for name, total in spent.items()}
    whole = 1000 * seconds / iterations
    tasks = len(stream) / workers / iterations
    return {
        "ms an iteration": whole,
        "compute, ms": each["compute"],
        "transfer, ms": each["transfer"],
        "scheduling and waiting, ms": whole - sum(each.values()),
        "tasks a worker and iteration": tasks,
    }


def on_cluster(points: np.ndarray, labels: np.ndarray, workers: int) -> dict[str, Any]:
    """In a process of its own."""
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        array = da.from_array(points, chunks=(-(-len(points) // PARTITIONS), -1)).persist()
        memory = Memory(client)
        with Clock() as clock:
            run, parts = follow(array, client, workers)
        most = memory.stop()
        made = run.map()
        shares = client.gather([client.submit(describe, share) for share in run.shards.shares])
        judged = Judge(points, labels, 30.0, 2).judge(made.positions.compute())
    return {
        "total, s": clock.seconds,
        **run.timings,
        **parts,
        "peak memory of a worker, GB": most,
        "largest shard / mean": max(share[0] for share in shares) * workers / len(points),
        "halo / own": sum(share[1] for share in shares) / len(points),
        "edges within a shard": sum(share[2] for share in shares) / sum(share[3] for share in shares),
        "given, MB": sum(share[4] for share in shares) * 4 / MEGABYTE / workers,
        **judged,
    }


def follow(array: da.Array, client: Client, workers: int) -> tuple[Any, dict[str, float]]:
    run = start(array, client, PixelSNE(random_state=0, tol=0))
    parts: dict[str, float] = {}
    watching: Any = None
    for snapshot in run.snapshots():
        if snapshot.iteration == ITERATIONS_WATCHED[0]:
            watching, began = client.get_task_stream(), time.perf_counter()
            watching.__enter__()
        if snapshot.iteration == ITERATIONS_WATCHED[1]:
            watching.__exit__(None, None, None)
            parts = parts_of(watching.data, time.perf_counter() - began, workers)
    return run, parts


def describe(share: Any) -> tuple[int, int, int, int, int]:
    """Points, halo, edges within, all edges, points given to others."""
    own = len(share.rows.rows)
    within = int(np.count_nonzero(share.rows.columns < own))
    return own, len(share.rows.halo_rows), within, len(share.rows.columns), len(share.given.rows)


def child(kind: str, path: str, workers: int, n: int | None) -> dict[str, Any]:
    if kind == "local":
        return local(path, n)
    return on_cluster(*load_points(path, n), workers)


def main(large: str, small: str, n: int | None) -> None:
    for path, counts in ((large, (2, 4)), (small, (1, 2, 4))):
        rows: Rows = []
        ours = in_own_process(__file__, "local", path, 0, n or 0, threads=2)
        rows.append({"run": "local, two threads", **ours})
        for workers in counts:
            found = in_own_process(__file__, "cluster", path, workers, n or 0)
            found["total / local"] = found["total, s"] / ours["total, s"]
            found["KL / local"] = found["KL"] / ours["KL"]
            found["memory / local"] = found["peak memory of a worker, GB"] / ours["peak memory, GB"]
            rows.append({"run": f"{workers} workers", **found})
            print(rows[-1], flush=True)
        save(
            f"cluster_{source_name(path)}",
            f"Workers of one thread each against the local run, {source_name(path)}",
            rows,
        )


if __name__ == "__main__":
    if sys.argv[1] in {"local", "cluster"}:
        import json

        kind, path, workers, n = sys.argv[1:]
        print(json.dumps(child(kind, path, int(workers), int(n) or None)))
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
