"""Names of regions and categories on the page, texts of example rows, and colors without a label."""

import io
import itertools
import json
import re
from dataclasses import replace

import matplotlib.image
import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import camera_of, picture, position_updates, saved, screen_position, settle, until
from pixelsne import PixelSNE, viewer
from pixelsne.files.maps import Map
from pixelsne.regions import Region, Regions
from pixelsne.viewer.export import standalone
from pixelsne.viewer.layout import QUANTIZATION_LEVELS, page_of
from pixelsne.viewer.server import Server

SIDE = 1000
N_PARTS = 12  # clusters; three of them form a coarse region
PER_PART = 150
COARSE_NAMES = ("cooking · kitchen", "sports · teams", "<b>markup</b>", "oil · gas · energy")
COARSE_COLORS = ("#1f8fd0", "#b4561f", "#e9b12c", "#7d4fb0")
PART_CENTERS = np.array([(250 + 500 * (group % 2), 250 + 500 * (group // 2)) for group in range(4)])
OFFSETS = np.array([(0, -110), (-105, 80), (105, 80)])


def made_map():
    """Four groups of three clusters each, with a text per row; the last row lies between regions."""
    rng = np.random.default_rng(4)
    parts = np.repeat(np.arange(N_PARTS), PER_PART)
    centers = PART_CENTERS[parts // 3] + OFFSETS[parts % 3]
    placed = (centers + rng.normal(0, 17, (len(parts), 2))).astype(np.float32)
    placed[-1] = (500, 500)
    texts = [f"row {row} tells a story about number {row * 7}" for row in range(len(parts))]
    return Map(placed, (SIDE, SIDE), pa.table({"story": texts})), parts


def made_regions(map_, parts):
    """Return the regions of `made_map`: the groups, and the clusters in them."""
    parts = np.where(np.arange(len(parts)) == len(parts) - 1, -1, parts)
    groups = np.where(parts < 0, -1, parts // 3)
    regions = []
    for level, (codes, names) in enumerate(
        [(groups, COARSE_NAMES), (parts, [f"part {i} · words" for i in range(12)])], 1
    ):
        for code, name in enumerate(names):
            rows = np.flatnonzero(codes == code)
            middle = map_.placed[rows].mean(axis=0)
            nearest = rows[np.argmin(np.hypot(*(map_.placed[rows] - middle).T))]
            color = COARSE_COLORS[code if level == 1 else code // 3]
            parent = -1 if level == 1 else code // 3
            center = tuple(map_.placed[nearest].tolist())
            regions.append(Region(level, name, center, len(rows), parent, (int(rows[0]),), color))
    indices = (groups.astype(np.int32), np.where(parts < 0, -1, parts + 4).astype(np.int32))
    return Regions(tuple(regions), indices, map_.placed)


@pytest.fixture(scope="module")
def made():
    map_, parts = made_map()
    page = replace(page_of(map_, "made"), regions=made_regions(map_, parts), color=None)
    server = Server(page)
    server.start()
    yield server, page, map_
    server.close()


def labels_of(page):
    """Return the names and examples on the screen, once the page rests."""
    camera_of(page)
    settle(page)
    return json.loads(page.evaluate("document.documentElement.dataset.labels"))


def overlap(one, other):
    return (
        one["left"] < other["right"]
        and one["right"] > other["left"]
        and one["top"] < other["bottom"]
        and one["bottom"] > other["top"]
    )


def assert_apart(boxes):
    assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)]


def region_at(made_page, map_, name):
    """Return the name of the region, on the level of a label, to which the point nearest to its anchor belongs."""
    anchor = np.array([name["x"], name["y"]]) * SIDE / QUANTIZATION_LEVELS
    row = int(np.argmin(np.hypot(*(map_.placed - anchor).T)))
    return made_page.regions.regions[made_page.regions.indices[name["level"] - 1][row]].name


@pytest.mark.parametrize("screen", [(1440, 900), (390, 844)])
def test_names_at_three_zooms(browser, made, screen):
    server, made_page, map_ = made
    watched = Watched(browser, *screen)
    page = watched.open(server.address)
    levels = []
    for zoom, center in [(1, None), (2.5, (250, 250)), (6, (750, 640))]:
        if center is not None:
            page.evaluate(f"location.hash = 'renderer={browser.drawing}&x={center[0]}&y={center[1]}&zoom={zoom}'")
            page.reload()
            page.wait_for_selector("html[data-ready]")
        names = labels_of(page)["names"]
        assert names
        assert_apart([name["box"] for name in names])
        for name in names:
            assert region_at(made_page, map_, name) == name["text"]
            assert 0 <= name["box"]["left"] < name["box"]["right"] <= screen[0]
        levels.append({name["level"] for name in names})
    assert 1 in levels[0]
    assert 2 in levels[1] or 2 in levels[2], "finer regions appear"
    assert levels[2] == {2}, "coarse ones give way"
    assert watched.errors == []
    watched.close()


@pytest.mark.parametrize("dark", [0, 1])
def test_names_are_readable(browser, made, dark):
    watched = Watched(browser)
    page = watched.open(f"{made[0].address}&dark={dark}")
    background = (18, 18, 23) if dark else (255, 255, 255)
    names = labels_of(page)["names"]
    assert {name["text"] for name in names} >= set(COARSE_NAMES)
    for name in names:
        low, high = sorted(map(luminance, (background, map(int, re.findall(r"\d+", name["color"])))))
        assert (high + 0.05) / (low + 0.05) >= 4.5, name
    watched.close()


def luminance(color):
    channels = np.array(list(color)) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_panning_changes_no_names(browser, made):
    """Dragging the map neither replaces names that stay on the screen nor moves them on the map."""
    watched = Watched(browser)
    page = watched.open(f"{made[0].address}&x=500&y=500&zoom=1.6")
    before = {name["text"]: (name["x"], name["y"]) for name in labels_of(page)["names"]}
    assert len(before) > 3
    page.mouse.move(400, 400)
    page.mouse.down()
    page.mouse.move(360, 370, steps=6)
    page.mouse.up()
    after = {name["text"]: (name["x"], name["y"]) for name in labels_of(page)["names"]}
    for text, (x, y) in before.items():
        left, top = screen_position(page, x * SIDE / QUANTIZATION_LEVELS, y * SIDE / QUANTIZATION_LEVELS)
        if left > 1 and top > 60:
            assert after[text] == (x, y)
    assert len(before.keys() & after.keys()) > 2
    watched.close()


def test_the_colors_are_those_of_python(browser, made):
    server, made_page, map_ = made
    watched = Watched(browser)
    page = watched.open(f"{server.address}&labels=0&size=12&opacity=1")
    assert page.locator("#color").input_value() == "regions"
    shown = np.rint(255 * picture(page)).astype(int)
    expected = np.rint(255 * made_page.regions.point_colors()).astype(int)
    distances = np.hypot(*(map_.placed[:, None] - map_.placed[None]).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    alone = np.flatnonzero(distances.min(axis=1) > 14)
    assert len(set(made_page.regions.indices[0][alone])) == 5, "a point of each region, and the one between them"
    for row in alone:
        x, y = screen_position(page, *map_.placed[row])
        assert np.abs(shown[int(y), int(x)] - expected[row]).max() <= 2, row
    watched.close()


def test_the_legend_lists_the_coarsest_regions(browser, made):
    watched = Watched(browser)
    page = watched.open(made[0].address)
    buttons = page.locator("#legend button")
    assert buttons.locator(".name").all_inner_texts() == [*COARSE_NAMES, "between regions"]
    assert [int(count) for count in buttons.locator(".count").all_inner_texts()] == [450, 450, 450, 449, 1]
    buttons.nth(1).click()
    assert "1,350 hidden" in page.locator("#row-counts").inner_text()
    assert {name["text"] for name in labels_of(page)["names"] if name["level"] == 1} == {COARSE_NAMES[1]}
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "1,350 hidden" in page.locator("#row-counts").inner_text(), "the address holds the filter"
    watched.close()


def test_examples_when_zoomed_in(browser, made):
    server, _, map_ = made
    watched = Watched(browser)
    page = watched.open(server.address)
    assert labels_of(page)["examples"] == [], "not from afar"
    row = 5
    x, y = map_.placed[row]
    page.goto(f"{server.address}&renderer={browser.drawing}")
    page.wait_for_selector("html[data-ready]")
    page.evaluate(f"location.hash = 'renderer={browser.drawing}&x={x}&y={y}&zoom=14'")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    until(lambda: len(labels_of(page)["examples"]) > 5)
    labels = labels_of(page)
    assert_apart([label["box"] for label in labels["examples"] + labels["names"]])
    texts = map_.extra_columns["story"].to_pylist()
    for example in labels["examples"]:
        assert texts[example["row"]].startswith(example["text"].rstrip("…"))
        point = screen_position(page, *map_.placed[example["row"]])
        box = example["box"]
        assert box["top"] <= point[1] <= box["bottom"]
        assert min(abs(box["left"] - point[0]), abs(box["right"] - point[0])) < 12
    assert watched.errors == []
    watched.close()


def test_a_saved_picture_and_a_file_have_the_names(browser, made, tmp_path):
    server, made_page, _ = made
    watched = Watched(browser)
    page = watched.open(server.address)
    names = labels_of(page)["names"]
    drawn = matplotlib.image.imread(io.BytesIO(saved(page, "#save-image")))[:, :, :3]
    page.locator("#labels").uncheck()
    settle(page)
    plain = matplotlib.image.imread(io.BytesIO(saved(page, "#save-image")))[:, :, :3]
    for name in names:
        left, top, right, bottom = (round(name["box"][side]) for side in ("left", "top", "right", "bottom"))
        assert np.abs(drawn - plain)[top:bottom, left:right].max() > 0.3, name
    path = tmp_path / "map.html"
    path.write_text(standalone(made_page))
    page = watched.open(path.as_uri())
    assert labels_of(page)["names"] == names
    assert page.locator("b").count() == 0, "markup stays text"
    assert watched.errors == []
    watched.close()


def test_a_category_is_named_on_each_island(browser):
    rng = np.random.default_rng(0)
    centers = np.array([(150, 150), (850, 850), (850, 150)])
    kinds = np.arange(900) % 3
    placed = np.clip(centers[kinds] + rng.normal(0, 30, (900, 2)), 0, 999).astype(np.float32)
    table = pa.table({"kind": np.where(kinds < 2, "twice", "once")})
    server = Server(page_of(Map(placed, (SIDE, SIDE), table), "islands"))
    server.start()
    watched = Watched(browser)
    page = watched.open(server.address)
    names = [name for name in labels_of(page)["names"] if name["level"] == 0]
    assert sorted(name["text"] for name in names) == ["once", "twice", "twice"]
    anchors = np.array([[name["x"], name["y"]] for name in names]) * SIDE / QUANTIZATION_LEVELS
    for center in centers:
        assert np.hypot(*(anchors - center).T).min() < 30
    watched.close()
    server.close()


def test_a_run_gets_its_regions_at_the_end(browser):
    rng = np.random.default_rng(0)
    values = rng.normal(0, 6, (6, 20))[np.arange(3000) % 6] + rng.normal(size=(3000, 20))
    view = viewer.watch(PixelSNE(max_iter=200, tol=0, random_state=0), values, open_browser=False)
    watched = Watched(browser)
    page = watched.open(view.address)
    until(lambda: position_updates(page) > 0)
    page.wait_for_selector("html[data-run=finished]", timeout=120_000)
    until(lambda: page.locator("#color").input_value() == "regions")
    page.locator("#labels").uncheck()
    seen = picture(page)
    hues = set(map(tuple, np.rint(4 * seen[80:700, 30:800].reshape(-1, 3)).astype(int).tolist()))
    assert len(hues) > 6, "one color has become many"
    expected = {option for option in ("", "regions") if page.locator(f"#color option[value='{option}']").count() == 1}
    assert expected == {"", "regions"}
    assert watched.errors == []
    watched.close()
    view.close()


def test_size_and_opacity_follow_the_view_until_the_user_sets_them(browser, made):
    watched = Watched(browser, 700, 420)
    page = watched.open(made[0].address)
    settle(page)
    size = page.locator("#size")
    small = float(size.input_value())
    page.mouse.move(200, 200)
    for _ in range(4):
        page.mouse.wheel(0, -300)
    camera_of(page)
    assert float(size.input_value()) > small, "fewer points in view are larger"
    size.fill("3")
    settle(page)
    page.keyboard.press("0")
    camera_of(page)
    assert size.input_value() == "3"
    page.locator("#reset-style").click()
    until(lambda: float(size.input_value()) == small)
    assert page.locator("#reset-style").is_hidden()
    watched.close()


def test_the_density_has_the_colors_of_the_legend(browser, made):
    watched = Watched(browser)
    page = watched.open(f"{made[0].address}&labels=0&view=density&classes=1")
    seen = picture(page)
    for group, color in enumerate(COARSE_COLORS):
        x, y = map(int, screen_position(page, *(PART_CENTERS[group] + OFFSETS[0])))
        expected = np.array([int(color[index : index + 2], 16) for index in (1, 3, 5)]) / 255
        direction = 1 - seen[y - 6 : y + 6, x - 6 : x + 6].mean(axis=(0, 1))
        wanted = 1 - expected
        cosine = direction @ wanted / np.linalg.norm(direction) / np.linalg.norm(wanted)
        assert cosine > 0.97, color
    watched.close()
