"""A model of larger clusters, fitted to measurements of small ones: `cluster_model.py`.

Writes the tables of docs/scaling.md. Reads results/cluster_reviews1m.json, cluster_mnist.json and
cluster_halo_reviews1m.json.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measure import RESULTS, Rows, table
from pixelsne.distributed.memory import ClusterWorkload, worker_bytes
from pixelsne.distributed.task_runner import FAN_IN
from pixelsne.neighbors import usual_probes
from pixelsne.repulsion import MAX_NODES

LARGE, SMALL = "cluster_reviews1m", "cluster_mnist"
HALO = "cluster_halo_reviews1m"
PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
BEGIN, END = "<!-- {}: written by benchmarks/cluster_model.py -->", "<!-- end -->"

ITERATIONS = 350
POINTS = {"reviews1m": 1_000_000, "mnist": 70_000}
NEIGHBORS, WIDTH, ROW_BYTES = 90, 50, 200
ENCODED_BYTES = 4  # bytes of an encoded point
SIZES = (10_000_000, 100_000_000, 1_000_000_000)
WORKERS = (16, 64, 256)
LINK = 1.25e9  # bytes per second into and out of a worker: ten gigabits
THREADS = 8
GIGABYTE = 1e9


def runs_of(name: str) -> dict[str, dict[str, Any]]:
    content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return {run["run"]: run for run in content["runs"]}


@dataclass(frozen=True)
class Constants:
    """Constants of one thread of the reference machine."""

    point: float  # seconds per point and iteration, including its edges
    node: float  # seconds per node of the lattice and iteration
    task: float  # seconds of overhead per task
    round: float  # seconds of overhead per iteration, besides its tasks
    stages: dict[str, float]  # seconds per point before the descent
    sides: dict[int, float]  # sides of the lattice by the number of points
    exported: dict[int, float]  # share of the points that other shards need, by the number of shards
    local_link: float  # bytes per second between two processes of this machine


def side_of(run: dict[str, Any]) -> float:
    columns, rows = map(int, run["lattice"].split(" x "))
    return float(np.sqrt(columns * rows))


def scheduling_of(runs: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Return milliseconds per task and per iteration, fitted by a line to the runs with 1, 2 and 4 workers."""
    cluster_runs = {int(name.split()[0]): run for name, run in runs.items() if name.endswith(("worker", "workers"))}
    tasks = [workers * run["tasks per worker and iteration"] for workers, run in cluster_runs.items()]
    task, each = np.polyfit(tasks, [run["scheduling and waiting, ms"] for run in cluster_runs.values()], 1)
    return float(task), float(each)


def measure_constants() -> Constants:
    large, small = runs_of(LARGE), runs_of(SMALL)
    halo = json.loads((RESULTS / f"{HALO}.json").read_text(encoding="utf-8"))["rows"]
    one, two, n = large["1 worker"], large["2 workers"], POINTS["reviews1m"]
    task, each = scheduling_of(small)
    # Attraction is computed outside the tasks, so the time of the points is what remains of the iteration.
    scheduling = task * one["tasks per worker and iteration"] + each
    points = one["ms per iteration"] - one["convolve, ms, all workers"] - scheduling
    moved = two["exported, MB"] * 2**20 + side_of(two) ** 2 * 4
    return Constants(
        point=points / 1000 / n,
        node=one["convolve, ms, all workers"] / 1000 / side_of(one) ** 2,
        task=task / 1000,
        round=each / 1000,
        stages={name: one[name] / n for name in ("reduce", "partition", "neighbors", "affinities")},
        sides={POINTS["mnist"]: side_of(small["1 worker"]), n: side_of(one)},
        exported={1: 0.0} | {row["shards"]: row["points exported / all"] for row in halo},
        local_link=moved / (two["transfer, ms"] / 1000),
    )


def lattice_side(n: int, constants: Constants) -> float:
    """Return the side of the lattice: a map's width grows as a power of n, and the lattice with it, up to its limit."""
    (small, narrow), (large, wide) = sorted(constants.sides.items())
    power = np.log(wide / narrow) / np.log(large / small)
    return float(min(MAX_NODES, wide * (n / large) ** power))


def exported_share(workers: int, constants: Constants) -> float:
    counts = sorted(constants.exported)
    return float(np.interp(np.log(workers), np.log(counts), [constants.exported[count] for count in counts]))


def levels(workers: int) -> int:
    """Return the number of levels for relaying a lattice to all workers, eight at a time."""
    return max(1, int(np.ceil(np.log(workers) / np.log(FAN_IN) - 1e-9))) if workers > 1 else 0


