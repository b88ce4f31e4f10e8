"""`--scale`: tables whose columns have different units, on the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_wine

from command_line import run


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    data = load_wine()
    path = tmp_path_factory.mktemp("wine") / "wine.csv"
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    pa.csv.write_csv(pa.table({**columns, "cultivar": [f"cultivar {kind}" for kind in data.target]}), path)
    return path


def embed(path, output, *options):
    return run("embed", path, "-o", output, "--max-iter", "200", "--json", "--progress", *options)


@pytest.mark.parametrize(("options", "expected"), [((), "standard"), (("--scale", "none"), "none")])
def test_a_table_of_unlike_columns_is_scaled(wine, tmp_path, options, expected):
    done = embed(wine, tmp_path / "map.parquet", "--label", "cultivar", *options)
    result = json.loads(done.stdout)
    assert result["settings"]["scale"] == expected
    assert (result["quality"]["knn_accuracy"][0] > 0.9) is (expected == "standard")
    assert ("'proline' by 314" in done.stderr) is (expected == "standard")
    scored = json.loads(run("score", wine, tmp_path / "map.parquet", "--label", "cultivar", "--json").stdout)
    assert scored["kl_divergence"] == pytest.approx(result["kl_divergence"], rel=0.05)


def test_vectors_and_arrays_are_not_scaled(tmp_path, random):
    widths = np.array([1.0, 2.0, 1000.0, 3.0])
    vectors = (random.normal(size=(100, 4)) * widths).tolist()
    pq.write_table(pa.table({"vector": vectors}), tmp_path / "vectors.parquet")
    np.savetxt(tmp_path / "rows.csv", vectors, delimiter=",")
    np.save(tmp_path / "rows.npy", vectors)
    for name in ("vectors.parquet", "rows.csv", "rows.npy"):
        done = embed(tmp_path / name, tmp_path / "map.npz", "--perplexity", "5")
        assert json.loads(done.stdout)["settings"]["scale"] == "none"


def test_presets_do_not_scale(wine, tmp_path):
    options = ("--label", "cultivar", "--preset", "bh-sne", "--max-iter", "300")
    assert json.loads(embed(wine, tmp_path / "map.npz", *options).stdout)["settings"]["scale"] == "none"
