"""Quality on 10,000 MNIST digits by resolution, as in the paper's tables: `paper_tables.py mnist.npz [repetitions]`.

For each resolution the preset "pixelsne-rp"; beside it BH-SNE and t-SNE as the paper runs them, and the pixel
tree with centers of mass and the automatic rate. Neighborhoods are those of the 50 principal components the map
is made from, and those of the 784 raw pixels.
"""

import sys

import numpy as np

from measure import Rows, load, save
from pixelsne import PixelSNE, quality
from pixelsne.reduce import reduce

NEIGHBORS = [1, 3, 5, 10, 20, 30]
SYSTEMS = [
    *[(f"pixelsne-rp, r = {r}", "pixelsne-rp", {"resolution": r}) for r in (512, 1024, 2048, 4096)],
    ("bh-sne", "bh-sne", {}),
    ("t-sne", "t-sne", {}),
    ("pixel tree, mass, automatic rate, r = 1024", "pixelsne-rp", {"center": "mass", "learning_rate": "auto"}),
]


def score(path: str, preset: str, changes: dict[str, object], seed: int) -> dict[str, list[float]]:
    values, labels = load(path, 10_000, seed)
    model = PixelSNE.preset(preset, random_state=seed, **changes).fit(values)
    return {
        "accuracy": quality.knn_accuracy(model.embedding_, labels, NEIGHBORS).tolist(),
        "precision": quality.neighborhood_precision(reduce(values, 50, 0), model.embedding_, NEIGHBORS).tolist(),
        "precision, raw pixels": quality.neighborhood_precision(values, model.embedding_, NEIGHBORS).tolist(),
        "KL": [model.kl_divergence_],
    }


def main(path: str, repetitions: int) -> None:
    rows: Rows = []
    for name, preset, changes in SYSTEMS:
        times = 1 if preset == "t-sne" else repetitions
        scores = [score(path, preset, changes, seed) for seed in range(times)]
        for measure in ("accuracy", "precision", "precision, raw pixels"):
            several = np.array([one[measure] for one in scores])
            mean, deviation = several.mean(axis=0), several.std(axis=0)
            cells = {f"k = {k}": f"{m:.4f} ({d:.4f})" for k, m, d in zip(NEIGHBORS, mean, deviation, strict=True)}
            kl = np.mean([one["KL"] for one in scores])
            rows.append({"system": name, "measure": measure, **cells, "KL": float(kl)})
            print(rows[-1], flush=True)
    save("paper_tables", f"10,000 MNIST digits, {repetitions} repetitions (t-SNE 1): mean (deviation)", rows)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