def iteration(
    n: int, workers: int, threads: int, link: float, constants: Constants, processes_per_core: float = 1.0
) -> dict[str, float]:
    """Return the seconds of each part of an iteration. processes_per_core is at least 1."""
    nodes = lattice_side(n, constants) ** 2
    received = min(FAN_IN, workers - 1) * levels(workers)
    return {
        "points": constants.point * n / workers / threads * processes_per_core,
        "field": constants.node * nodes / threads,
        "halo": exported_share(workers, constants) * n * ENCODED_BYTES * (workers - 1) / workers / link,
        "lattices": 2 * received * nodes * 4 / link,
        "scheduling": constants.task * (3 + 2 / FAN_IN) * workers + constants.round,
    }


def check_rows(constants: Constants) -> Rows:
    """Compare the model with measurements on this machine: two cores, one thread per worker."""
    rows: Rows = []
    for name, file in (("reviews1m", LARGE), ("mnist", SMALL)):
        for run, found in runs_of(file).items():
            if not run.endswith(("worker", "workers")):
                continue
            workers = int(run.split()[0])
            parts = iteration(POINTS[name], workers, 1, constants.local_link, constants, max(1.0, workers / 2))
            expected = 1000 * sum(parts.values())
            rows.append(
                {
                    "data": name,
                    "workers": workers,
                    "model, ms per iteration": f"{expected:.0f}",
                    "measured": f"{found['ms per iteration']:.0f}",
                    "model / measured": f"{expected / found['ms per iteration']:.2f}",
                }
            )
    return rows


def preparation(n: int, workers: int, threads: int, constants: Constants) -> float:
    """Return the seconds of all stages before the descent, without transfers. Larger shards need more probes."""
    more_probes = usual_probes(n // workers, NEIGHBORS) / usual_probes(POINTS["reviews1m"], NEIGHBORS)
    stages = constants.stages | {"neighbors": constants.stages["neighbors"] * more_probes}
    return sum(stages.values()) * n / workers / threads


def outlook_rows(constants: Constants) -> Rows:
    rows: Rows = []
    for n in SIZES:
        for workers in WORKERS:
            parts = iteration(n, workers, THREADS, LINK, constants)
            total = sum(parts.values())
            largest = max(parts, key=lambda name: parts[name])
            side = lattice_side(n, constants)
            work = ClusterWorkload(n, ROW_BYTES, WIDTH, NEIGHBORS, int(side))
            received_bytes = (parts["halo"] + parts["lattices"] / 2) * LINK
            rows.append(
                {
                    "points": f"{n:,}",
                    "workers": workers,
                    "memory per worker, GB": f"{worker_bytes(work, workers) / GIGABYTE:.1f}",
                    "received per worker and iteration, MB": f"{received_bytes / 1e6:.0f}",
                    **{f"{name}, s": f"{seconds:.2f}" for name, seconds in parts.items()},
                    "iteration, s": f"{total:.2f}",
                    "descent, min": f"{total * ITERATIONS / 60:.0f}",
                    "stages before the descent, min": f"{preparation(n, workers, THREADS, constants) / 60:.1f}",
                    "largest part": largest,
                }
            )
    return rows


def constant_rows(constants: Constants) -> Rows:
    figures = {
        "a point and its edges, ns per iteration": f"{constants.point * 1e9:.0f}",
        "a node of the lattice, ns per iteration": f"{constants.node * 1e9:.1f}",
        "overhead per task, ms": f"{constants.task * 1e3:.1f}",
        "overhead per iteration, besides its tasks, ms": f"{constants.round * 1e3:.1f}",
        "transfer between two processes of the machine, GB/s": f"{constants.local_link / GIGABYTE:.2f}",
        **{f"{name}, µs per point": f"{seconds * 1e6:.1f}" for name, seconds in constants.stages.items()},
        **{f"side of the lattice at {n:,} points": f"{side:.0f}" for n, side in constants.sides.items()},
    }
    return [{"constant, one thread": name, "measured": value} for name, value in figures.items()]


def page_with(text: str, constants: Constants) -> str:
    """Return the page with its tables computed again."""
    tables = {"constants": constant_rows, "check": check_rows, "outlook": outlook_rows}
    for name, rows in tables.items():
        begin = BEGIN.format(name)
        before, _, rest = text.partition(begin)
        after = rest.partition(END)[2]
        text = f"{before}{begin}\n\n{table(rows(constants))}\n\n{END}{after}"
    return text


if __name__ == "__main__":
    made = page_with(PAGE.read_text(encoding="utf-8"), measure_constants())
    PAGE.write_text(made, encoding="utf-8")
    sys.stdout.write(made)
