"""Pictures of maps: dots, names and legends at the right places, in all formats."""

import base64
import io
import re

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pixelsne import PixelSNE
from pixelsne.coloring import PALETTE, Coloring, choose_coloring, rgb
from pixelsne.pictures import dots
from pixelsne.pictures.draw import Picture, choose_names
from pixelsne.pictures.figure import figure_of
from pixelsne.pictures.name_artist import MapNames
from pixelsne.pictures.name_layout import NameLayout
from pixelsne.pictures.names import MapName, names_of_categories
from pixelsne.pictures.style import BACKGROUND, contrast, readable
from pixelsne.pictures.view import view_of
from pixelsne.pictures.wrapping import MAX_LINES, wrap
from pixelsne.plot import PlotStyle, make_picture, plot_map, save_picture
from pixelsne.regions import Region, Regions

SMALL = {"width": 3.0, "dpi": 100}
CORNERS = ((200, 200), (800, 200), (200, 800), (800, 800))
NAMES = ("north west", "north east", "south west", "south east")


@pytest.fixture(scope="module")
def islands():
    """Four islands of 200 points on a screen of 1000 pixels, and the number of each point's island."""
    rng = np.random.default_rng(0)
    placed = np.concatenate([rng.normal(corner, 25, (200, 2)) for corner in CORNERS]).clip(0, 999).astype(np.float32)
    return placed, np.repeat(np.arange(4), 200)


def regions_of_islands(codes, names=NAMES):
    regions = [
        Region(1, name, corner, 200, -1, (), color)
        for name, corner, color in zip(names, CORNERS, PALETTE, strict=False)
    ]
    finer = [
        Region(2, f"part of {name}", corner, 90, code, (), PALETTE[code])
        for code, (name, corner) in enumerate(zip(names, CORNERS, strict=True))
    ]
    return Regions((*regions, *finer), (codes.astype(np.int32), np.where(codes < 4, codes + 4, -1).astype(np.int32)))


def draw(placed, color=None, names=None, style=None, **options):
    """Return the drawn figure of a picture."""
    style = style or PlotStyle(**SMALL)
    figure = figure_of(make_picture(placed, 1000, color, "", names, style, **({"behind": None} | options)), style)
    figure.canvas.draw()
    return figure


def png(*arguments, style=None, **options):
    file = io.BytesIO()
    save_picture(file, *arguments, style=style or PlotStyle(**SMALL), kind="png", **options)
    file.seek(0)
    return matplotlib.image.imread(file)[:, :, :3]


def file_of(kind, *arguments, **options):
    file = io.BytesIO()
    save_picture(file, *arguments, kind=kind, **options)
    return file.getvalue()


def names_on(figure):
    (artist,) = [artist for artist in figure.axes[0].artists if isinstance(artist, MapNames)]
    return artist.placed


# The view


def test_a_few_outliers_do_not_shrink_the_map():
    rng = np.random.default_rng(0)
    placed = rng.normal(500, 40, (5000, 2))
    alone = view_of(placed, (1000, 1000))
    assert alone.left < placed[:, 0].min() < placed[:, 0].max() < alone.right, "nothing is cut off without need"
    view = view_of(np.concatenate([placed, [[1, 1], [999, 999]]]), (1000, 1000))
    assert 0.75 * alone.width < view.width < 1.05 * alone.width
    assert view_of(np.concatenate([placed[:300], [[1, 1]]]), (1000, 1000)).left < 1, "one of 300 is not one of 1000"


@pytest.mark.parametrize("placed", [np.empty((0, 2)), np.full((5, 2), 7.0), np.array([[0, 5], [900, 5.0]])])
def test_a_view_of_few_positions_has_an_area(placed):
    view = view_of(placed, (1000, 500))
    assert 0.35 < view.height / view.width < 3
    assert view.width >= 40


# Dots


