"""PixelSNE-RP against openTSNE and against our own BH-SNE: `compare_opentsne.py mnist.npz [repetitions]`.

Full MNIST (PCA 50), perplexity 50, theta 0.5, r = 1024, 1,000 iterations, 2 threads. Systems alternate, each run
in a process of its own. Every map's KL is taken over one and the same P with an exact normalizer. openTSNE is an
extra: `pip install openTSNE`.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measure import Clock, Rows, in_own_process, load_points, save
from pixelsne import PixelSNE, quality
from pixelsne.affinities import joint_affinities
from pixelsne.neighbors import find_neighbors

PERPLEXITY = 50
NEIGHBORS = 3 * PERPLEXITY
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "pixelsne-rp": ("pixelsne-rp", {}),
    "pixelsne-rp, mass, automatic rate": ("pixelsne-rp", {"center": "mass", "learning_rate": "auto"}),
    "bh-sne with rp-forest": ("bh-sne", {"neighbors": "rp-forest"}),
    "bh-sne with rp-forest, automatic rate": ("bh-sne", {"neighbors": "rp-forest", "learning_rate": "auto"}),
}


def run_ours(points: np.ndarray, name: str) -> tuple[np.ndarray, dict[str, float]]:
    preset, changes = OURS[name]
    model = PixelSNE.preset(preset, random_state=0, n_jobs=2, **changes).fit(points)
    return model.positions_, model.timings_


def run_opentsne(points: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    import openTSNE  # noqa: PLC0415 - only where it is measured

    with Clock() as clock:
        affinities = openTSNE.affinity.PerplexityBasedNN(points, PERPLEXITY, n_jobs=2, random_state=0)
    timings = {"neighbors": clock.seconds, "affinities": 0.0}
    with Clock() as clock:
        start = openTSNE.initialization.pca(points, random_state=0)
        embedding = openTSNE.TSNEEmbedding(start, affinities, n_jobs=2, random_state=0)
        embedding = embedding.optimize(250, exaggeration=12, momentum=0.8)
        embedding = embedding.optimize(750, momentum=0.8)
    return np.asarray(embedding, dtype=np.float32), {**timings, "descent": clock.seconds}


def child(folder: Path, name: str) -> None:
    points = np.load(folder / "points.npy")
    with Clock() as clock:
        positions, timings = run_opentsne(points) if name == "openTSNE" else run_ours(points, name)
    np.save(folder / "positions.npy", positions)
    print(json.dumps({"total": clock.seconds, **timings}))


def judge(folder: Path, points: np.ndarray, labels: np.ndarray, affinities: Any) -> dict[str, float]:
    positions = np.load(folder / "positions.npy")
    precision = quality.neighborhood_precision(points, positions, [10, 30])
    return {
        "KL": quality.kl_divergence(affinities, positions),
        "10-NN accuracy": quality.knn_accuracy(positions, labels, 10),
        "precision 10": float(precision[0]),
        "precision 30": float(precision[1]),
    }


def main(path: str, repetitions: int, n: int | None) -> None:
    points, labels = load_points(path, n)
    affinities = joint_affinities(find_neighbors(points, NEIGHBORS, "exact", 0, 2), (float(PERPLEXITY),), 2)
    rows: Rows = []
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        np.save(folder / "points.npy", points)
        for repetition in range(repetitions):
            for name in (*OURS, "openTSNE"):
                times = in_own_process(__file__, "--child", folder, name)
                row = {"system": name, "run": repetition + 1, **times, **judge(folder, points, labels, affinities)}
                rows.append({key: value for key, value in row.items() if key != "reduce"})
                print(rows[-1], flush=True)
    save("compare_opentsne", f"MNIST {len(points):,} x 50, perplexity 50, 1,000 iterations, 2 threads: seconds", rows)


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(Path(sys.argv[2]), sys.argv[3])
    else:
        given = [int(argument) for argument in sys.argv[2:]]
        main(sys.argv[1], given[0] if given else 1, given[1] if len(given) > 1 else None)
