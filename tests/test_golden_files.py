"""Files of released versions: every later version must read them."""

from pathlib import Path

import numpy as np
import pytest

from pixelsne import PixelSNE
from pixelsne.files.read_map import read_map

GOLDEN = Path(__file__).parent / "files" / "golden"
MODELS = sorted(GOLDEN.glob("*/*.model"))
MAPS = sorted(GOLDEN.glob("*/map.*")) + sorted(GOLDEN.glob("*/parts"))


def name_of(path):
    return f"{path.parent.name}-{path.name}"


def test_there_are_files_of_every_kind():
    assert {path.stem for path in MODELS} >= {
        "euclidean", "reduced", "cosine", "manhattan", "precomputed", "affinities",
    }  # fmt: skip
    assert {path.name for path in MAPS} >= {f"map.{kind}" for kind in ("parquet", "csv", "tsv", "npy", "npz", "h5ad")}


@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_models_give_the_same_map_and_place_new_rows_as_before(path):
    expected = np.load(path.parent / "expected.npz")
    model = PixelSNE.load(path)
    np.testing.assert_array_equal(model.embedding_, expected[path.stem])
    if f"{path.stem}_new" in expected:
        placed = model.transform(expected["points"][:5] + 0.25)
        np.testing.assert_allclose(placed, expected[f"{path.stem}_new"], atol=0.5)  # pixels; instruction sets differ


@pytest.mark.slow
@pytest.mark.parametrize("path", MAPS, ids=name_of)
def test_maps_have_the_same_positions_and_columns_as_before(path):
    map_ = read_map(path)
    assert map_.resolution == (640, 480)
    assert map_.placed.shape == (60, 2)
    if path.name != "parts":  # a cluster rounds differently
        np.testing.assert_allclose(map_.placed, np.load(path.parent / "map.npy"), atol=1e-3)
    if path.suffix != ".npy":
        columns = map_.extra_columns.to_pydict()
        assert columns["kind"] == ["a", "b", "c"] * 20
        np.testing.assert_allclose(columns["size"], np.arange(60) / 4)
    if path.suffix in {".parquet", ".npz", ".h5ad"} or path.name == "parts":
        assert map_.metadata["label"] == "kind"
        assert map_.metadata["settings"]["perplexity"] == 8
