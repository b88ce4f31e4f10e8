"""`pixelsne transform --plot`: new points drawn over the points of the map."""

import json

import matplotlib.image
import numpy as np
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne.coloring import category_colors, rgb
from pixelsne.pictures.style import BACKGROUND, QUIET
from pixelsne.raster import STRONGEST


@pytest.fixture(scope="module")
def placed(cells, tmp_path_factory):
    """A model of 200 cells and a file with the other 100."""
    folder, table = tmp_path_factory.mktemp("placed"), pq.read_table(cells)
    pq.write_table(table.slice(0, 200), folder / "old.parquet")
    pq.write_table(table.slice(200), folder / "new.parquet")
    run("embed", folder / "old.parquet", "-o", folder / "old.npy", "--model", folder / "model", *QUICK)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("label", "dark"), [(None, False), ("kind", False), ("kind", True)])
def test_transform_draws_old_and_new_points(label, dark, placed, tmp_path):
    outputs = ["-o", tmp_path / "new.parquet", "--plot", tmp_path / "both.png"]
    options = [*(["--label", label] if label else []), *(["--dark"] if dark else []), "--json"]
    report = json.loads(run("transform", placed / "model", placed / "new.parquet", *outputs, *options).stdout)
    assert report["paths"]["picture"] == str(tmp_path / "both.png")
    picture = matplotlib.image.imread(tmp_path / "both.png")[:, :, :3]
    quiet = np.isclose(picture, rgb(QUIET[dark]), atol=0.02).all(axis=2)
    assert 0.01 < quiet.mean() < 0.5, "old points are gray where no new one covers them"
    color = STRONGEST * category_colors(1) + (1 - STRONGEST) * rgb(BACKGROUND[dark])
    new = np.isclose(picture, color, atol=0.03).all(axis=2)
    dots = 100 if label is None else 10  # of the first of ten digits; a dot 6.5 / 96 inch wide covers 0.0001
    assert new.mean() > 0.3e-4 * dots


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_transform(placed, tmp_path):
    command = ["transform", placed / "model", placed / "new.parquet", "-o", tmp_path / "new.npy", "--plot"]
    assert "map.doc: is of a kind that is not written here" in run(*command, tmp_path / "map.doc", expect=1).stderr
    wrong = ["--label", "kind", "--color-as", "numbers"]
    assert "holds no numbers" in run(*command, tmp_path / "map.png", *wrong, expect=1).stderr
    assert not list(tmp_path.iterdir())
