"""Colors that all readers can distinguish, and picture files."""

import io

import matplotlib.image
import numpy as np
import pyarrow as pa
import pytest

from pixelsne.coloring import (
    FEW_NUMBERS,
    GRAY,
    MAX_CATEGORIES,
    PALETTE,
    category_colors,
    choose_coloring,
    color_categories,
    color_numbers,
    encode,
    rgb,
)
from pixelsne.plot import PlotStyle, save_picture

# Linear RGB as seen by readers without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
SIMULATED = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colors):
    return np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)


def as_lab(colors, vision):
    xyz = np.clip(linear(colors) @ SIMULATED[vision].T, 0, 1) @ TO_XYZ.T / WHITE
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)


def nearest_two(colors, vision):
    lab = as_lab(colors, vision)
    distances = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return distances[np.triu_indices(len(lab), 1)].min()


@pytest.mark.parametrize("vision", SIMULATED)
def test_colors_are_distinct_for_color_blind_readers(vision):
    assert nearest_two(category_colors(10), vision) > 22
    assert nearest_two(category_colors(MAX_CATEGORIES), vision) > 13
    shown = np.concatenate([category_colors(MAX_CATEGORIES - 1), [rgb(GRAY)]])
    assert nearest_two(shown, vision) > 12, "including the gray of other categories"


@pytest.mark.parametrize("dark", [False, True])
def test_colors_have_contrast_to_the_background(dark):
    background = linear(rgb(PlotStyle(dark=dark).background)) @ TO_XYZ[1] + 0.05
    colors = linear(category_colors(MAX_CATEGORIES)) @ TO_XYZ[1] + 0.05
    assert (np.maximum(colors, background) / np.minimum(colors, background)).min() > 1.5


@pytest.mark.parametrize(("categories", "lines"), [(1, 1), (2, 2), (20, 20), (2000, 20)])
def test_legends_have_a_limited_length(categories, lines):
    rng = np.random.default_rng(0)
    repeated = rng.integers(0, min(5, categories), 100)
    values = np.array([f"kind {number}" for number in np.concatenate([np.arange(categories), repeated])])
    coloring = color_categories(values)
    assert len(coloring.legend) == lines
    if categories > MAX_CATEGORIES:
        assert coloring.legend[-1][0] == f"{categories - lines + 1:,} others"
        shown = [name for name, _ in coloring.legend[:-1]]
        assert {f"kind {number}" for number in range(min(5, categories))} <= set(shown), "the largest categories"
        np.testing.assert_array_equal(coloring.colors[np.flatnonzero(~np.isin(values, shown))[0]], rgb(GRAY))


def test_names_are_in_natural_order():
    names = ["digit 10", "digit 2", "Digit 1", "a"]
    assert encode(np.array(names))[0] == ["a", "Digit 1", "digit 2", "digit 10"]


@pytest.mark.parametrize("kind", ["plain", "dictionary", "chunks"])
def test_columns_of_tables_are_encoded_like_arrays(kind):
    names = ["b", "a", None, "b"]
    column = pa.chunked_array([names[:2], names[2:]] if kind == "chunks" else [names], type=pa.string())
    if kind == "dictionary":
        column = column.dictionary_encode()
    found, codes = encode(column)
    assert found == ["a", "b"]
    assert codes.tolist() == [1, 0, -1, 1]
    legend = color_categories(column).legend
    assert [name for name, _ in legend] == ["a", "b", "no value"]


def test_choice_between_categories_and_numbers():
    few, many = np.arange(100) % FEW_NUMBERS, np.arange(100)
    assert choose_coloring(few).bar is None
    assert choose_coloring(many).bar is not None
    assert choose_coloring(many, color_as="categories").bar is None
    assert choose_coloring(few, color_as="numbers").bar is not None
    assert choose_coloring(few / 7).bar is not None, "few fractions are numbers, too"
    assert choose_coloring(pa.chunked_array([pa.array(many)])).bar is not None
    assert choose_coloring(pa.chunked_array([pa.array(["x"] * 9)])).bar is None
    with pytest.raises(ValueError, match="column 'name' holds no numbers"):
        choose_coloring(np.array(["x"]), "name", "numbers")


