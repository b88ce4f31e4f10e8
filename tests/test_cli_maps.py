"""`pixelsne score` and `plot` of finished maps."""

import json

import anndata
import matplotlib.image
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from command_line import run
from pixelsne import PixelSNE, quality
from pixelsne.affinities import joint_affinities
from pixelsne.files.read_map import read_map
from pixelsne.neighbors import find_neighbors


@pytest.mark.parametrize("label", [[], ["--label", "kind"]])
def test_scores_agree_with_the_quality_functions(label, cells, finished):
    report = json.loads(run("score", cells, finished, *label, "--json").stdout)
    placed = read_map(finished).placed
    table = pq.read_table(cells)
    values = np.stack([table[f"p{index}"].to_numpy() for index in range(64)], axis=1)
    assert report["k"] == [1, 3, 5, 10, 20, 30]
    assert report["sampled_rows"] is None
    expected = quality.neighborhood_precision(values, placed, report["k"])
    assert report["neighborhood_precision"] == pytest.approx(list(expected), abs=1e-3)
    if label:
        accuracy = quality.knn_accuracy(placed, table["kind"].to_numpy(), report["k"])
        assert report["knn_accuracy"] == pytest.approx(list(accuracy))
    else:
        assert report["knn_accuracy"] is None


@pytest.mark.slow
def test_the_kl_divergence_uses_the_settings_of_the_map(cells, finished):
    report = json.loads(run("score", cells, finished, "--json").stdout)
    written = read_map(finished).metadata["kl_divergence"]
    assert report["kl_divergence"] == pytest.approx(written, rel=1e-4)
    other = json.loads(run("score", cells, finished, "--perplexity", "20", "--json").stdout)
    assert other["kl_divergence"] != pytest.approx(written, rel=1e-2)
    table = pq.read_table(cells)
    values = np.stack([table[f"p{index}"].to_numpy() for index in range(64)], axis=1)
    model = PixelSNE(perplexity=20, random_state=0, n_pca=50)
    points = model.make_run(values)
    for _ in points.snapshots():
        if points.prepared is not None:
            break
    affinities = joint_affinities(find_neighbors(points.prepared.space.points, 60, "exact", 0, 2), (20.0,), 2)
    one = read_map(finished)
    positions = one.placed * np.array(one.metadata["unit_per_pixel"])
    assert other["kl_divergence"] == pytest.approx(quality.kl_divergence(affinities, positions), rel=1e-4)


def test_scores_as_a_table(cells, finished, tmp_path):
    text = run("score", cells, finished).stdout
    assert "300 points, all compared with all" in text
    assert "neighborhood precision" in text
    assert "k-NN accuracy" not in text
    assert "triplet accuracy" in text
    np.save(tmp_path / "map.npy", read_map(finished).placed)
    text = run("score", cells, tmp_path / "map.npy", "--label", "kind").stdout
    assert "k-NN accuracy" in text
    assert "KL divergence           unknown" in text


