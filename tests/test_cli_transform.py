"""`pixelsne transform --plot`: new points drawn over the points of the map."""

import json

import matplotlib.image
import numpy as np
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE
from pixelsne.coloring import category_colors, rgb
from pixelsne.files.read_map import read_map
from pixelsne.plot import MARGIN, QUIET, WIDTH_OF_NUMBERS, PlotStyle, paint_over, side_width

OLD = np.array([[10, 10], [30, 30], [50, 50]], dtype=np.int32)
NEW = np.array([[30, 30], [10, 50]], dtype=np.int32)
SCREEN = (64, 64)


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
    at_new, at_old = (
        picture[MARGIN + pixels[:, 1], MARGIN + pixels[:, 0]]
        for pixels in (read_map(tmp_path / "new.parquet").pixels, PixelSNE.load(placed / "model").pixels_)
    )
    quiet = np.isclose(at_old, rgb(QUIET[dark]), atol=0.01).all(axis=1)
    assert quiet.mean() > 0.5, "old points are gray where no new one covers them"
    assert not np.isclose(at_new, rgb(QUIET[dark]), atol=0.01).all(axis=1).any()
    if label is None:
        assert np.isclose(at_new, category_colors(1), atol=0.01).all()


def test_new_points_cover_old_ones_and_the_legend_tells_them_apart():
    image, coloring = paint_over(OLD, NEW, SCREEN, None, "", PlotStyle(point_size=1))
    seen = [image[y + MARGIN, x + MARGIN] for x, y in (OLD[0], NEW[0], NEW[1], (0, 0))]
    np.testing.assert_allclose(seen, [rgb(QUIET[False]), *category_colors(1), *category_colors(1), (1, 1, 1)])
    assert [name for name, _ in coloring.legend] == ["2 new points", "3 points of the map"]
    _, coloring = paint_over(OLD, NEW, SCREEN, np.array(["a", "b"]), "kind", PlotStyle())
    assert [name for name, _ in coloring.legend] == ["a", "b", "3 points of the map"]
    assert coloring.name == "kind"


def test_new_points_are_no_smaller_than_old_ones():
    many = np.random.default_rng(0).integers(0, 64, (2000, 2)).astype(np.int32)
    image, _ = paint_over(OLD, many, SCREEN, None, "", PlotStyle())
    quiet = np.isclose(image, rgb(QUIET[False])).all(axis=2)
    new = np.isclose(image, category_colors(1)).all(axis=2)
    assert quiet.sum() < 50
    assert new.sum() > 2000


def test_a_legend_below_a_color_bar_has_space():
    _, coloring = paint_over(OLD, NEW, SCREEN, np.array([0.5, 1.5]), "age", PlotStyle(color_as="numbers"))
    assert coloring.bar is not None
    assert side_width(coloring, 12.0) > WIDTH_OF_NUMBERS + 80


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_transform(placed, tmp_path):
    command = ["transform", placed / "model", placed / "new.parquet", "-o", tmp_path / "new.npy", "--plot"]
    assert "map.doc: is of a kind that is not written here" in run(*command, tmp_path / "map.doc", expect=1).stderr
    wrong = ["--label", "kind", "--color-as", "numbers"]
    assert "holds no numbers" in run(*command, tmp_path / "map.png", *wrong, expect=1).stderr
    assert not list(tmp_path.iterdir())