def test_an_outlier_does_not_stretch_the_color_bar():
    numbers = np.append(np.linspace(0, 1, 1000), 1e9)
    coloring = color_numbers(numbers)
    assert coloring.bar.high < 1.1
    assert coloring.bar.cut == (True, True)
    assert len(np.unique(coloring.colors, axis=0)) > 200


@pytest.mark.parametrize("numbers", [[1.0, 1.0], [np.nan, np.nan], [np.nan, 3.0], [-np.inf, np.inf, 1.0]])
def test_constant_and_missing_numbers_have_a_color_bar(numbers):
    coloring = color_numbers(np.array(numbers))
    assert np.isfinite(coloring.colors).all()
    assert coloring.bar.high > coloring.bar.low


def picture(*arguments, **options):
    file = io.BytesIO()
    save_picture(file, *arguments, kind="png", **options)
    file.seek(0)
    return matplotlib.image.imread(file)[:, :, :3]


def test_dark_pictures_are_dark():
    pixels = np.zeros((1, 2), dtype=np.int32)
    assert picture(pixels, (50, 50), style=PlotStyle(dark=True, dpi=50)).mean() < 0.2
    assert picture(pixels, (50, 50), style=PlotStyle(dpi=50)).mean() > 0.9


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_picture_is_written(kind, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 64, (50, 2)).astype(np.int32)
    save_picture(tmp_path / f"map.{kind}", pixels, (64, 64), ["a $x^", "b"] * 25, style=PlotStyle("$ and _", width=2))
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert (tmp_path / f"map.{kind}").read_bytes().startswith(begin)


def test_palette_colors_are_unique():
    assert len(set(PALETTE)) == len(PALETTE)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["b", None, "a", float("nan")], dtype=object),
        np.array([2.0, np.nan, 1.0, np.nan]),
        np.array(["2020-01-02", "NaT", "2020-01-01", "NaT"], dtype="datetime64[D]"),
        pa.chunked_array([pa.array([2.0, None, 1.0, float("nan")])]),
    ],
    ids=["objects", "numbers", "dates", "column"],
)
def test_missing_values_are_no_category(values):
    names, codes = encode(values)
    assert len(names) == 2
    np.testing.assert_array_equal(codes, [1, -1, 0, -1])


# Invalid arguments


@pytest.mark.parametrize(
    ("pixels", "resolution", "labels", "words"),
    [
        (np.array([[-3.5, 2.0]]), 64, None, "on the screen of 64 x 64; give model.embedding_"),
        (np.array([[1, 70]]), (100, 64), None, "on the screen of 100 x 64"),
        (np.array([[np.nan, 7]]), 64, None, "on the screen"),
        (np.zeros(4), 64, None, r"array \(n, 2\)"),
        (np.zeros((3, 2)), "64", None, "resolution"),
        (np.zeros((3, 2)), 64, [1, 2], "one value for each of the 3 points, got 2"),
    ],
)
def test_invalid_arguments_are_refused(pixels, resolution, labels, words):
    with pytest.raises((TypeError, ValueError), match=words):
        save_picture(io.BytesIO(), pixels, resolution, labels, kind="png")


@pytest.mark.parametrize(
    "values",
    [
        pa.chunked_array([pa.nulls(4)]),
        pa.chunked_array([pa.array([None] * 4, pa.string())]),
        np.array([None] * 4, dtype=object),
    ],
    ids=["without a type", "words", "objects"],
)
def test_a_column_without_values_has_no_categories(values):
    assert encode(values)[0] == []
    assert [name for name, _ in choose_coloring(values).legend] == ["no value"]