@pytest.mark.slow
def test_large_maps_are_scored_by_a_sample(cells, finished, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.score.EXACT_UP_TO", 250)
    monkeypatch.setattr("pixelsne.commands.score.ROWS_SAMPLED", 100)
    assert "300 points, 100 of them sampled and compared with all" in run("score", cells, finished).stdout
    report = json.loads(run("score", cells, finished, "--json").stdout)
    assert report["sampled_rows"] == 100
    exact = quality.neighborhood_precision(
        np.stack([pq.read_table(cells)[f"p{index}"].to_numpy() for index in range(64)], axis=1),
        read_map(finished).placed,
        10,
    )
    assert report["neighborhood_precision"][3] == pytest.approx(exact, abs=0.05)


def test_a_map_of_other_rows_is_not_scored(cells, finished, tmp_path):
    pq.write_table(pq.read_table(cells).slice(0, 200), tmp_path / "fewer.parquet")
    result = run("score", tmp_path / "fewer.parquet", finished, expect=1)
    assert "has 300 points" in result.stderr
    assert "200 rows" in result.stderr


@pytest.mark.slow
def test_pictures_by_label_density_and_numbers(finished, tmp_path):
    run("plot", finished, "-o", tmp_path / "kinds.png")
    run("plot", finished, "-o", tmp_path / "density.png", "--density")
    run("plot", finished, "-o", tmp_path / "ages.svg", "--color", "age", "--dark", "--title", "Ages", "--magnify", "2")
    kinds, density = (matplotlib.image.imread(tmp_path / name) for name in ("kinds.png", "density.png"))
    assert kinds.shape[1] == density.shape[1] == 2100
    assert len(np.unique(kinds.reshape(-1, 4), axis=0)) > 10
    assert (tmp_path / "ages.svg").read_text().startswith("<?xml")
    assert ">Ages</text>" in (tmp_path / "ages.svg").read_text()
    result = run("plot", finished, "-o", tmp_path / "no.png", "--color", "nothing", expect=1)
    assert "has no column 'nothing' to color by; it has kind, age, x" in result.stderr
    result = run("plot", finished, "-o", tmp_path / "no.png", "--color", "kind", "--color-as", "numbers", expect=1)
    assert "holds no numbers" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": [1.0, 2.0]}, "is no map: it has no column 'y'; it has x; "),
        ({"x": [1.0, -2.0], "y": [1.0, 2.0]}, "is no map: positions on a map lie between 0 and 65,536"),
        ({"x": [1.0, 2.0], "y": [1.0, float("nan")]}, "column 'y', row 2: NaN"),
    ],
)
def test_tables_that_are_no_map_are_refused(content, message, tmp_path):
    pq.write_table(pa.table(content), tmp_path / "map.parquet")
    assert message in run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png", expect=1).stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vectors.parquet", "vectors.csv", "vectors.npy", "vectors.npz", "vectors.h5ad"])
def test_vectors_are_refused_with_the_command_that_maps_them(name, tmp_path):
    values, path = np.random.default_rng(0).normal(size=(20, 3)), tmp_path / name
    table = pa.table({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2]})
    write = {
        ".parquet": lambda: pq.write_table(table, path),
        ".csv": lambda: pa.csv.write_csv(table, path),
        ".npy": lambda: np.save(path, values),
        ".npz": lambda: np.savez(path, X=values),
        ".h5ad": lambda: anndata.AnnData(values).write_h5ad(path),
    }
    write[path.suffix]()
    for command in (["view", path, "--no-browser"], ["plot", path, "-o", tmp_path / "map.png"]):
        message = run(*command, expect=1).stderr
        assert f"{name}: is no map: it" in message
        assert message.endswith(f"make a map of it with `pixelsne embed {path} -o map.parquet`\n")


@pytest.mark.parametrize(
    "metadata", [b"{", b'{"resolution": [2, 2]}', b'{"resolution": ["a", "b"]}', b'{"resolution": 3}']
)
def test_a_map_with_wrong_metadata_is_refused(metadata, tmp_path):
    table = pa.table({"x": [1.0, 2.5], "y": [1.0, 2.0]}).replace_schema_metadata({b"pixelsne": metadata})
    pq.write_table(table, tmp_path / "map.parquet")
    assert "is damaged" in run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.png", expect=1).stderr


def test_options_of_figures(finished, tmp_path):
    options = ["--width", "3.5", "--dpi", "100", "--font", "DejaVu Serif", "--legend", "--point-size", "2.5"]
    run("plot", finished, "-o", tmp_path / "map.png", *options, "--names", "none")
    assert matplotlib.image.imread(tmp_path / "map.png").shape[1] == 350
    run("plot", finished, "-o", tmp_path / "map.svg", *options, "--density", "--color", "kind", "--names", "kind")
    text = (tmp_path / "map.svg").read_text()
    assert "DejaVu Serif" in text
    result = run("plot", finished, "-o", tmp_path / "no.png", "--font", "No Such Font", expect=1)
    assert "font 'No Such Font' is not installed" in result.stderr
    result = run("plot", finished, "-o", tmp_path / "no.png", "--names", "nothing", expect=1)
    assert "got 'nothing'" in result.stderr
    assert not (tmp_path / "no.png").exists()
