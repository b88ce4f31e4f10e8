"""What better neighbors would be worth: `recall.py DATA [--probes 300]`.

The default search, and the same search with more probes, each followed by the default descent. Precision is judged
against exact neighbors of sampled rows (see judge.py), recall against those of fewer rows.
"""

import argparse

import numpy as np

from judge import Judge, nearest_of_rows
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE, _core
from pixelsne.affinities import joint_affinities
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.neighbors import ClusterEffort, Neighbors, Quest, choose_effort, search_in_clusters
from pixelsne.settings import settings_of

K = 90
RECALL_ROWS = 2_000


def recall_of(found: Neighbors, rows: np.ndarray, truth: np.ndarray) -> float:
    """Of the true neighbors (rows, K) of some rows, in numbers of the input."""
    places = np.empty(len(found.indices), dtype=np.int64)
    places[found.order] = np.arange(len(places))
    hits = [
        len(np.intersect1d(found.order[found.indices[places[row]]], truth[position]))
        for position, row in enumerate(rows)
    ]
    return float(np.mean(hits)) / K


def rows_for_recall(judge: Judge) -> np.ndarray:
    return judge.rows[:: max(1, len(judge.rows) // RECALL_ROWS)]


def measure(
    points: np.ndarray, judge: Judge, truth: np.ndarray, effort: ClusterEffort, threads: int
) -> dict[str, object]:
    with Clock() as searching:
        quest = Quest(points, K, 0, reorder=True, token=_core.ProgressToken(), threads=threads)
        found = search_in_clusters(quest, effort, len(points))
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
    return {"probes, at most": effort.probes, f"recall of {K}": recall, **times, **quality}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--probes", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    points, labels = load_points(options.data)
    judge = Judge(points, labels, 30.0, options.threads)
    truth = nearest_of_rows(points, rows_for_recall(judge), K)
    rows: Rows = []
    for effort in (choose_effort(len(points)), ClusterEffort(probes=options.probes, recall=0.995)):
        rows.append(measure(points, judge, truth, effort, options.threads))
        print(rows[-1], flush=True)
    name = source_name(options.data)
    save(f"recall_{name}", f"{name}, {len(points):,} points: what more neighbors found are worth", rows, judge.notes())


if __name__ == "__main__":
    main()