def test_dots_have_their_colors_at_their_places(islands):
    placed, codes = islands
    image = png(placed, 1000, codes, names=False, style=PlotStyle(**SMALL, legend=False))
    view = view_of(placed, (1000, 1000))
    scale = image.shape[1] / view.width
    assert image.shape == (round(view.height * scale), 300, 3)
    for code, corner in enumerate(CORNERS):
        x, y = ((np.array(corner) - [view.left, view.top]) * scale).astype(int)
        around = image[y - 5 : y + 6, x - 5 : x + 6].reshape(-1, 3)
        nearest = np.linalg.norm(around[:, None] - np.array([rgb(color) for color in PALETTE[:4]]), axis=2).argmin(1)
        painted = around.min(axis=1) < 0.8
        assert painted.sum() > 50
        assert (nearest[painted] == code).mean() > 0.95


def test_the_order_of_points_does_not_matter(islands):
    placed, codes = islands
    order = np.random.default_rng(1).permutation(len(placed))
    mixed = placed // 4  # classes overlap
    first = png(mixed, 1000, codes[order], names=False)
    np.testing.assert_allclose(first, png(mixed[order], 1000, codes[order][order], names=False), atol=2 / 255)


def test_magnify_enlarges_dots_and_text_but_not_the_picture(islands):
    placed, codes = islands
    plain, magnified = (
        png(placed, 1000, codes, style=PlotStyle(**SMALL, legend=False, magnify=factor)) for factor in (1, 2)
    )
    assert plain.shape == magnified.shape
    assert (magnified < 0.8).any(axis=2).sum() > 1.25 * (plain < 0.8).any(axis=2).sum()


def test_width_and_dpi_give_the_size_of_the_image(islands):
    image = png(islands[0], 1000, islands[1], style=PlotStyle(width=4, dpi=50, title="A title", legend=True))
    assert image.shape[1] == 200
    larger = png(islands[0], 1000, islands[1], style=PlotStyle(width=4, dpi=100, title="A title", legend=True))
    assert larger.shape[1] == 400


def test_dots_are_colored_by_region_without_a_color(islands):
    placed, codes = islands
    regions = regions_of_islands(codes)
    figure = draw(placed, names=regions)
    (drawn,) = [artist for artist in figure.axes[0].artists if isinstance(artist, dots.Dots)]
    np.testing.assert_allclose(drawn.colors, [rgb(PALETTE[code]) for code in codes])


def test_crowded_maps_have_fine_dots():
    def size(n, dpi=300):
        figure = Figure((7, 7), dpi)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(0, 1))
        points = np.random.default_rng(0).random((n, 2))
        artist = axes.add_artist(dots.Dots(points, np.zeros((n, 3))))
        return artist.size(72, dpi)

    (few, opaque), (many, faint) = size(1000), size(300_000)
    assert few > 3
    assert many < 1
    assert opaque >= faint
    assert size(300_000, 100)[0] > many, "a coarse output cannot show fine dots"


# Formats


def test_vector_formats_have_text_as_text(islands):
    placed, codes = islands
    labels = np.array(NAMES)[codes]
    svg = file_of("svg", placed, 1000, labels, style=PlotStyle("A title"), name="direction").decode()
    for text in ("A title", *NAMES):
        assert re.search(f">{text}</text>", svg), text
    pdf = file_of("pdf", placed, 1000, labels, style=PlotStyle("A title"))
    assert b"/FontFile2" in pdf, "TrueType"
    assert b"/Type3" not in pdf


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_few_points_are_circles_and_many_an_image_in_vector_formats(kind, islands, monkeypatch):
    placed, codes = islands
    mark = {"pdf": b"/Subtype /Image", "svg": b"<image"}[kind]
    assert mark not in file_of(kind, placed, 1000, codes)
    monkeypatch.setattr(dots, "MAX_VECTORS", 500)
    drawn = file_of(kind, placed, 1000, codes)
    assert mark in drawn
    if kind == "pdf":
        width = int(re.search(rb"/Width (\d+)", drawn)[1])
        assert width == pytest.approx(7 * 300, abs=2)
        assert b"/SMask" in drawn, "the background is transparent"


