"""Accessibility: axe finds no violation in any state of the page."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe

from browser import Watched
from fruit_page import CENTERS, camera_of, drag_around, screen_position, serve, until
from pixelsne.files.maps import Map
from pixelsne.viewer.layout import Page
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.serving import serve as serve_page

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

SCREENS = {"desk": (1280, 800), "phone": (390, 844)}


def violations(page):
    """Return what axe reports with all its rules, as text with the elements."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes']]}" for one in found]


@pytest.fixture(scope="module")
def rich():
    """Serve a map with every type of column."""
    n = 300
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "kind": [("apple", "pear", None)[row % 3] for row in range(n)],
            "score": np.where(np.arange(n) == 5, np.nan, np.arange(n) / 7),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
            "title": [f"a title of row {row}, which is long enough" for row in range(n)],
            "vector": [[1.0, 2.0]] * n,
            "nothing": pa.nulls(n),
        }
    )
    placed = np.clip(CENTERS[np.arange(n) % 3] + rng.normal(0, 14, (n, 2)), 0, None).astype(np.float32)
    server = serve(Map(placed, (600, 400), table, {"label": "kind"}))
    yield server
    server.close()


def states(page, screen):
    """Yield the states of the page, one after the other."""
    yield "as it opens"
    if screen == "phone":
        page.locator("#toggle-panel").click()
        yield "with its panel"
    for column in ("score", "day", "kind"):
        page.locator("#color").select_option(column)
        yield f"colored by {column}"
    page.locator("#legend button >> nth=0").click()
    yield "with hidden categories"
    page.keyboard.press("Escape")
    if screen == "phone":
        page.locator("#toggle-panel").click()
    page.mouse.move(*screen_position(page, *CENTERS[0]))
    page.wait_for_selector("#tooltip:not([hidden])")
    yield "with a row"
    page.locator("#map").focus()
    page.keyboard.press("Shift+ArrowRight")
    yield "with a row by keys"
    page.keyboard.press("Escape")
    page.locator("#search").fill("apple")
    until(lambda: page.evaluate("document.getElementById('match-count').textContent") == "100 found")
    yield "with a search"
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    drag_around(page, CENTERS[1], 60)
    until(lambda: "pear" in page.locator("#table").inner_text())
    yield "with selected rows"
    page.locator("[role=columnheader] button >> nth=1").click()
    yield "with sorted rows"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.mouse.move(300, 500)
    page.wait_for_selector("#toolbar.idle", timeout=20_000)
    page.wait_for_timeout(600)
    yield "at rest"
    page.keyboard.press("?")
    yield "with its keys"


@pytest.mark.parametrize(("screen", "dark"), [("desk", 0), ("desk", 1), ("phone", 1)])
def test_axe_finds_nothing(browser, rich, screen, dark):
    watched = Watched(browser, *SCREENS[screen])
    page = watched.open(f"{rich.address}&dark={dark}")
    found = {}
    for state in states(page, screen):
        camera_of(page)
        found[state] = violations(page)
        if state == "at rest":
            check_idle_bar(page)
    watched.close()
    assert len(found) >= 11
    assert found == {state: [] for state in found}, json.dumps(found, indent=1)


@pytest.mark.parametrize("error", [None, "there was no room"])
def test_axe_finds_nothing_about_a_run(browser, error):
    def snapshots():
        if error is not None:
            raise ValueError(error)
        yield from ()

    live = LiveRun(snapshots(), 10, lambda: "max_iter")
    view = serve_page(Page("run", (100, 100), 5), live, None, open_browser=False, port=0)
    watched = Watched(browser)
    page = watched.open(view.address)
    page.wait_for_selector(f"html[data-run={'finished' if error is None else 'failed'}]")
    assert violations(page) == []
    page.evaluate("Object.assign(document.getElementById('message'), {hidden: false, textContent: 'lost'})")
    assert violations(page) == []
    view.close()
    watched.close()


def luminance(color):
    channels = np.array([int(part) for part in re.findall(r"\d+", color)[:3]]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def check_idle_bar(page):
    """Check the contrast of the idle toolbar, since axe cannot tell what is behind it."""
    style = "(name, part) => getComputedStyle(document.querySelector(name))[part]"
    ground = page.evaluate(f"({style})('body', 'backgroundColor')")
    for name in ("#title", "#row-counts", "#reset-view", "#search"):
        color = page.evaluate(f"({style})('{name}', 'color')")
        light, dim = sorted([luminance(color), luminance(ground)], reverse=True)
        assert (light + 0.05) / (dim + 0.05) >= 4.5, name
    assert page.evaluate(f"({style})('#toolbar', 'opacity')") == "1"
