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

from judge import Judge
from measure import Clock, Rows, in_own_process, load_points, save
from pixelsne import PixelSNE

PERPLEXITY = 50
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


def main(path: str, repetitions: int, n: int | None) -> None:
    points, labels = load_points(path, n)
    judge = Judge(points, labels, PERPLEXITY, 2)
    rows: Rows = []
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        np.save(folder / "points.npy", points)
        for repetition in range(repetitions):
            for name in (*OURS, "openTSNE"):
                times = in_own_process(__file__, "--child", folder, name)
                row = {"system": name, "run": repetition + 1, **times, **judge.judge(np.load(folder / "positions.npy"))}
                rows.append({key: value for key, value in row.items() if key != "reduce"})
                print(rows[-1], flush=True)
    save("compare_opentsne", f"MNIST {len(points):,} x 50, perplexity 50, 1,000 iterations, 2 threads: seconds", rows)


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(Path(sys.argv[2]), sys.argv[3])
    else:
        given = [int(argument) for argument in sys.argv[2:]]
        main(sys.argv[1], given[0] if given else 1, given[1] if len(given) > 1 else None)