def test_the_image_in_an_svg_is_not_upside_down(monkeypatch):
    monkeypatch.setattr(dots, "MAX_VECTORS", 0)
    placed = np.array([[500, 5], [5, 995], [995, 995]], dtype=np.float32)  # one at the top, two at the bottom
    svg = file_of("svg", placed, 1000, [0, 0, 0], style=PlotStyle(width=4, legend=False), names=False).decode()
    data = re.search(r'data:image/png;base64,\s*([^"]+)"', svg)[1]
    opacity = matplotlib.image.imread(io.BytesIO(base64.b64decode(data)))[:, :, 3]
    flipped = re.search(r'<image.*?transform="matrix\([^ ]+ [^ ]+ [^ ]+ (-?)', svg, re.DOTALL)
    rows = opacity if flipped is None or not flipped[1] else opacity[::-1]
    middle = len(rows) // 2
    assert rows[middle:].sum() == pytest.approx(2 * rows[:middle].sum(), rel=0.1)


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_equal_pictures_have_equal_files(kind, islands):
    assert file_of(kind, *islands[:1], 1000, islands[1]) == file_of(kind, *islands[:1], 1000, islands[1])


# Names


def boxes_overlap(first, second):
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


@pytest.mark.parametrize("width", [1.5, 3.0, 8.0])
@pytest.mark.parametrize("dark", [False, True])
def test_names_do_not_overlap_and_stay_inside(islands, width, dark):
    placed, _ = islands
    rng = np.random.default_rng(0)
    many = tuple(
        Region(1 + index // 20, f"name {index} of it", tuple(placed[row]), 1000 - index, -1, (), PALETTE[index % 20])
        for index, row in enumerate(rng.permutation(len(placed))[:60])
    )
    level = np.zeros(len(placed), dtype=np.int32)
    figure = draw(placed, names=Regions(many, (level, level, level)), style=PlotStyle(dark=dark, width=width, dpi=100))
    drawn, box = names_on(figure), figure.axes[0].bbox
    assert len(drawn) > 2
    assert drawn[0].name.level == 1
    for index, one in enumerate(drawn):
        left, bottom, right, top = one.box
        assert box.x0 <= left < right <= box.x1
        assert box.y0 <= bottom < top <= box.y1
        x, y = figure.axes[0].transData.transform(one.name.anchor)
        assert left <= x <= right
        assert bottom <= y <= top
        assert not any(boxes_overlap(one.box, other.box) for other in drawn[:index])


def test_finer_names_appear_where_there_is_space(islands):
    placed, codes = islands
    small, large = (
        names_on(draw(placed, names=regions_of_islands(codes), style=PlotStyle(width=width, dpi=100)))
        for width in (1.0, 9.0)
    )
    assert {name.name.text for name in large} >= set(NAMES)
    assert len(small) <= len(large)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("color", [*PALETTE, "#ffffff", "#000000", "#ffff00"])
def test_names_are_readable(color, dark):
    assert contrast(readable(color, BACKGROUND[dark]), BACKGROUND[dark]) >= 4.5
    assert contrast("#ffffff", "#000000") == pytest.approx(21)


def test_a_category_is_named_on_each_of_its_islands(islands):
    placed, codes = islands
    coloring = choose_coloring(np.array(["twice", "b", "c", "twice"])[codes])
    names = names_of_categories(coloring, placed, view_of(placed, (1000, 1000)))
    assert sorted(name.text for name in names) == ["b", "c", "twice", "twice"]
    for name in names:
        nearest = np.linalg.norm(np.array(CORNERS) - name.anchor, axis=1).min()
        assert nearest < 60
        assert name.color in PALETTE


def test_a_category_without_an_island_is_not_named(islands):
    placed, _ = islands
    mixed = np.random.default_rng(0).integers(0, 3, len(placed))
    view = view_of(placed, (1000, 1000))
    assert names_of_categories(choose_coloring(mixed), placed, view) == []
    assert names_of_categories(Coloring(np.zeros((800, 3))), placed, view) == []


def test_the_legend_is_left_out_if_names_explain_all_colors(islands):
    placed, codes = islands
    labels = np.array(NAMES)[codes]
    assert draw(placed, labels).axes[0].get_legend() is None
    assert draw(placed, labels, style=PlotStyle(**SMALL, legend=True)).axes[0].get_legend() is not None
    assert draw(placed, labels, names=False).axes[0].get_legend() is not None
    assert draw(placed, labels, names=False, style=PlotStyle(**SMALL, legend=False)).axes[0].get_legend() is None
    with_missing = np.where(np.arange(800) % 9 == 0, None, labels)
    texts = draw(placed, with_missing).axes[0].get_legend().get_texts()
    assert [text.get_text() for text in texts][-1] == "no value"


def test_names_of_regions_are_in_their_colors_only_if_dots_are(islands):
    placed, codes = islands
    for color, expected in ((None, set(PALETTE[:4])), (codes, {None})):
        style = PlotStyle(**SMALL)
        picture = make_picture(placed, 1000, color, "", regions_of_islands(codes), style, None)
        coloring = picture.coloring or Coloring(np.zeros((800, 3)))
        assert {name.color for name in choose_names(picture, coloring, picture.view())} == expected


def test_names_can_be_given_as_texts_or_by_index(islands):
    placed, codes = islands
    fruit = np.array(["apple", "banana", "cherry", "date"])[codes]
    assert {name.name.text for name in names_on(draw(placed, names=fruit))} >= {"apple", "banana", "cherry", "date"}
    assert {name.name.text for name in names_on(draw(placed, names=pa.chunked_array([fruit])))} >= {"apple"}
    assert [name.name.text for name in names_on(draw(placed, names={0: "the first"}))] == ["the first"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GM · recall", "GM · recall"),
        ("Android · Google · SDK for", "Android\nGoogle · SDK for"),
        (" two\n\nlines ", "two lines"),
        ("", ""),
    ],
)
def test_names_are_broken_between_words(name, expected):
    assert wrap(name) == expected


