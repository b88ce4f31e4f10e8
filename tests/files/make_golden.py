"""Write the files that all later versions must be able to read, into golden/VERSION.

Run it once per release, with that release installed: `python tests/files/make_golden.py`. Never change files of a
version that was released.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import pairwise_distances

import pixelsne
from pixelsne import PixelSNE

FOLDER = Path(__file__).parent / "golden" / pixelsne.__version__
ROWS, COLUMNS = 60, 6
SETTINGS = {"perplexity": 8, "max_iter": 60, "random_state": 0, "resolution": (640, 480), "n_jobs": 1}
OPTIONS = ["--label", "kind", "--perplexity", "8", "--max-iter", "60", "--resolution", "640x480", "--quiet"]


def make_points():
    random, classes = np.random.default_rng(0), np.arange(ROWS) % 3
    values = random.normal(size=(ROWS, COLUMNS)) + 4 * random.normal(size=(3, COLUMNS))[classes]
    return values.round(3), classes


def write_models(values):
    """Write one model of each kind, and the maps and new points that it must give."""
    distances = pairwise_distances(values)
    affinities = np.exp(-np.square(distances) / 10) - np.eye(ROWS)
    inputs = {"precomputed": distances, "affinities": affinities}
    kinds = {"euclidean": {}, "reduced": {"n_pca": 3}} | {
        metric: {"metric": metric} for metric in ("cosine", "manhattan", *inputs)
    }
    expected = {"points": values}
    for name, changes in kinds.items():
        model = PixelSNE(**SETTINGS | changes).fit(inputs.get(name, values))
        model.save(FOLDER / f"{name}.model")
        expected[name] = model.embedding_
        if name not in inputs:
            expected[f"{name}_new"] = model.transform(values[:5] + 0.25)
    np.savez_compressed(FOLDER / "expected.npz", **expected)


def write_maps(values, classes):
    """Write one map in each format, and one in a folder of parts."""
    columns = {f"v{index}": column for index, column in enumerate(values.T)}
    table = pa.table(columns | {"kind": ["abc"[one] for one in classes], "size": np.arange(ROWS) / 4})
    pq.write_table(table, FOLDER / "points.parquet")
    embed = [sys.executable, "-m", "pixelsne", "embed", str(FOLDER / "points.parquet"), *OPTIONS]
    chosen = ["--columns", ",".join(columns)]
    for kind in ("parquet", "csv", "tsv", "npy", "npz", "h5ad"):
        subprocess.run([*embed, *chosen, "-o", str(FOLDER / f"map.{kind}")], check=True)
    subprocess.run([*embed, *chosen, "-o", str(FOLDER / "parts"), "--cluster", "local"], check=True)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True)
    write_models(*make_points()[:1])
    write_maps(*make_points())
