"""Compare KL with that of openTSNE on the same affinities: `same_affinities.py mnist.npz [points]`.

Both start from the same positions with the same P (perplexity 50, k = 150, exact neighbors) and run 1,000 iterations at
their automatic learning rates. The KL divergence has an exact normalizer.
"""

import sys

import numpy as np
import openTSNE
from scipy.sparse import csr_matrix

from measure import Clock, Rows, load_points, save
from pixelsne import PixelSNE, quality
from pixelsne.affinities import joint_affinities
from pixelsne.neighbors import find_neighbors

INITS = {"pca": openTSNE.initialization.pca, "random": openTSNE.initialization.random}


def main(path: str, n: int) -> None:
    points, labels = load_points(path, n)
    affinities = joint_affinities(find_neighbors(points, 150, "exact", 0, 2), (50.0,), 2)
    parts = affinities.values.astype(np.float64), affinities.columns.copy(), affinities.offsets.astype(np.int32)
    matrix = csr_matrix(parts, shape=(len(points), len(points)))
    rows: Rows = []
    for name, make_init in INITS.items():
        start = make_init(points, random_state=0)
        with Clock() as opentsne_clock:
            embedding = openTSNE.TSNEEmbedding(
                start, openTSNE.affinity.PrecomputedAffinities(matrix, normalize=False), n_jobs=2, random_state=0
            )
            embedding = embedding.optimize(250, exaggeration=12, momentum=0.8).optimize(750, momentum=0.8)
        changes = {"neighbors": "exact", "init": start, "learning_rate": "auto", "random_state": 0}
        results = [("openTSNE", opentsne_clock.seconds, np.asarray(embedding, dtype=np.float32))]
        for system, center in [("pixel-tree, mass", {"center": "mass"}), ("pixel-tree, cell", {})]:
            model = PixelSNE.preset("pixelsne-rp", **changes, **center).fit(points)
            results.append((system, model.timings_["descent"], model.positions_))
        for system, seconds, positions in results:
            rows.append({
                "start": name,
                "system": system,
                "descent, s": seconds,
                "KL": quality.kl_divergence(affinities, positions),
                "10-NN accuracy": quality.knn_accuracy(positions, labels, 10),
            })  # fmt: skip
            print(rows[-1], flush=True)
    save("same_affinities", f"{len(points):,} MNIST digits, one P, 1,000 iterations", rows)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
