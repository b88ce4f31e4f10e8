"""All kinds of input, from the file to the map, its scores and its picture."""

import datetime as dt
import json
import warnings

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from command_line import QUICK, run
from pixelsne import PixelSNE, quality
from pixelsne.coloring import Coloring
from pixelsne.files.read_map import read_map
from pixelsne.viewer.layout import page_of

GRAY = Coloring(np.full((100, 3), 0.5))

ODD = {
    "file": ["a", "b"] * 50,
    "allow_pickle": [1, 2] * 50,
    "when": pa.array([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)] * 100),
    "day": pa.array([dt.date(2026, 1, 1)] * 100),
    "price": pa.array([1.5] * 100).cast(pa.decimal128(5, 2)),
    "nothing": pa.array([None] * 100, pa.dictionary(pa.int32(), pa.string())),
    "list": [[1], [2, 3]] * 50,
    "word": pa.array(["x", None] * 50),
    "long": ["9" * 5000] * 100,
    "": list(range(100)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv", "npz", "h5ad"])
def test_extra_columns_of_any_type_are_written(kind, tmp_path):
    vectors = pa.FixedSizeListArray.from_arrays(np.random.default_rng(0).normal(size=500), 5)
    pq.write_table(pa.table({"vector": vectors, **ODD}), tmp_path / "points.parquet")
    outputs = ["-o", tmp_path / f"map.{kind}", "--html", tmp_path / "map.html", "--plot", tmp_path / "map.png"]
    for label in ("list", "nothing", "day"):
        run("embed", tmp_path / "points.parquet", *outputs, "--label", label, "--columns", "vector", *QUICK)
    one = read_map(tmp_path / f"map.{kind}")
    assert len(one.placed) == 100
    names = one.extra_columns.column_names
    assert "word" in names
    assert "file" in names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv", "npz", "h5ad"])
def test_a_label_keeps_its_name_in_every_format(kind, tmp_path, monkeypatch):
    """Also where the map's file uses that name itself."""
    rng, drawn = np.random.default_rng(0), []
    monkeypatch.setattr("pixelsne.plot.choose_coloring", lambda _, name, *__: drawn.append(name) or GRAY)
    names = ("y", "input_y", "file", "embedding")
    labels = names if kind != "h5ad" else ("y", "embedding")  # every reading of it starts a process
    vectors = pa.array(rng.normal(size=(100, 5)).tolist())
    columns = {name: rng.integers(0, 3, 100) for name in names[::-1]}
    pq.write_table(pa.table({"vector": vectors} | columns), tmp_path / "points.parquet")
    path = tmp_path / f"map.{kind}"
    for label in labels:
        run("embed", tmp_path / "points.parquet", "-o", path, "--plot", tmp_path / "a.png", "--label", label, *QUICK)
        one = read_map(path)
        assert {name: one.extra_columns[name].to_pylist() for name in names} == {
            k: v.tolist() for k, v in columns.items()
        }
        assert page_of(one, "map", label).color == label
        color = [] if kind != "csv" else ["--color", label]  # csv files do not store the label
        run("plot", path, "-o", tmp_path / "b.png", *color)
        run("plot", path, "-o", tmp_path / "b.html", "--color", label)
        assert drawn == [label, label]
        drawn.clear()


@pytest.mark.slow
def test_a_column_may_be_named_as_in_the_map_file(tmp_path):
    np.savez(tmp_path / "points.npz", X=np.random.default_rng(0).normal(size=(100, 5)), y=np.arange(100) % 3)
    run("embed", tmp_path / "points.npz", "-o", tmp_path / "map.parquet", *QUICK)
    assert "input_y" in pq.read_schema(tmp_path / "map.parquet").names
    run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png", "--color", "input_y")


def test_a_label_named_as_in_the_map_file_is_recognized(tmp_path):
    table = pa.table({"x": [1.0, 2.0], "y": [1.0, 2.0], "input_y": ["a", "b"]})
    metadata = {b"pixelsne": b'{"resolution": [16, 16], "label": "input_y"}'}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "map.parquet")
    one = read_map(tmp_path / "map.parquet")
    assert one.metadata["label"] == "y"
    assert one.extra_columns.column_names == ["y"]


@pytest.mark.slow
def test_h5ad_output_keeps_the_content_of_the_input(tmp_path):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(action="ignore"):
        adata = anndata.AnnData(sparse.csr_array(rng.poisson(1, (100, 30)).astype(np.float32)))
        adata.obs["type"] = pd.Categorical(rng.choice(["B", "T"], 100))
        adata.obsm["X_pca"] = rng.normal(size=(100, 5))
        adata.layers["raw"] = adata.X.copy()
        adata.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "map.h5ad", "--rep", "X_pca", "--label", "type", *QUICK)
    found = anndata.read_h5ad(tmp_path / "map.h5ad")
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit_transform(adata.obsm["X_pca"])
    np.testing.assert_array_equal(read_map(tmp_path / "map.h5ad").placed, expected)
    assert (found.layers["raw"] != adata.layers["raw"]).nnz == 0
    assert list(found.obs["type"]) == list(adata.obs["type"])
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    report = json.loads(
        run("score", tmp_path / "cells.h5ad", tmp_path / "map.h5ad", "--label", "type", "--json").stdout
    )
    exact = quality.neighborhood_precision(adata.obsm["X_pca"], expected, 10)
    assert report["neighborhood_precision"][3] == pytest.approx(exact)
    run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "all.parquet", *QUICK)
    assert "neighborhood" in run("score", tmp_path / "cells.h5ad", tmp_path / "all.parquet").stdout
    assert read_map(tmp_path / "all.parquet").extra_columns.column_names == ["cell", "type"]
    run("plot", tmp_path / "map.h5ad", "-o", tmp_path / "map.png")
    for wrong, message in ((["--rep", "X_umap"], "no 'X_umap' in obsm; it has X_pca"), (["--columns", "a"], "--rep")):
        assert message in run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "n.npy", *wrong, expect=1).stderr


@pytest.mark.parametrize("metric", ["cosine", "cityblock", "precomputed"])
def test_other_metrics_from_file_to_score(metric, tmp_path):
    rng = np.random.default_rng(0)
    values = np.abs(rng.normal(size=(120, 8)))
    if metric == "precomputed":
        values = np.linalg.norm(values[:, None] - values[None], axis=2)
    np.save(tmp_path / "values.npy", values)
    run("embed", tmp_path / "values.npy", "-o", tmp_path / "map.npz", "--metric", metric, *QUICK)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0, metric=metric).fit_transform(values)
    np.testing.assert_array_equal(read_map(tmp_path / "map.npz").placed, expected)
    report = json.loads(run("score", tmp_path / "values.npy", tmp_path / "map.npz", "--json").stdout)
    assert 0.2 < report["neighborhood_precision"][3] <= 1
    assert report["kl_divergence"] == pytest.approx(read_map(tmp_path / "map.npz").metadata["kl_divergence"], rel=1e-3)


@pytest.mark.slow
def test_sparse_matrices_from_file_to_score(tmp_path):
    matrix = sparse.random(200, 3000, 0.02, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "counts.npz", matrix)
    run("embed", tmp_path / "counts.npz", "-o", tmp_path / "map.npz", *QUICK)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit_transform(matrix)
    np.testing.assert_array_equal(read_map(tmp_path / "map.npz").placed, expected)
    report = json.loads(run("score", tmp_path / "counts.npz", tmp_path / "map.npz", "--json").stdout)
    assert len(report["neighborhood_precision"]) == 6