def test_long_names_are_shortened():
    wrapped = wrap("word " * 100)
    assert wrapped.endswith("…")
    assert wrapped.count("\n") == MAX_LINES - 1
    assert len(wrap("x" * 500)) < 100


def test_a_name_that_does_not_fit_is_not_placed():
    layout = NameLayout((0, 0, 100, 100), 1)
    assert layout.place((50, 50), (200, 10)) is None
    assert layout.place((150, 50), (10, 10)) is None
    assert layout.place((1, 1), (40, 10)) == (0, 0, 40, 10), "moved inside"
    assert layout.place((2, 2), (40, 10)) is None


# Density


def test_density_is_a_surface_with_contours(islands):
    placed, codes = islands
    figure = draw(placed, style=PlotStyle(**SMALL, density=True))
    axes = figure.axes[0]
    assert len(axes.images) == 1
    assert axes.collections, "contours"
    assert axes.child_axes[0].get_ylabel() == "points per pixel of the map"
    by_class = draw(placed, codes, style=PlotStyle(**SMALL, density=True, legend=True)).axes[0]
    assert not by_class.images
    assert len(by_class.get_legend().get_texts()) == 4


def test_density_by_numbers_is_refused(islands):
    with pytest.raises(ValueError, match="density is drawn by class"):
        draw(islands[0], np.linspace(0, 1, 800), style=PlotStyle(density=True))


