"""Metadata of maps, made by `embed`, by `transform` or on a cluster."""

import json
import warnings

import anndata
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pixelsne import PixelSNE, quality
from pixelsne.cli import main
from pixelsne.distributed.files import write_part
from pixelsne.files.maps import map_metadata
from pixelsne.files.model import serializable_parameters
from pixelsne.files.read_map import read_map
from pixelsne.files.source import ReadOptions, Source
from pixelsne.screen import Screen

SCREEN = Screen((0.0, 0.0), (0.25, 0.5), (64, 64))
QUICK = ["--perplexity", "10", "--max-iter", "60", "--metric", "cosine", "--quiet"]


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A folder with 100 cells, their map and the fitted model."""
    folder, rng = tmp_path_factory.mktemp("cells"), np.random.default_rng(0)
    with warnings.catch_warnings(action="ignore"):
        adata = anndata.AnnData(rng.poisson(1, (100, 30)).astype(np.float32))
        adata.obsm["X_pca"] = rng.normal(size=(100, 5))
        adata.write_h5ad(folder / "cells.h5ad")
    outputs = ["-o", folder / "map.parquet", "--model", folder / "model"]
    run("embed", folder / "cells.h5ad", "--rep", "X_pca", *outputs, *QUICK)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "h5ad"])
def test_transformed_cells_have_the_scores_of_the_fitted_map(kind, cells):
    again = cells / f"again.{kind}"
    run("transform", cells / "model", cells / "cells.h5ad", "--rep", "X_pca", "-o", again, "--quiet")
    first, second = (
        json.loads(run("score", cells / "cells.h5ad", one, "--json")) for one in (cells / "map.parquet", again)
    )
    assert second["kl_divergence"] == pytest.approx(first["kl_divergence"])
    assert second["neighborhood_precision"] == pytest.approx(first["neighborhood_precision"])
    metadata = read_map(again).metadata
    assert metadata["rep"] == "X_pca"
    assert metadata["model"] == "model"
    assert metadata["settings"]["metric"] == "cosine"


@pytest.mark.slow
def test_cells_embedded_on_a_cluster_are_scored(cells):
    placed = read_map(cells / "map.parquet").placed / 16  # on a screen of 64 pixels
    figures = {"settings": serializable_parameters(PixelSNE(perplexity=10), {}), "seed": 0}
    write_part(placed, str(cells / "cells.h5ad"), str(cells / "part.parquet"), 0, ReadOptions(), SCREEN, figures)
    scores = json.loads(run("score", cells / "cells.h5ad", cells / "part.parquet", "--json"))
    values = anndata.read_h5ad(cells / "cells.h5ad").X
    assert scores["neighborhood_precision"][3] == pytest.approx(quality.neighborhood_precision(values, placed, 10))
    assert scores["kl_divergence"] is not None


@pytest.mark.parametrize("label", ["y", "pixel_x", "kind"])
def test_one_part_of_a_cluster_map_is_colored_by_its_label(label, tmp_path, random):
    columns = {"a": random.normal(size=20), "b": random.normal(size=20), label: ["u", "v"] * 10}
    pq.write_table(pa.table(columns), tmp_path / "part.parquet")
    placed = random.uniform(0, 64, (20, 2)).astype(np.float32)
    target = str(tmp_path / "map.parquet")
    write_part(placed, str(tmp_path / "part.parquet"), target, 0, ReadOptions(label=label), SCREEN, {})
    assert read_map(target).metadata["label"] in pq.read_schema(target).names
    run("plot", target, "-o", tmp_path / "map.png")
    assert (tmp_path / "map.png").exists()


def test_metadata_of_a_map(tmp_path):
    source = Source(tmp_path / "points.npz", np.zeros((3, 2)), ("a", "b"))
    assert map_metadata(source, ReadOptions(label="x"), SCREEN, seed=3) == {
        "seed": 3,
        "columns": ["a", "b"],
        "rep": None,
        "label": "x",
        "weight": None,
        "unit_per_pixel": [0.25, 0.5],
    }


def test_scoring_a_table_of_another_program_names_the_formats_with_units(tmp_path, random):
    columns = {"x": random.uniform(0, 9, 20), "y": random.uniform(0, 9, 20)}
    pq.write_table(pa.table(columns), tmp_path / "map.parquet")
    np.save(tmp_path / "points.npy", random.normal(size=(20, 3)))
    assert "parquet, npz and h5ad by pixelsne do" in run("score", tmp_path / "points.npy", tmp_path / "map.parquet")
