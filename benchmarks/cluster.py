"""Compare clusters of processes on this machine with a local run: `cluster.py reviews1m.npz mnist.npz`.

Measures time, quality and the memory of each worker with 1, 2 and 4 workers of one thread each, and the parts of an
iteration. The local run has two threads.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from judge import Judge
from measure import Clock, Rows, in_own_process, load_points, peak_memory, save, source_name
from pixelsne import PixelSNE
from pixelsne.distributed import start

PARTITIONS = 8
ITERATIONS_WATCHED = (150, 200)
TASKS = ("summarize", "deposit", "convolve", "move")
MEGABYTE = 2**20
JUDGED_UP_TO = 100_000


def local(path: str, n: int | None) -> dict[str, Any]:
    """Run locally in a separate process; return seconds by stage and peak memory."""
    points, labels = load_points(path, n)
    model = PixelSNE(random_state=0, n_jobs=2)
    with Clock() as clock:
        model.fit(points)
    memory = peak_memory()
    judged = judge(points, labels, model.positions_, model.kl_divergence_)
    return {
        "total, s": clock.seconds,
        "iterations": model.n_iter_,
        **model.timings_,
        "peak memory, GB": memory,
        **judged,
    }


def judge(points: np.ndarray, labels: np.ndarray, positions: np.ndarray, kl: float) -> dict[str, float]:
    """Return the quality of a map; for large data, only the KL divergence that the run reports."""
    return Judge(points, labels, 30.0, 2).judge(positions) if len(points) <= JUDGED_UP_TO else {"KL": kl}


def highest_memory() -> float:
    """Return the peak memory of this process in gigabytes. Runs on workers, which cannot import these files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def parts_of(stream: list[dict[str, Any]], seconds: float, workers: int) -> dict[str, float]:
    """Return the milliseconds of an iteration per worker: computing, waiting for transfers, and the rest."""
    spent = {"compute": 0.0, "transfer": 0.0}
    named = dict.fromkeys(TASKS, 0.0)
    for task in stream:
        name = task["key"].split("-")[0]
        for part in task["startstops"]:
            if part["action"] in spent:
                spent[part["action"]] += part["stop"] - part["start"]
            if part["action"] == "compute" and name in named:
                named[name] += part["stop"] - part["start"]
    iterations = ITERATIONS_WATCHED[1] - ITERATIONS_WATCHED[0]
    each = {name: 1000 * total / workers / iterations for name, total in spent.items()}
    whole = 1000 * seconds / iterations
    tasks = len(stream) / workers / iterations
    return {
        "ms per iteration": whole,
        "compute, ms": each["compute"],
        "transfer, ms": each["transfer"],
        "scheduling and waiting, ms": whole - sum(each.values()),
        "tasks per worker and iteration": tasks,
        **{f"{name}, ms, all workers": 1000 * total / iterations for name, total in named.items()},
    }


def read_rows(path: str, begin: int, end: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[begin:end])


def array_on_disk(points: np.ndarray, folder: str) -> da.Array:
    """Return a dask array whose partitions the workers read from disk, as in real runs."""
    path, size = str(Path(folder) / "points.npy"), -(-len(points) // PARTITIONS)
    np.save(path, points)
    parts = []
    for begin in range(0, len(points), size):
        end = min(begin + size, len(points))
        read = delayed(read_rows)(path, begin, end)
        parts.append(da.from_delayed(read, shape=(end - begin, points.shape[1]), dtype=points.dtype))
    return da.concatenate(parts)


def on_cluster(points: np.ndarray, labels: np.ndarray, workers: int) -> dict[str, Any]:
    """Run on a cluster, in a separate process."""
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with tempfile.TemporaryDirectory() as folder, cluster, Client(cluster) as client:
        array = array_on_disk(points, folder)
        with Clock() as clock:
            run, parts = follow(array, client, workers)
        made = run.map()
        graphs = client.gather([client.submit(describe, shard) for shard in run.descent.tasks.graphs])
        positions = made.positions.compute()
        peak = max(client.run(highest_memory).values())
        lattice = client.submit(describe_field, run.descent.tasks.field()).result()
    judged = judge(points, labels, positions, made.kl_divergence)
    return {
        "total, s": clock.seconds,
        **run.timings,
        **parts,
        "peak memory of a worker, GB": peak,
        "largest shard / mean": max(shard[0] for shard in graphs) * workers / len(points),
        "halo / own": sum(shard[1] for shard in graphs) / len(points),
        "lattice": lattice,
        "iterations": made.iterations,
        "edges per point": sum(shard[3] for shard in graphs) / len(points),
        "edges within a shard": sum(shard[2] for shard in graphs) / sum(shard[3] for shard in graphs),
        "exported, MB": sum(shard[4] for shard in graphs) * 4 / MEGABYTE / workers,
        **judged,
    }


def follow(array: da.Array, client: Client, workers: int) -> tuple[Any, dict[str, float]]:
    run = start(array, client, PixelSNE(random_state=0))
    parts: dict[str, float] = {}
    client.get_task_stream()  # records from now on
    for snapshot in run.snapshots():
        if snapshot.iteration == ITERATIONS_WATCHED[0]:
            began, moment = time.perf_counter(), time.time()
        if snapshot.iteration == ITERATIONS_WATCHED[1]:
            parts = parts_of(client.get_task_stream(start=moment), time.perf_counter() - began, workers)
    return run, parts


def describe(shard: Any) -> tuple[int, int, int, int, int]:
    """Return the number of points, halo points, edges within the shard, all edges, and exported points."""
    own = len(shard.rows.rows)
    within = int(np.count_nonzero(shard.rows.columns < own))
    return own, len(shard.rows.halo_rows), within, len(shard.rows.columns), len(shard.exported.rows)


def describe_field(field: Any) -> str:
    return f"{field.lattice[3]} x {field.lattice[4]}"


def child(kind: str, path: str, workers: int, n: int | None) -> dict[str, Any]:
    if kind == "local":
        return local(path, n)
    return on_cluster(*load_points(path, n), workers)


def transposed(runs: Rows) -> Rows:
    """Return one row per figure and one column per run."""
    figures = dict.fromkeys(name for run in runs for name in run if name != "run")
    return [{"figure": name} | {run["run"]: run.get(name, "") for run in runs} for name in figures]


def main(large_path: str, small_path: str, n: int | None) -> None:
    for path, counts in ((large_path, (4, 2, 1)), (small_path, (1, 2, 4))):
        rows: Rows = []
        local_run = in_own_process(__file__, "local", path, 0, n or 0, threads=2)
        rows.append({"run": "local, two threads", **local_run})
        for workers in counts:
            found = in_own_process(__file__, "cluster", path, workers, n or 0)
            found["total / local"] = found["total, s"] / local_run["total, s"]
            for measure in ("KL", "precision 10", "precision 30"):
                if measure in found:
                    found[f"{measure} / local"] = found[measure] / local_run[measure]
            found["memory / local"] = found["peak memory of a worker, GB"] / local_run["peak memory, GB"]
            rows.append({"run": f"{workers} worker{'s' if workers > 1 else ''}", **found})
            print(rows[-1], flush=True)
        rows[1:] = sorted(rows[1:], key=lambda row: str(row["run"]))
        title = f"Workers of one thread each, compared with a local run, {source_name(path)}"
        save(f"cluster_{source_name(path)}", title, transposed(rows), runs=rows)


if __name__ == "__main__":
    if sys.argv[1] in {"local", "cluster"}:
        import json

        kind, path, workers, n = sys.argv[1:]
        print(json.dumps(child(kind, path, int(workers), int(n) or None)))
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