# Unusual maps


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
@pytest.mark.parametrize(
    "placed",
    [np.empty((0, 2)), [[5, 5]], [[0, 0], [999, 999], [3, 700]], np.full((50, 2), 999), [[x, 500] for x in range(999)]],
    ids=["no points", "one", "three", "equal", "a line"],
)
def test_unusual_maps_are_drawn(kind, placed):
    placed = np.asarray(placed, dtype=np.float32)
    for color in (None, ["a"] * len(placed), np.linspace(0, 1, len(placed))):
        for density in (False, color is None):
            style = PlotStyle(**SMALL, density=density)
            assert len(file_of(kind, placed, 1000, color, style=style)) > 500


def test_texts_are_never_markup(islands):
    placed, codes = islands
    labels = np.array(["$x^2$", "<script>", r"\frac{}", "a_b^c & %"])[codes]
    svg = file_of("svg", placed, 1000, labels, style=PlotStyle("$title$ <b>", legend=True), name="$col_umn").decode()
    for text in ("$x^2$", "&lt;script&gt;", "$title$ &lt;b&gt;", "$col_umn", "a_b^c &amp; %"):
        assert text in svg
    assert "<script>" not in svg


def test_right_to_left_text_is_drawn(islands):
    placed, codes = islands
    labels = np.array(["العربية", "עברית", "b", "c"])[codes]
    assert "עברית" in file_of("svg", placed, 1000, labels).decode()


def test_missing_fonts_and_characters_are_named(islands):
    placed, codes = islands
    with pytest.raises(ValueError, match="font 'No Such Font' is not installed; Matplotlib finds"):
        draw(placed, style=PlotStyle(font="No Such Font"))
    with pytest.warns(UserWarning, match="font 'DejaVu Serif' lacks 2 characters of the names, such as 字 汉"):
        png(placed, 1000, np.array(["汉字", "b", "c", "d"])[codes], style=PlotStyle(**SMALL, font="DejaVu Serif"))
    svg = file_of("svg", placed, 1000, codes, style=PlotStyle(font="DejaVu Serif")).decode()
    assert "DejaVu Serif" in svg


@pytest.mark.parametrize("categories", [3, 20, 300])
def test_a_legend_fits_beside_the_map(categories, islands):
    placed, _ = islands
    labels = np.array([f"category number {number} with a long name" for number in np.arange(800) % categories])
    figure = draw(placed, labels, style=PlotStyle(width=4, dpi=100))
    legend = figure.axes[0].get_legend().get_window_extent()
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.height <= figure.bbox.height + 1
    assert figure.axes[0].bbox.x1 <= legend.x0 + 1


@pytest.mark.parametrize(
    ("style", "words"),
    [
        ({"magnify": 0}, "magnify"),
        ({"width": -1}, "width"),
        ({"dpi": float("inf")}, "dpi"),
        ({"point_size": 0}, "point"),
    ],
)
def test_sizes_must_be_positive(style, words):
    with pytest.raises(ValueError, match=f"{words}.* must be a number above 0"):
        PlotStyle(**style)


# Python


def test_a_model_draws_into_axes(clusters):
    model = PixelSNE(resolution=256, perplexity=10, max_iter=30, random_state=0).fit(clusters)
    labels = pd.Series(np.arange(len(clusters)) % 3, name="remainder")
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    assert model.plot(axes, color=labels, legend=True, dark=True) is axes
    assert axes.get_legend().get_title().get_text() == "remainder"
    assert axes.yaxis_inverted()
    figure.canvas.draw()
    mpl.use("Agg")
    new = model.plot(color=labels, palette={0: "red", 1: "lime", 2: "blue"}, point_size=3)
    (drawn,) = [artist for artist in new.artists if isinstance(artist, dots.Dots)]
    np.testing.assert_array_equal(np.unique(drawn.colors, axis=0), np.eye(3)[::-1])
    mpl.pyplot.close(new.figure)


def test_names_find_places_when_axes_change_their_size(islands):
    placed, codes = islands
    figure = Figure((3, 3), 100)
    FigureCanvasAgg(figure)
    axes = plot_map(placed, 1000, figure.add_axes((0, 0, 1, 1)), names=regions_of_islands(codes))
    figure.canvas.draw()
    few = len(names_on(figure))
    figure.set_size_inches(10, 10)
    figure.canvas.draw()
    assert len(names_on(figure)) >= few
    assert max(name.box[2] for name in names_on(figure)) > 300
    assert axes.figure is figure


