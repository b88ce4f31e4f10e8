"""Columns of every type in the panel, and names of every length."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import drag_around, screen_position, serve, settle, until
from pixelsne.files.maps import Map

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

N = 2000
LONG = "a_name_without_any_space_that_is_much_longer_than_there_is_room_for_it_on_any_screen_of_any_phone"
DAYS = np.datetime64("2015-01-01") + np.arange(N)


@pytest.fixture(scope="module")
def archive():
    """Serve a map of headlines without a label."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "headline": [f"The council of town {row} meets about the roads" for row in range(N)],
            "day": pa.array(np.where(np.arange(N) == 7, np.datetime64("NaT"), DAYS)),
            "minute": np.datetime64("2020-05-01T08:00:00") + 60 * np.arange(N),
            LONG: [f"{LONG} {row % 3}" for row in range(N)],
            "vector": [[1.0, 2.0]] * N,
            "photo": [{"bytes": b"x", "path": None}] * N,
            "nothing": pa.nulls(N),
        }
    )
    server = serve(Map(rng.uniform(0, 600, (N, 2)).astype(np.float32), (600, 600), table))
    yield server
    server.close()


@pytest.fixture
def archived(watched, archive):
    return watched.open(archive.address)


def test_headlines_are_not_colors(archived):
    options = archived.locator("#color option").all_inner_texts()
    assert options == ["nothing", "regions", "day", "minute", LONG]
    assert archived.locator("#color").input_value() == LONG, "it has few values"


def test_dates_are_a_scale_with_dates_as_ticks(archived):
    archived.locator("#color").select_option("day")
    archived.wait_for_selector("#legend canvas.color-bar")
    assert archived.locator("#legend canvas.color-bar").is_visible()
    names = archived.locator("#legend .ticks span").all_inner_texts()
    assert names == ["2016", "2018", "2020"]
    assert "1 without a value" in archived.locator("#legend").inner_text()
    check_ticks(archived)
    archived.locator("#color").select_option("minute")
    expected = ["2020-05-01\n08:20", "2020-05-02\n17:00"]  # the ends: of round ones there is but one
    until(lambda: archived.locator("#legend .ticks span").all_inner_texts() == expected)
    check_ticks(archived)


def check_ticks(page):
    boxes = [one.bounding_box() for one in page.locator("#legend .ticks span").all()]
    assert len(boxes) >= 2
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(boxes))
    panel = page.locator("#panel").bounding_box()
    assert boxes[0]["x"] > panel["x"]
    assert boxes[-1]["x"] + boxes[-1]["width"] <= panel["x"] + panel["width"]


def test_ticks_of_large_numbers_have_all_their_digits(browser):
    serial = 1_234_567_000 + np.arange(N)
    server = serve(
        Map(np.random.default_rng(0).uniform(0, 9, (N, 2)).astype(np.float32), (9, 9), pa.table({"a": serial}))
    )
    watched = Watched(browser)
    page = watched.open(server.address)
    names = page.locator("#legend .ticks span").all_inner_texts()
    assert names == ["1234568000"]
    watched.close()
    server.close()


def test_dates_are_filtered_by_day(archived):
    archived.locator("#color").select_option("day")
    archived.get_by_label("show dates from").fill("2016-01-01")
    archived.get_by_label("show dates up to").fill("2016-01-31")
    archived.get_by_label("show dates up to").press("Enter")
    until(lambda: f"{N - 31:,} hidden" in archived.locator("#row-counts").inner_text())


@pytest.mark.slow
def test_dates_are_told_as_dates(archived):
    archived.keyboard.press("l")
    drag_around(archived, (300, 300), 290)
    until(lambda: "2020-05-01 08:0" in archived.locator("#table").inner_text())
    assert "2015-01-0" in archived.locator("#table").inner_text()


def test_what_cannot_be_shown_is_named(archived):
    note = archived.locator("#unavailable-columns")
    assert note.is_visible()
    assert note.inner_text() == "Not shown: vector (lists), photo (images), nothing (no values)"
    assert "None" not in archived.locator("#panel").inner_text()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_long_names_stay_in_their_boxes(browser, archive, width, height):
    watched = Watched(browser, width, height)
    page = watched.open(archive.address)
    if width < 640:
        page.locator("#toggle-panel").click()
    page.locator("#color").select_option(LONG)
    settle(page)
    panel = page.locator("#panel").bounding_box()
    for one in page.locator("#legend button, #color, #unavailable-columns").all():
        box = one.bounding_box()
        assert panel["x"] <= box["x"]
        assert box["x"] + box["width"] <= panel["x"] + panel["width"]
    entry = page.locator("#legend button >> nth=0")
    assert LONG in entry.get_attribute("title")
    assert entry.locator(".count").bounding_box()["width"] > 10
    if width < 640:
        page.locator("#toggle-panel").click()
    page.mouse.click(*screen_position(page, 300, 300))
    page.wait_for_selector("#tooltip:not([hidden])")
    until(lambda: "council" in page.locator("#tooltip").inner_text())
    box = page.locator("#tooltip").bounding_box()
    for one in page.locator("#tooltip dt, #tooltip dd").all():
        inner = one.bounding_box()
        assert inner["x"] + inner["width"] <= box["x"] + box["width"]
        assert inner["width"] > 60
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    watched.close()


def test_a_long_title_ends_in_an_ellipsis(browser, shown):
    server = serve(shown[0], LONG)
    watched = Watched(browser, 700, 500)
    page = watched.open(server.address)
    title = page.locator("#title")
    assert title.get_attribute("title") == LONG
    assert (
        title.evaluate("(one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow") == "ellipsis"
    )
    assert page.locator("#toggle-panel").bounding_box()["x"] < 700
    watched.close()
    server.close()
