"""The commands, from the outside."""

import datetime as dt
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import anndata
import click
import duckdb
import matplotlib.image
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import load_digits

from pixelsne import PixelSNE, cli, quality, settings
from pixelsne.affinities import joint_affinities
from pixelsne.cli import main
from pixelsne.files.read_map import read_map
from pixelsne.neighbors import SEARCHES, find_neighbors
from pixelsne.repulsion import METHODS
from pixelsne.viewer.layout import page_of

ROOT = Path(__file__).parents[1]
QUICK = ["--perplexity", "10", "--max-iter", "60", "--quiet"]
DOCUMENTED = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def run(*arguments, expect=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == expect, result.output
    return result


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    values, labels = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("input") / "cells.parquet"
    columns = {f"p{place}": column for place, column in enumerate(values[:300].T)}
    along = {"kind": [f"digit {label}" for label in labels[:300]], "age": np.arange(300) / 7, "x": ["a"] * 300}
    pq.write_table(pa.table(columns | along), path)
    return path


@pytest.fixture(scope="module")
def finished(cells, tmp_path_factory):
    """A map of the cells, by all but their age."""
    path = tmp_path_factory.mktemp("output") / "map.parquet"
    pixels = ",".join(f"p{place}" for place in range(64))
    run("embed", cells, "-o", path, "--columns", pixels, "--label", "kind", "--perplexity", "10", "--quiet")
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "npy", "npz", "h5ad"])
def test_from_a_file_to_a_map(kind, cells, tmp_path):
    output = tmp_path / "deep" / "deeper" / f"map.{kind}"
    run("embed", cells, "-o", output, "--resolution", "640x480", "--label", "kind", *QUICK)
    one = read_map(output)
    assert one.placed.shape == (300, 2)
    assert (one.placed >= 0).all()
    assert one.resolution == (640, 480)
    if kind != "npy":
        assert "kind" in one.others.column_names
    if kind in {"parquet", "npz", "h5ad"}:
        assert one.about["settings"]["perplexity"] == 10
    assert [path.name for path in output.parent.iterdir()] == [output.name], "nothing else is left there"


def test_every_kind_of_map_holds_the_same_places(cells, tmp_path):
    for kind in ("parquet", "csv", "npy", "npz"):
        run("embed", cells, "-o", tmp_path / f"map.{kind}", *QUICK)
    maps = [read_map(tmp_path / f"map.{kind}").placed for kind in ("parquet", "csv", "npy", "npz")]
    for one in maps[1:]:
        np.testing.assert_array_equal(one, maps[0])


def test_the_map_is_the_estimators(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.npy", "--columns", "p10,p20,p30", "--seed", "3", *QUICK)
    table = pq.read_table(cells, columns=["p10", "p20", "p30"])
    values = np.stack([column.to_numpy() for column in table.columns], axis=1)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=3).fit_transform(values)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), expected)