@pytest.mark.parametrize(
    ("palette", "first"),
    [
        (["red", "#00ff00"], (1, 0, 0)),
        ({"a": "blue"}, (0, 0, 1)),
        ("tab10", (0.12, 0.47, 0.71)),
        (["red"], (1, 0, 0)),
        ({"b": "red"}, (0.62,) * 3),
    ],
)
def test_palettes(palette, first):
    coloring = choose_coloring(np.array(["a", "b", "a"]), palette=palette)
    np.testing.assert_allclose(coloring.colors[0], first, atol=0.01)


@pytest.mark.parametrize(
    ("palette", "values", "words"),
    [
        (["no color"], ["a", "b"], "'no color', which is no color"),
        ("no map", ["a", "b"], "'no map' is no colormap"),
        ([], ["a"], "at least one color"),
        ({"a": "red"}, np.linspace(0, 1, 20), "colors show numbers"),
    ],
)
def test_invalid_palettes_are_refused(palette, values, words):
    with pytest.raises((ValueError, TypeError), match=words):
        choose_coloring(np.asarray(values), palette=palette)


def test_a_palette_colors_numbers():
    colors = choose_coloring(np.linspace(0, 1, 100), palette=["black", "white"]).colors
    np.testing.assert_allclose(colors[[0, -1]], [[0, 0, 0], [1, 1, 1]], atol=0.02)


def test_names_of_another_map_are_refused(islands):
    placed, codes = islands
    with pytest.raises(ValueError, match="regions of another map: this one has 100 points"):
        draw(placed[:100], names=regions_of_islands(codes))
    with pytest.raises(ValueError, match=r"names must be one value for each of the 100 points.* got 800 values"):
        draw(placed[:100], names=codes)


@pytest.mark.parametrize("names", ["auto", True, 5])
def test_names_that_are_no_names_are_refused(islands, names):
    with pytest.raises(ValueError, match=f"names must be one value for each.* got {names!r}; .*model.regions"):
        draw(islands[0], names=names)


def test_a_color_that_is_no_array_is_refused(islands):
    with pytest.raises(ValueError, match="color must be an array with one value for each of the 800 points"):
        draw(islands[0], color="label")


def test_a_picture_of_too_many_pixels_is_refused():
    with pytest.raises(ValueError, match="8,400 pixels wide, got width 20 inches x dpi 1200 = 24,000"):
        PlotStyle(width=20, dpi=1200)


def test_svg_files_have_no_control_characters(islands, tmp_path):
    placed, codes = islands
    save_picture(tmp_path / "map.svg", placed, 1000, np.array(["alpha\x08", "\x1bbeta"])[codes % 2], name="kind")
    written = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "alpha" in written
    assert "beta" in written
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", written)


def test_names_are_sorted_by_level_and_count():
    names = [MapName("fine", (0, 0), 2, 900, 1), MapName("small", (0, 0), 1, 10, 1), MapName("large", (0, 0), 1, 90, 1)]
    assert [name.text for name in MapNames(names, PlotStyle()).names] == ["large", "small", "fine"]


def test_new_points_are_drawn_over_old_ones():
    old = np.array([[100, 100], [300, 300], [500, 500]], dtype=np.float32)
    new = np.array([[300, 300], [100, 500]], dtype=np.float32)
    figure = draw(new, behind=old)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "2 new points",
        "3 points of the map",
    ]
    labeled = draw(new, np.array(["a", "b"]), behind=old).axes[0].get_legend()
    assert [text.get_text() for text in labeled.get_texts()] == ["a", "b", "3 points of the map"]
    assert isinstance(make_picture(new, 1000, None, "", None, PlotStyle(), old), Picture)
