"""The map stays in the visible area that toolbar, panel, drawer and footer leave."""

import io

import matplotlib.image
import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import CENTERS, camera_of, drag_around, rows_within, screen_position, serve, settle
from pixelsne.files.maps import Map
from pixelsne.viewer.layout import Page, encode_positions
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.serving import serve as serve_page

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

SCREENS = {"desk": (1280, 800), "phone": (390, 844)}


def covers(page):
    """Return the boxes of all controls that cover the map."""
    found = [page.locator(name) for name in ("#toolbar", "#panel", "#drawer", "#run-footer")]
    return [one.bounding_box() for one in found if one.is_visible()]


def is_free(page, placed, rows):
    """Return whether no control covers the points of these rows."""
    scale, left, top = camera_of(page)
    points = placed[rows] * scale + [left, top]
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    free = (points >= 0).all(axis=1) & (points[:, 0] <= width) & (points[:, 1] <= height)
    for box in covers(page):
        before = [box["x"], box["y"]] > points
        after = points > [box["x"] + box["width"], box["y"] + box["height"]]
        free &= (before | after).any(axis=1)
    return bool(free.all())


@pytest.mark.parametrize("screen", SCREENS)
def test_the_whole_map_is_seen_whatever_is_open(browser, server, shown, screen):
    watched = Watched(browser, *SCREENS[screen])
    page = watched.open(server.address)
    placed = shown[0].placed
    everything = np.arange(len(placed))
    assert is_free(page, placed, everything)
    page.keyboard.press("p")
    assert is_free(page, placed, everything), "the panel opened, or folded"
    page.keyboard.press("p")
    page.keyboard.press("l")
    drag_around(page, CENTERS[2], 50)
    page.keyboard.press("Escape")
    assert is_free(page, placed, everything), "with the drawer open"
    page.keyboard.press("Escape")
    assert is_free(page, placed, everything)
    watched.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_zooming_to_rows_puts_none_of_them_below_the_drawer(browser, server, shown, screen):
    watched = Watched(browser, *SCREENS[screen])
    page = watched.open(server.address)
    page.keyboard.press("l")
    drag_around(page, CENTERS[2], 50)
    page.locator("#zoom-selected").click()
    rows = rows_within(shown[0], CENTERS[2], 50)
    assert len(rows) > 290
    assert is_free(page, shown[0].placed, rows)
    assert camera_of(page)[0] > 2
    watched.close()


def test_the_panel_ends_above_the_drawer(browser, server):
    watched = Watched(browser, 1100, 620)
    page = watched.open(server.address)
    page.keyboard.press("l")
    drag_around(page, CENTERS[2], 50)
    settle(page)
    panel, drawer = page.locator("#panel").bounding_box(), page.locator("#drawer").bounding_box()
    assert panel["y"] + panel["height"] <= drawer["y"]
    page.locator("#show-help").click()
    assert page.locator("#help").is_visible(), "the last button is within reach"
    watched.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_the_run_footer_covers_no_points(browser, shown, screen):
    one = shown[0]
    live = LiveRun((_ for _ in ()), 10, lambda: "max_iter")
    view = serve_page(Page("fruit", one.resolution, 900), live, None, open_browser=False, port=0)
    live._frame = type(live._frame)(1, 1, encode_positions(one.placed, one.resolution))
    watched = Watched(browser, *SCREENS[screen])
    page = watched.open(view.address)
    page.wait_for_selector("html[data-positions='1']")
    settle(page)
    assert page.locator("#run-footer").is_visible()
    assert is_free(page, one.placed, np.arange(900))
    page.keyboard.press("l")
    drag_around(page, CENTERS[2], 50)
    settle(page)
    drawer, footer = page.locator("#drawer").bounding_box(), page.locator("#run-footer").bounding_box()
    assert abs(drawer["y"] + drawer["height"] - footer["y"]) <= 1, "the drawer stands on it"
    watched.close()
    view.close()


def test_labels_stay_in_the_visible_area(browser):
    """A label near the edge is moved into the visible area, and its text is not cut off."""
    rng = np.random.default_rng(0)
    placed = np.concatenate([rng.normal(20, 4, (200, 2)), rng.normal([580, 380], 4, (200, 2))]).astype(np.float32)
    kinds = ["a rather long name"] * 200 + ["another rather long name"] * 200
    server = serve(Map(placed, (600, 400), pa.table({"kind": kinds})))
    watched = Watched(browser, 900, 500)
    page = watched.open(server.address)
    settle(page)
    with_labels = matplotlib.image.imread(io.BytesIO(page.screenshot()))
    page.locator("#labels").uncheck()
    settle(page)
    changed = np.abs(with_labels - matplotlib.image.imread(io.BytesIO(page.screenshot()))).max(axis=2) > 0.05
    panel = page.locator("#panel").bounding_box()
    across = np.flatnonzero(changed[45:, : int(panel["x"]) - 2].any(axis=0))
    assert across.min() >= 4, "not cut off at the left"
    assert across.max() <= panel["x"] - 12, "nor hidden by the panel"
    watched.close()
    server.close()


def open_map(browser, placed, resolution=(1000, 1000)):
    server = serve(Map(placed.astype(np.float32), resolution, pa.table({"kind": ["a", "b"] * (len(placed) // 2)})))
    watched = Watched(browser)
    page = watched.open(server.address)
    return server, watched, page


def test_a_few_outliers_do_not_shrink_the_map(browser):
    rng = np.random.default_rng(0)
    placed = rng.normal([500, 500], 15, (20_000, 2))
    placed[:6] = [[0, 0], [999, 999], [0, 999], [999, 0], [1, 1], [998, 998]]
    server, watched, page = open_map(browser, placed)
    scale = camera_of(page)[0]
    assert scale > 4, "the cluster, 120 pixels across, fills the screen"
    most = placed[6:]
    inside = np.abs(most - [500, 500]).max(axis=1) < 45
    assert is_free(page, most, np.flatnonzero(inside))
    for _ in range(8):
        page.mouse.move(400, 400)
        page.mouse.wheel(0, 400)
    assert is_free(page, placed, np.arange(6)), "all of it is reached by zooming out"
    page.keyboard.press("0")
    assert camera_of(page)[0] == pytest.approx(scale)
    watched.close()
    server.close()


def test_a_map_that_is_not_much_larger_than_most_of_it_is_shown_whole(browser):
    rng = np.random.default_rng(0)
    placed = rng.uniform(300, 700, (20_000, 2))
    placed[:6] = [[280, 280], [720, 720], [280, 720], [720, 280], [281, 281], [719, 719]]
    server, watched, page = open_map(browser, placed)
    assert is_free(page, placed, np.arange(len(placed)))
    watched.close()
    server.close()


def test_points_that_are_all_in_one_place(browser):
    server, watched, page = open_map(browser, np.full((10, 2), 500.0))
    page.mouse.move(*screen_position(page, 500, 500))
    page.wait_for_selector("#tooltip:not([hidden])")
    assert watched.errors == []
    watched.close()
    server.close()


def test_the_panel_is_closed_on_a_phone_and_open_on_a_desk_until_somebody_decides(browser, server):
    watched = Watched(browser, *SCREENS["phone"])
    page = watched.open(server.address)
    assert page.locator("#panel").is_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#panel").is_visible()
    page.locator("#toggle-panel").click()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#panel").is_hidden()
    watched.close()