def test_the_parquet_tells_all(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--seed", "7", *QUICK)
    table = pq.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["x", "y", "pixel_x", "pixel_y", "kind", "input_x"], "an x of the input moves aside"
    np.testing.assert_array_equal(table["pixel_x"], np.floor(table["x"]))
    about = json.loads(table.schema.metadata[b"pixelsne"])
    assert about["seed"] == 7
    assert about["settings"]["perplexity"] == 10
    assert about["kl_divergence"] > 0
    assert about["resolution"] == [1024, 1024]
    assert about["columns"][-1] == "age"
    assert len(about["columns"]) == 65


def test_other_tools_open_the_map(finished):
    frames = [
        pd.read_parquet(finished),
        pl.read_parquet(finished).to_pandas(),
        duckdb.read_parquet(str(finished)).df(),
    ]
    for frame in frames:
        assert list(frame.columns) == ["x", "y", "pixel_x", "pixel_y", "kind", "age", "input_x"]
        assert frame["x"].between(0, 1024, inclusive="left").all()
        assert frame["kind"][0] == "digit 0"


def test_the_same_seed_gives_the_same_file(cells, tmp_path):
    for name in ("one", "two"):
        run("embed", cells, "-o", tmp_path / f"{name}.parquet", *QUICK)
    run("embed", cells, "-o", tmp_path / "other.parquet", "--seed", "1", "--init", "random", *QUICK)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert (tmp_path / "one.parquet").read_bytes() != (tmp_path / "other.parquet").read_bytes()


def test_a_result_for_machines(cells, tmp_path):
    paths = ["-o", tmp_path / "map.parquet", "--plot", tmp_path / "map.png"]
    result = run("embed", cells, *paths, "--label", "kind", "--json", *QUICK)
    told = json.loads(result.stdout)
    assert told["rows"] == 300
    assert told["columns"] == 65
    assert told["iterations"] == 60
    assert told["settings"]["perplexity"] == 10
    assert {"read", "neighbors", "descent", "fit", "write", "total"} <= told["timings"].keys()
    paths = {"map": str(tmp_path / "map.parquet"), "picture": str(tmp_path / "map.png"), "page": None, "model": None}
    assert told["paths"] == paths
    placed = read_map(tmp_path / "map.parquet").placed
    names = pq.read_table(tmp_path / "map.parquet")["kind"].to_numpy()
    assert told["quality"]["k"] == [10, 30]
    assert told["quality"]["knn_accuracy"] == pytest.approx(list(quality.knn_accuracy(placed, names, [10, 30])))
    assert not result.stderr


def test_messages_only_where_somebody_watches(cells, tmp_path):
    arguments = ["embed", cells, "-o", tmp_path / "map.npy", "--perplexity", "10", "--max-iter", "60"]
    assert run(*arguments).output == ""
    told = run(*arguments, "--progress")
    assert told.stdout == ""
    assert "300 rows of 65 numbers: p0, p1" in told.stderr
    assert "unfolding" in told.stderr
    assert "iteration 60" in told.stderr
    assert run(*arguments, "--progress", "--quiet").output == ""


def test_warnings_are_lines(cells, tmp_path):
    result = run("embed", cells, "-o", tmp_path / "map.npy", "--perplexity", "200", "--max-iter", "60")
    assert result.stderr.splitlines() == [
        "pixelsne: warning: perplexity=200 is too large for 300 points; using 99.6667"
    ]


def test_new_rows_on_an_old_map(cells, tmp_path):
    chosen = ["--columns", ",".join(f"p{place}" for place in range(5, 60))]
    run("embed", cells, "-o", tmp_path / "map.parquet", "--model", tmp_path / "m" / "model", *chosen, *QUICK)
    result = run("transform", tmp_path / "m" / "model", cells, "-o", tmp_path / "again.parquet", "--json", "--quiet")
    assert json.loads(result.stdout)["rows"] == 300
    again, before = read_map(tmp_path / "again.parquet"), read_map(tmp_path / "map.parquet")
    np.testing.assert_array_equal(again.placed, before.placed)
    pq.write_table(pq.read_table(cells).slice(7, 1), tmp_path / "one.parquet")
    run("transform", tmp_path / "m" / "model", tmp_path / "one.parquet", "-o", tmp_path / "one.csv", "--quiet")
    np.testing.assert_allclose(read_map(tmp_path / "one.csv").placed, before.placed[7:8], rtol=1e-6)
    np.save(tmp_path / "narrow.npy", np.zeros((3, 2)))
    wrong = run("transform", tmp_path / "m" / "model", tmp_path / "narrow.npy", "-o", tmp_path / "no.npy", expect=1)
    assert "p5" in wrong.stderr or "gives 2 numbers a row, the model was made of 55" in wrong.stderr


def test_a_map_may_start_from_another(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.npy", "--model", tmp_path / "model", *QUICK)
    start = ["--init", tmp_path / "model", "--perplexity", "10", "--quiet", "--max-iter"]
    run("embed", cells, "-o", tmp_path / "again.npy", *start, "1")
    moved = np.abs(np.load(tmp_path / "again.npy") - np.load(tmp_path / "map.npy"))
    assert np.median(moved) < 20


@pytest.mark.parametrize("label", [[], ["--label", "kind"]])
def test_scores(label, cells, finished):
    told = json.loads(run("score", cells, finished, *label, "--json").stdout)
    placed = read_map(finished).placed
    table = pq.read_table(cells)
    values = np.stack([table[f"p{place}"].to_numpy() for place in range(64)], axis=1)
    assert told["k"] == [1, 3, 5, 10, 20, 30]
    assert told["sampled_rows"] is None
    expected = quality.neighborhood_precision(values, placed, told["k"])
    assert told["neighborhood_precision"] == pytest.approx(list(expected), abs=1e-3)
    if label:
        accuracy = quality.knn_accuracy(placed, table["kind"].to_numpy(), told["k"])
        assert told["knn_accuracy"] == pytest.approx(list(accuracy))
    else:
        assert told["knn_accuracy"] is None


def test_the_divergence_is_that_of_the_maps_own_settings(cells, finished):
    told = json.loads(run("score", cells, finished, "--json").stdout)
    written = read_map(finished).about["kl_divergence"]
    assert told["kl_divergence"] == pytest.approx(written, rel=1e-4)
    other = json.loads(run("score", cells, finished, "--perplexity", "20", "--json").stdout)
    assert other["kl_divergence"] != pytest.approx(written, rel=1e-2)
    table = pq.read_table(cells)
    values = np.stack([table[f"p{place}"].to_numpy() for place in range(64)], axis=1)
    model = PixelSNE(perplexity=20, random_state=0, n_pca=50)
    points = model.start(values)
    for _ in points.snapshots():
        if points.prepared is not None:
            break
    affinities = joint_affinities(find_neighbors(points.prepared.space.points, 60, "exact", 0, 2), (20.0,), 2)
    one = read_map(finished)
    positions = one.placed * np.array(one.about["unit_per_pixel"])
    assert other["kl_divergence"] == pytest.approx(quality.kl_divergence(affinities, positions), rel=1e-4)


def test_scores_as_a_table(cells, finished, tmp_path):
    text = run("score", cells, finished).stdout
    assert "300 points, all compared with all" in text
    assert "neighborhood precision" in text
    assert "accuracy" not in text
    np.save(tmp_path / "map.npy", read_map(finished).placed)
    text = run("score", cells, tmp_path / "map.npy", "--label", "kind").stdout
    assert "k-NN accuracy" in text
    assert "KL divergence           unknown" in text


def test_large_maps_are_scored_by_a_sample(cells, finished, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.score.EXACT_UP_TO", 250)
    monkeypatch.setattr("pixelsne.commands.score.ROWS_SAMPLED", 100)
    assert "300 points, 100 of them sampled and compared with all" in run("score", cells, finished).stdout
    told = json.loads(run("score", cells, finished, "--json").stdout)
    assert told["sampled_rows"] == 100
    exact = quality.neighborhood_precision(
        np.stack([pq.read_table(cells)[f"p{place}"].to_numpy() for place in range(64)], axis=1),
        read_map(finished).placed,
        10,
    )
    assert told["neighborhood_precision"][3] == pytest.approx(exact, abs=0.05)


def test_a_map_of_other_rows_is_not_scored(cells, finished, tmp_path):
    pq.write_table(pq.read_table(cells).slice(0, 200), tmp_path / "fewer.parquet")
    result = run("score", tmp_path / "fewer.parquet", finished, expect=1)
    assert "has 300 points" in result.stderr
    assert "200 rows" in result.stderr


def test_pictures(finished, tmp_path):
    run("plot", finished, "-o", tmp_path / "kinds.png")
    run("plot", finished, "-o", tmp_path / "density.png", "--density")
    run("plot", finished, "-o", tmp_path / "ages.svg", "--color", "age", "--dark", "--title", "Ages", "--scale", "2")
    kinds, density = (matplotlib.image.imread(tmp_path / name) for name in ("kinds.png", "density.png"))
    assert kinds.shape[0] == density.shape[0] == 1044
    assert len(np.unique(kinds.reshape(-1, 4), axis=0)) > 10
    assert (tmp_path / "ages.svg").read_text().startswith("<?xml")
    result = run("plot", finished, "-o", tmp_path / "no.png", "--color", "nothing", expect=1)
    assert "has no column 'nothing' to color by; it has kind, age, input_x" in result.stderr
    result = run("plot", finished, "-o", tmp_path / "no.png", "--color", "kind", "--color-as", "numbers", expect=1)
    assert "holds no numbers" in result.stderr


def test_a_picture_with_the_map(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--plot", tmp_path / "p" / "map.png", "--label", "kind", *QUICK)
    assert (tmp_path / "p" / "map.png").read_bytes().startswith(b"\x89PNG")


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


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz", "h5ad"])
def test_whatever_travels_along_is_written(kind, tmp_path):
    vectors = pa.FixedSizeListArray.from_arrays(np.random.default_rng(0).normal(size=500), 5)
    pq.write_table(pa.table({"vector": vectors, **ODD}), tmp_path / "points.parquet")
    outputs = ["-o", tmp_path / f"map.{kind}", "--html", tmp_path / "map.html", "--plot", tmp_path / "map.png"]
    for label in ("list", "nothing", "day"):
        run("embed", tmp_path / "points.parquet", *outputs, "--label", label, "--columns", "vector", *QUICK)
    one = read_map(tmp_path / f"map.{kind}")
    assert len(one.placed) == 100
    names = one.others.column_names
    assert "word" in names
    assert ("file" in names) or ("input_file" in names)


def test_the_map_is_kept_when_something_else_fails(cells, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.draw", lambda *_: 1 / 0)
    outputs = ["-o", tmp_path / "map.parquet", "--plot", tmp_path / "map.png"]
    result = run("embed", cells, *outputs, *QUICK, expect=1)
    assert result.stderr.strip() == "pixelsne: division by zero"
    assert len(read_map(tmp_path / "map.parquet").placed) == 300


def test_colors_are_checked_before_the_fit(cells, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.follow", lambda *_: pytest.fail("was run"))
    options = ["--plot", tmp_path / "map.png", "--label", "kind", "--color-as", "numbers"]
    assert "holds no numbers" in run("embed", cells, "-o", tmp_path / "m.npy", *options, *QUICK, expect=1).stderr


def test_a_label_called_y(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "points.npz", X=rng.normal(size=(100, 5)), y=np.arange(100) % 3)
    outputs = ["-o", tmp_path / "map.parquet", "--html", tmp_path / "map.html"]
    run("embed", tmp_path / "points.npz", *outputs, "--label", "y", *QUICK)
    assert read_map(tmp_path / "map.parquet").about["label"] == "input_y"
    run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png")
    run("plot", tmp_path / "map.parquet", "-o", tmp_path / "again.html")
    assert page_of(read_map(tmp_path / "map.parquet"), "map").color == "input_y"


def test_cells_keep_all_they_had(tmp_path):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(action="ignore"):
        given = anndata.AnnData(sparse.csr_array(rng.poisson(1, (100, 30)).astype(np.float32)))
        given.obs["type"] = pd.Categorical(rng.choice(["B", "T"], 100))
        given.obsm["X_pca"] = rng.normal(size=(100, 5))
        given.layers["raw"] = given.X.copy()
        given.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "map.h5ad", "--rep", "X_pca", "--label", "type", *QUICK)
    found = anndata.read_h5ad(tmp_path / "map.h5ad")
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit_transform(given.obsm["X_pca"])
    np.testing.assert_array_equal(found.obsm["X_pixelsne"], expected)
    assert (found.layers["raw"] != given.layers["raw"]).nnz == 0
    assert list(found.obs["type"]) == list(given.obs["type"])
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    told = json.loads(run("score", tmp_path / "cells.h5ad", tmp_path / "map.h5ad", "--label", "type", "--json").stdout)
    exact = quality.neighborhood_precision(given.obsm["X_pca"], expected, 10)
    assert told["neighborhood_precision"][3] == pytest.approx(exact)
    run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "all.parquet", *QUICK)
    assert "neighborhood" in run("score", tmp_path / "cells.h5ad", tmp_path / "all.parquet").stdout
    assert read_map(tmp_path / "all.parquet").others.column_names == ["cell", "type"]
    run("plot", tmp_path / "map.h5ad", "-o", tmp_path / "map.png")
    for wrong, message in ((["--rep", "X_umap"], "no 'X_umap' in obsm; it has X_pca"), (["--columns", "a"], "--rep")):
        assert message in run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "n.npy", *wrong, expect=1).stderr


@pytest.mark.parametrize("metric", ["cosine", "cityblock", "precomputed"])
def test_other_distances(metric, tmp_path):
    rng = np.random.default_rng(0)
    values = np.abs(rng.normal(size=(120, 8)))
    if metric == "precomputed":
        values = np.linalg.norm(values[:, None] - values[None], axis=2)
    np.save(tmp_path / "values.npy", values)
    run("embed", tmp_path / "values.npy", "-o", tmp_path / "map.npz", "--metric", metric, *QUICK)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0, metric=metric).fit_transform(values)
    np.testing.assert_array_equal(read_map(tmp_path / "map.npz").placed, expected)
    told = json.loads(run("score", tmp_path / "values.npy", tmp_path / "map.npz", "--json").stdout)
    assert 0.2 < told["neighborhood_precision"][3] <= 1
    assert told["kl_divergence"] == pytest.approx(read_map(tmp_path / "map.npz").about["kl_divergence"], rel=1e-3)


def test_sparse_matrices(tmp_path):
    matrix = sparse.random(200, 3000, 0.02, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "counts.npz", matrix)
    run("embed", tmp_path / "counts.npz", "-o", tmp_path / "map.npz", *QUICK)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit_transform(matrix)
    np.testing.assert_array_equal(read_map(tmp_path / "map.npz").placed, expected)
    told = json.loads(run("score", tmp_path / "counts.npz", tmp_path / "map.npz", "--json").stdout)
    assert len(told["neighborhood_precision"]) == 6


def test_a_preset(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--preset", "bh-sne", "--max-iter", "20", "--quiet")
    used = read_map(tmp_path / "map.parquet").about["settings"]
    assert used["repulsion"] == "barnes-hut"
    assert used["perplexity"] == 50
    assert used["max_iter"] == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "map.xlsx"], "map.xlsx: is of a kind that is not written here"),
        (["-o", "map.parquet", "--plot", "map.txt"], "map.txt: is of a kind"),
        (["-o", "map.parquet", "--columns", "nothing"], "has no column 'nothing'"),
        (["-o", "map.parquet", "--perplexity", "-3"], "perplexity must be"),
        (["-o", "map.parquet", "--model", "map.parquet"], "is to hold two things"),
        (["-o", "map.parquet", "--resume", "nothing"], "nothing: no such checkpoint"),
        (["-o", "map.parquet", "--init", "nothing"], "nothing: No such file"),
        (["-o", "/proc/nothing/map.parquet"], "/proc/nothing/map.parquet: cannot be written"),
        (["-o", "map.parquet", "--n-neighbors", "3"], "n_neighbors=3 cannot carry"),
    ],
)
def test_what_fails_says_why_in_one_line(arguments, message, cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if os.geteuid() == 0 and "/proc" in message:
        arguments = ["-o", "/proc/self/comm/map.parquet"]
        message = "/proc/self/comm/map.parquet: cannot be written"
    result = run("embed", cells, *arguments, "--quiet", expect=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_fit_that_cannot_be_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.memory.available", lambda: 100e6)
    pq.write_table(pa.table({"a": np.zeros(200_000), "b": np.zeros(200_000)}), tmp_path / "many.parquet")
    monkeypatch.setattr("pixelsne.files.columns.fill", lambda *_: pytest.fail("was read"))
    result = run("embed", tmp_path / "many.parquet", "-o", tmp_path / "map.npy", expect=1)
    assert re.search(
        r"many\.parquet: 200,000 points with 90 neighbors each take about 0\.\d GB, 0\.1 GB are available; "
        r"lower perplexity to \d",
        result.stderr,
    )


def test_what_writing_needs_is_looked_for_before_the_fit(cells, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata.io", None)
    monkeypatch.setattr("pixelsne.commands.embed.read", lambda *_: pytest.fail("was read"))
    result = run("embed", cells, "-o", tmp_path / "map.h5ad", *QUICK, expect=1)
    assert "pip install 'pixelsne[anndata]'" in result.stderr


def test_an_input_is_never_written_over(cells, tmp_path):
    before = cells.read_bytes()
    (tmp_path / "link.parquet").symlink_to(cells)
    for output in (cells, tmp_path / "link.parquet"):
        assert "is an input" in run("embed", cells, "-o", output, *QUICK, expect=1).stderr
    assert cells.read_bytes() == before


def test_usage_is_exit_2(cells):
    run("embed", cells, expect=2)
    run("embed", cells, "-o", "map.parquet", "--resolution", "wide", expect=2)
    run("embed", cells, "-o", "map.parquet", "--metric", "nothing", expect=2)
    run("embed", cells, "-o", "map.parquet", "--perplexity", "many", expect=2)
    run("nothing", expect=2)


def test_one_row_is_no_map(tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    assert "one.csv: has 1 row" in run("embed", tmp_path / "one.csv", "-o", tmp_path / "m.npy", expect=1).stderr


def test_a_missing_input(tmp_path):
    result = run("embed", tmp_path / "nothing.parquet", "-o", tmp_path / "map.parquet", expect=1)
    assert "nothing.parquet: No such file" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": [1.0, 2.0]}, "has no column 'y'"),
        ({"x": [1.0, -2.0], "y": [1.0, 2.0]}, "is no map: places lie between 0 and 65,536"),
        ({"x": [1.0, 2.0], "y": [1.0, float("nan")]}, "column 'y', row 2: NaN"),
    ],
)
def test_what_is_no_map(content, message, tmp_path):
    pq.write_table(pa.table(content), tmp_path / "map.parquet")
    assert message in run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png", expect=1).stderr


@pytest.mark.parametrize("told", [b"{", b'{"resolution": [2, 2]}', b'{"resolution": ["a", "b"]}', b'{"resolution": 3}'])
def test_a_map_that_lies_about_itself(told, tmp_path):
    table = pa.table({"x": [1.0, 2.5], "y": [1.0, 2.0]}).replace_schema_metadata({b"pixelsne": told})
    pq.write_table(table, tmp_path / "map.parquet")
    assert "is damaged" in run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png", expect=1).stderr


def test_the_demo(tmp_path):
    result = run("demo", "-o", tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "map.png") in result.stdout
    assert "10-NN accuracy" in result.stdout
    assert "<!doctype html>" in (tmp_path / "map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "command"), list(main.commands.items()))
def test_every_command_and_option_has_help_and_an_example(name, command):
    text = run(name, "--help").stdout
    assert f"\n  pixelsne {name} " in text.split("Options:")[0].split("Usage:")[1], "no example"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def section_of(name):
    return re.search(rf"^## `pixelsne {name}.*?(?=^## |\Z)", DOCUMENTED, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "command"), list(main.commands.items()))
def test_every_command_and_option_is_documented(name, command):
    section = section_of(name)
    assert section, f"docs/command-line.md has no section on {name}"
    shared = re.search(r"^## Options of several commands.*?(?=^## )", DOCUMENTED, re.MULTILINE | re.DOTALL)[0]
    known = {flag for option in command.params if isinstance(option, click.Option) for flag in option.opts}
    for flag in known:
        assert f"`{flag}" in section[0] + shared, f"{flag} of {name} is not documented"
    for flag in re.findall(r"^\| `(--?[a-z-]+)", section[0], re.MULTILINE):
        assert flag in known, f"{flag} of {name} is documented, but unknown"


def test_names_are_those_the_estimator_knows():
    assert cli.METRICS == settings.METRICS
    assert ("auto", *SEARCHES) == cli.SEARCHES
    assert ("auto", *METHODS) == cli.REPULSIONS
    assert tuple(settings.PRESETS) == cli.PRESETS


def test_defaults_told_are_the_estimators():
    parameters = PixelSNE().get_params()
    for option in main.commands["embed"].params:
        told = re.search(r"\[default: (\S+)\]", option.help or "") if isinstance(option, click.Option) else None
        if told is not None:
            assert str(parameters[option.name]) in {told[1], f"{told[1]}.0"}, option.name


def test_version_and_completion():
    assert "pixelsne, version" in run("--version").stdout
    program = Path(sys.executable).with_name("pixelsne")
    environment = {**os.environ, "_PIXELSNE_COMPLETE": "bash_source"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert "complete" in shown.stdout
    environment = {**os.environ, "_PIXELSNE_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": "pixelsne embed --neighbors r", "COMP_CWORD": "3"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert "rp-forest" in shown.stdout


def test_help_imports_nothing_slow():
    code = (
        "import sys; from pixelsne.cli import main\n"
        "try: main(['embed', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = ('numpy', 'scipy', 'sklearn', 'pyarrow', 'rich', 'matplotlib')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
