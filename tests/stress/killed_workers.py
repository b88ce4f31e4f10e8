"""Kill workers of a cluster at random moments of runs: `python tests/stress/killed_workers.py [kills] [seed]`.

Every run must complete with the same bytes as an undisturbed run. Runs alternate between the repulsion of small maps
and that of large ones.
"""

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from pixelsne import PixelSNE
from pixelsne.distributed import embed, repulsion

WORKERS = 2
LIMITS = (repulsion.GATHER_UP_TO, 0)
MODEL = PixelSNE(random_state=0, perplexity=15, max_iter=120)


def make_points() -> da.Array:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 12, 8000)
    values = rng.normal(size=(12, 30))[kinds] * 3 + rng.normal(size=(8000, 30))
    return da.from_array(values.astype(np.float32), chunks=(1000, -1))


def disturbed_run(client: Client, points: da.Array, folder: Path, seconds: float, chance: random.Random) -> tuple:
    """Run while a worker is killed after `seconds`; return the map and the stage in which that happened."""
    phases = ["read"]
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(seconds, lambda: (phases.append("killed"), os.kill(chance.choice(pids), signal.SIGKILL)))
    timer.start()
    made = embed(points, client, MODEL, checkpoint=folder, callback=lambda one: phases.append(one.phase) and None)
    embedding = made.compute()
    timer.cancel()
    when = phases[phases.index("killed") - 1] if "killed" in phases else "finished before"
    return embedding, when


def main(kills: int, seed: int) -> None:
    chance, seen = random.Random(seed), Counter()  # noqa: S311 - not for secrets
    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None)
    with dask.config.set({"distributed.scheduler.allowed-failures": 10}), cluster, Client(cluster) as client:
        points = make_points()
        began = time.monotonic()
        expected = {}
        for limit in LIMITS:
            repulsion.GATHER_UP_TO = limit
            expected[limit] = embed(points, client, MODEL).compute()
        usual = (time.monotonic() - began) / len(LIMITS)
        print(f"undisturbed: {usual:.1f} s", flush=True)
        while sum(seen.values()) - seen["finished before"] < kills:
            cluster.scale(WORKERS)  # a worker that is killed while it starts ends its nanny, too
            client.wait_for_workers(WORKERS, timeout=120)
            repulsion.GATHER_UP_TO = limit = LIMITS[sum(seen.values()) % len(LIMITS)]
            with tempfile.TemporaryDirectory() as folder:
                found, when = disturbed_run(client, points, Path(folder), chance.uniform(0, usual), chance)
            if not np.array_equal(found, expected[limit]):
                raise SystemExit(f"another map after a kill in {when}")
            seen[when] += 1
            print(f"{dict(seen)}, the same map", flush=True)
    print(f"{kills} workers killed: {dict(seen)}; every run completed, every map the same")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
