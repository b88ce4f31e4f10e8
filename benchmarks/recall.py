"""Measure the recall of the neighbor search, and the effect of recall on the map.

`recall.py noise uniform mnist.npz [--n 60000]`: recall of single points, its mean and its lowest percentiles, for names
of hard_sets.py and for files. `recall.py DATA --probes 300`: the default search and one with more probes, each followed
by the default descent. Precision compares with the exact neighbors of sampled rows (see judge.py), recall with those of
fewer rows.
"""

import argparse
import time

import numpy as np

from hard_sets import SETS
from judge import Judge, nearest_of_rows
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE, _core
from pixelsne.affinities import joint_affinities
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.neighbors import (
    ClusterParameters,
    Neighbors,
    SearchRequest,
    choose_cluster_parameters,
    choose_search,
    find_neighbors,
    search_in_clusters,
)
from pixelsne.settings import settings_of

K = 30
RECALL_ROWS = 2_000


def recall_of(found: Neighbors, rows: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of the true neighbors (rows, K) that were found. Rows and neighbors are indices of the input."""
    positions = np.empty(len(found.indices), dtype=np.int64)
    positions[found.order] = np.arange(len(positions))
    hits = [
        len(np.intersect1d(found.order[found.indices[positions[row]]], truth[number]))
        for number, row in enumerate(rows)
    ]
    return float(np.mean(hits)) / K


def rows_for_recall(judge: Judge) -> np.ndarray:
    return judge.rows[:: max(1, len(judge.rows) // RECALL_ROWS)]


def measure(
    points: np.ndarray, judge: Judge, truth: np.ndarray, parameters: ClusterParameters, threads: int
) -> dict[str, object]:
    with Clock() as searching:
        request = SearchRequest(points, K, 0, reorder=True, token=_core.ProgressToken(), threads=threads)
        found = search_in_clusters(request, parameters, len(points))
    recall = recall_of(found, rows_for_recall(judge), truth)
    settings = settings_of(PixelSNE(n_jobs=threads))
    start = initial_positions(points, "pca", 0)[found.order]
    descent = Descent(joint_affinities(found, (30.0,), threads), start, settings, found.order)
    del found
    with Clock() as descending:
        for _ in descent:
            pass
    quality = judge.judge(descent.map())
    times = {"neighbors, s": searching.seconds, "descent, s": descending.seconds}
    return {"probes, at most": parameters.probes, f"recall of {K}": recall, **times, **quality}


def load_set(source: str, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    return SETS[source](n) if source in SETS else (load_points(source, n)[0], None)


def recall_of_points(points: np.ndarray, found: Neighbors, rows: np.ndarray, threads: int) -> np.ndarray:
    """Return each row's share of its true neighbors. Any neighbor as near as the k-th counts."""
    k = found.indices.shape[1]
    truth = _core.neighbors_of_queries(points[rows], points, k + 1, _core.ProgressToken(), threads)[1]
    return np.asarray((found.distances[rows] <= truth[:, -1:] * (1 + 1e-6)).mean(axis=1))


def percentiles(recalls: np.ndarray) -> dict[str, float]:
    low, lower = np.percentile(recalls, [1, 5])
    return {"mean": float(recalls.mean()), "1st percentile": float(low), "5th percentile": float(lower)}


def measure_points(source: str, n: int, k: int, method: str, threads: int) -> Rows:
    points, special = load_set(source, n)
    n, d = points.shape
    start = time.process_time()
    found = find_neighbors(points, k, method, 0, threads)
    seconds = (time.process_time() - start) / threads
    sample = np.random.default_rng(1).choice(n, min(n, RECALL_ROWS), replace=False)
    description = {
        "data": source_name(source),
        "n": n,
        "k": k,
        "search": choose_search(method, n, d, k),
        "seconds": seconds,
    }
    rows = [description | percentiles(recall_of_points(points, found, sample, threads))]
    if special is not None:
        recalls = recall_of_points(points, found, special, threads)
        rows.append(description | {"data": f"{source_name(source)}, special rows alone"} | percentiles(recalls))
    return rows


def compare_points(options: argparse.Namespace) -> None:
    rows: Rows = []
    for source in options.data:
        for k in options.k:
            rows += measure_points(source, options.n, k, options.search, options.threads)
            print(rows[-1], flush=True)
    notes = "Seconds are processor time divided by the number of threads, so that other load does not count."
    save(f"recall_points_{options.search}", "Recall of single points", rows, notes)


def compare_maps(options: argparse.Namespace) -> None:
    (source,) = options.data
    points, labels = load_points(source)
    judge = Judge(points, labels, 30.0, options.threads)
    truth = nearest_of_rows(points, rows_for_recall(judge), K)
    rows: Rows = []
    for parameters in (
        choose_cluster_parameters(*points.shape, K),
        ClusterParameters(probes=options.probes, recall=0.995),
    ):
        rows.append(measure(points, judge, truth, parameters, options.threads))
        print(rows[-1], flush=True)
    name = source_name(source)
    save(f"recall_{name}", f"{name}, {len(points):,} points: effect of recall on the map", rows, judge.notes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help=f"npz files, or names: {', '.join(SETS)}")
    parser.add_argument("--n", type=int, default=60_000, help="maximum number of points")
    parser.add_argument("--k", type=int, nargs="+", default=[30, 90])
    parser.add_argument("--search", default="clusters")
    parser.add_argument("--probes", type=int, help="compare maps, with at most this many clusters per point on average")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.probes:
        compare_maps(options)
    else:
        compare_points(options)


if __name__ == "__main__":
    main()
