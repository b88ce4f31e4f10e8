"""`pixelsne embed`, `transform` and `demo`: from a file to a map."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE, quality
from pixelsne.files.read_map import read_map


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "npy", "npz", "h5ad"])
def test_from_a_file_to_a_map(kind, cells, tmp_path):
    output = tmp_path / "deep" / "deeper" / f"map.{kind}"
    run("embed", cells, "-o", output, "--resolution", "640x480", "--label", "kind", *QUICK)
    one = read_map(output)
    assert one.placed.shape == (300, 2)
    assert (one.placed >= 0).all()
    assert one.resolution == (640, 480)
    if kind != "npy":
        assert "kind" in one.extra_columns.column_names
    if kind in {"parquet", "npz", "h5ad"}:
        assert one.metadata["settings"]["perplexity"] == 10
    assert [path.name for path in output.parent.iterdir()] == [output.name], "no other file may be left"


@pytest.mark.slow
def test_every_format_holds_the_same_positions(cells, tmp_path):
    for kind in ("parquet", "csv", "npy", "npz"):
        run("embed", cells, "-o", tmp_path / f"map.{kind}", *QUICK)
    maps = [read_map(tmp_path / f"map.{kind}").placed for kind in ("parquet", "csv", "npy", "npz")]
    for one in maps[1:]:
        np.testing.assert_array_equal(one, maps[0])


def test_the_command_writes_the_map_of_the_estimator(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.npy", "--columns", "p10,p20,p30", "--seed", "3", *QUICK)
    table = pq.read_table(cells, columns=["p10", "p20", "p30"])
    values = np.stack([column.to_numpy() for column in table.columns], axis=1)
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=3).fit_transform(values)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), expected)


def test_columns_and_metadata_of_a_parquet_map(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--seed", "7", *QUICK)
    table = pq.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["x", "y", "pixel_x", "pixel_y", "region_1", "kind", "input_x"], (
        "a column x of the input is renamed"
    )
    np.testing.assert_array_equal(table["pixel_x"], np.floor(table["x"]))
    metadata = json.loads(table.schema.metadata[b"pixelsne"])
    assert metadata["seed"] == 7
    assert metadata["settings"]["perplexity"] == 10
    assert metadata["kl_divergence"] > 0
    assert metadata["resolution"] == [1024, 1024]
    assert metadata["columns"][-1] == "age"
    assert len(metadata["columns"]) == 65


def test_pandas_polars_and_duckdb_read_the_map(finished):
    frames = [
        pd.read_parquet(finished),
        pl.read_parquet(finished).to_pandas(),
        duckdb.read_parquet(str(finished)).df(),
    ]
    for frame in frames:
        assert list(frame.columns) == ["x", "y", "pixel_x", "pixel_y", "region_1", "kind", "age", "input_x"]
        assert frame["x"].between(0, 1024, inclusive="left").all()
        assert frame["kind"][0] == "digit 0"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file(cells, tmp_path):
    for name in ("one", "two"):
        run("embed", cells, "-o", tmp_path / f"{name}.parquet", *QUICK)
    run("embed", cells, "-o", tmp_path / "other.parquet", "--seed", "1", "--init", "random", *QUICK)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert (tmp_path / "one.parquet").read_bytes() != (tmp_path / "other.parquet").read_bytes()


@pytest.mark.slow
def test_the_json_report(cells, tmp_path):
    paths = ["-o", tmp_path / "map.parquet", "--plot", tmp_path / "map.png"]
    result = run("embed", cells, *paths, "--label", "kind", "--json", *QUICK)
    report = json.loads(result.stdout)
    assert report["rows"] == 300
    assert report["columns"] == 65
    assert report["iterations"] == 60
    assert report["settings"]["perplexity"] == 10
    assert {"read", "neighbors", "descent", "fit", "write", "total"} <= report["timings"].keys()
    written = {"map": str(tmp_path / "map.parquet"), "picture": str(tmp_path / "map.png")}
    assert report["paths"] == {**written, "page": None, "model": None, "film": None}
    placed = read_map(tmp_path / "map.parquet").placed
    names = pq.read_table(tmp_path / "map.parquet")["kind"].to_numpy()
    assert report["quality"]["k"] == [10, 30]
    assert report["quality"]["knn_accuracy"] == pytest.approx(list(quality.knn_accuracy(placed, names, [10, 30])))
    assert not result.stderr


@pytest.mark.slow
def test_progress_is_printed_only_on_request(cells, tmp_path):
    arguments = ["embed", cells, "-o", tmp_path / "map.npy", "--perplexity", "10", "--max-iter", "60"]
    assert run(*arguments).output == ""
    report = run(*arguments, "--progress")
    assert report.stdout == ""
    assert "300 rows of 65 numbers: p0, p1" in report.stderr
    assert "unfolding" in report.stderr
    assert "iteration 60" in report.stderr
    assert run(*arguments, "--progress", "--quiet").output == ""


def test_a_warning_is_one_line(cells, tmp_path):
    result = run("embed", cells, "-o", tmp_path / "map.npy", "--perplexity", "200", "--max-iter", "60")
    assert result.stderr.splitlines() == [
        "pixelsne: warning: perplexity=200 is too large for 300 points; using 99.6667"
    ]


@pytest.mark.slow
def test_transform_places_new_rows_on_the_map(cells, tmp_path):
    columns_option = ["--columns", ",".join(f"p{index}" for index in range(5, 60))]
    run("embed", cells, "-o", tmp_path / "map.parquet", "--model", tmp_path / "m" / "model", *columns_option, *QUICK)
    result = run("transform", tmp_path / "m" / "model", cells, "-o", tmp_path / "again.parquet", "--json", "--quiet")
    assert json.loads(result.stdout)["rows"] == 300
    again, before = read_map(tmp_path / "again.parquet"), read_map(tmp_path / "map.parquet")
    np.testing.assert_array_equal(again.placed, before.placed)
    pq.write_table(pq.read_table(cells).slice(7, 1), tmp_path / "one.parquet")
    run("transform", tmp_path / "m" / "model", tmp_path / "one.parquet", "-o", tmp_path / "one.csv", "--quiet")
    np.testing.assert_allclose(read_map(tmp_path / "one.csv").placed, before.placed[7:8], rtol=1e-6)
    np.save(tmp_path / "narrow.npy", np.zeros((3, 2)))
    wrong = run("transform", tmp_path / "m" / "model", tmp_path / "narrow.npy", "-o", tmp_path / "no.npy", expect=1)
    assert "p5" in wrong.stderr or "has 2 numbers per row, but the model was fitted to 55" in wrong.stderr


@pytest.mark.slow
def test_a_map_may_start_from_a_model(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.npy", "--model", tmp_path / "model", *QUICK)
    start = ["--init", tmp_path / "model", "--perplexity", "10", "--quiet", "--max-iter"]
    run("embed", cells, "-o", tmp_path / "again.npy", *start, "1")
    moved = np.abs(np.load(tmp_path / "again.npy") - np.load(tmp_path / "map.npy"))
    assert np.median(moved) < 20


@pytest.mark.slow
def test_a_map_may_continue_from_a_model(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.npy", "--model", tmp_path / "model", *QUICK)
    start = ["--init", tmp_path / "model", "--init-scale", "none", "--perplexity", "10", "--quiet"]
    run("embed", cells, "-o", tmp_path / "again.npy", *start, "--max-iter", "20")
    moved = np.abs(np.load(tmp_path / "again.npy") - np.load(tmp_path / "map.npy"))
    assert np.median(moved) < 20
    wrong = run("embed", cells, "-o", tmp_path / "no.npy", "--init-scale", "none", "--quiet", expect=1)
    assert "init_scale=None continues from positions, got init='pca'" in wrong.stderr
    wrong = run("embed", cells, "-o", tmp_path / "no.npy", "--init-scale", "some", expect=2)
    assert "'some' is neither none nor a number" in wrong.stderr
    run("embed", cells, "-o", tmp_path / "wide.npy", "--init-scale", "0.1", *QUICK)


@pytest.mark.slow
def test_embed_writes_a_picture(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--plot", tmp_path / "p" / "map.png", "--label", "kind", *QUICK)
    assert (tmp_path / "p" / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_preset_sets_the_parameters(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--preset", "bh-sne", "--max-iter", "20", "--quiet")
    used = read_map(tmp_path / "map.parquet").metadata["settings"]
    assert used["repulsion"] == "barnes-hut"
    assert used["perplexity"] == 50
    assert used["max_iter"] == 20


@pytest.mark.slow
def test_demo_writes_a_picture_and_a_page(tmp_path):
    result = run("demo", "-o", tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "map.png") in result.stdout
    assert "10-NN accuracy" in result.stdout
    assert "<!doctype html>" in (tmp_path / "map.html").read_text(encoding="utf-8")
