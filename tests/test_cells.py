"""Maps in h5ad files and AnnData: y points upward there, as in scanpy's plots, and the picture stays the same."""

import json
import warnings

import anndata
import matplotlib.image
import numpy as np
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE, store_in_anndata
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map

SCREEN = (640, 320)
OPTIONS = [*QUICK, "--resolution", "640x320", "--rep", "X_pca"]


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 100)
    with warnings.catch_warnings(action="ignore"):
        adata = anndata.AnnData(rng.poisson(1, (100, 30)).astype(np.float32))
        adata.obs["type"] = np.array(["B", "T", "NK"])[kinds]
        adata.obsm["X_pca"] = rng.normal(0, 4, (3, 5))[kinds] + rng.normal(size=(100, 5))
    return adata


@pytest.fixture(scope="module")
def maps(cells, tmp_path_factory):
    """The same map as parquet, in a copy of its cells, and in a separate h5ad file."""
    folder = tmp_path_factory.mktemp("maps")
    cells.write_h5ad(folder / "cells.h5ad")
    label = ["--label", "type"]
    outputs = ["-o", folder / "map.parquet", "--model", folder / "model"]
    run("embed", folder / "cells.h5ad", *outputs, *label, *OPTIONS)
    run("embed", folder / "cells.h5ad", "-o", folder / "map.h5ad", *label, *OPTIONS)
    np.save(folder / "pca.npy", cells.obsm["X_pca"])
    run("transform", folder / "model", folder / "pca.npy", "-o", folder / "own.h5ad")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["map.h5ad", "own.h5ad"])
def test_y_points_upward_and_the_metadata_say_so(name, maps):
    stored = anndata.read_h5ad(maps / name)
    placed = read_map(maps / "map.parquet").placed
    np.testing.assert_array_equal(stored.obsm["X_pixelsne"][:, 0], placed[:, 0])
    np.testing.assert_array_equal(stored.obsm["X_pixelsne"][:, 1], 320 - placed[:, 1].astype(np.float64))
    assert json.loads(stored.uns["pixelsne"])["y_axis"] == "up"
    highest = stored.obsm["X_pixelsne"][:, 1].argmax()
    assert placed[highest, 1] == placed[:, 1].min(), "what scanpy draws on top is on top of our picture"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["map.h5ad", "own.h5ad"])
def test_maps_read_from_h5ad_and_parquet_are_equal(name, maps):
    one, other = read_map(maps / name), read_map(maps / "map.parquet")
    np.testing.assert_array_equal(one.placed, other.placed)
    assert one.resolution == other.resolution == SCREEN
    assert "y_axis" not in one.metadata


@pytest.mark.slow
def test_pictures_and_scores_of_h5ad_and_parquet_are_equal(maps, tmp_path):
    pictures, scores = [], []
    for name in ("map.h5ad", "map.parquet"):
        run("plot", maps / name, "-o", tmp_path / f"{name}.png")
        pictures.append(matplotlib.image.imread(tmp_path / f"{name}.png"))
        scores.append(run("score", maps / "cells.h5ad", maps / name, "--json").stdout)
    np.testing.assert_array_equal(*pictures)
    assert scores[0] == scores[1]


@pytest.mark.slow
def test_files_without_y_axis_are_read_as_pointing_downward(cells, tmp_path):
    older, placed = cells.copy(), np.array([[5, 7.5]] * 99 + [[600, 300]], dtype=np.float32)
    older.obsm["X_pixelsne"] = placed
    older.uns["pixelsne"] = json.dumps({"resolution": list(SCREEN)})
    older.write_h5ad(tmp_path / "older.h5ad")
    np.testing.assert_array_equal(read_map(tmp_path / "older.h5ad").placed, placed)


@pytest.mark.slow
def test_y_axis_without_a_resolution_is_refused(cells, tmp_path):
    damaged = cells.copy()
    damaged.obsm["X_pixelsne"] = np.ones((100, 2))
    for metadata in ({"y_axis": "up"}, {"y_axis": "up", "resolution": ["a", 3]}):
        damaged.uns["pixelsne"] = json.dumps(metadata)
        damaged.write_h5ad(tmp_path / "damaged.h5ad")
        with pytest.raises(FileError, match=r"damaged\.h5ad: is damaged: .* resolution"):
            read_map(tmp_path / "damaged.h5ad")


@pytest.mark.slow
def test_store_in_anndata_stores_what_the_command_writes(cells, maps, tmp_path):
    adata = cells.copy()
    model = PixelSNE(perplexity=10, max_iter=60, resolution=SCREEN, random_state=0).fit(adata.obsm["X_pca"])
    store_in_anndata(adata, model)
    written = anndata.read_h5ad(maps / "map.h5ad")
    np.testing.assert_array_equal(adata.obsm["X_pixelsne"], written.obsm["X_pixelsne"])
    stored, metadata = (json.loads(one.uns["pixelsne"]) for one in (adata, written))
    assert stored.items() <= (metadata | {"settings": stored["settings"]}).items()
    adata.write_h5ad(tmp_path / "mine.h5ad")
    np.testing.assert_array_equal(read_map(tmp_path / "mine.h5ad").placed, model.embedding_)
    with pytest.raises(ValueError, match="adata has 50 cells, the map 100 points"):
        store_in_anndata(adata[:50], model)
