"""A small map on the page, and helpers that act on the page and read it."""

import io
import time

import matplotlib.image
import numpy as np
import pyarrow as pa
import pytest

from pixelsne.files.maps import Map
from pixelsne.viewer.layout import page_of
from pixelsne.viewer.server import Server
from pixelsne.viewer.serving import map_bytes

RESOLUTION = (600, 400)
N = 900
CENTERS = np.array([[120.0, 100.0], [450.0, 120.0], [300.0, 310.0]])
HOSTILE = "<img src=x onerror=alert(1)>"
KINDS = ["apple", "pear", HOSTILE]


def make_map():
    """Three round clusters; row 7 stands alone in a corner."""
    rng = np.random.default_rng(0)
    kinds = np.arange(N) % 3
    placed = np.clip(CENTERS[kinds] + rng.normal(0, 14, (N, 2)), 0, np.array(RESOLUTION) - 0.01).astype(np.float32)
    placed[7] = [590, 390]
    words = [f"note {row} of {KINDS[kind]}" for row, kind in enumerate(kinds)]
    words[42] = "a needle in the hay"
    words[43] = "</script><script>alert(2)</script>"
    table = pa.table(
        {
            "kind": [KINDS[kind] for kind in kinds],
            "score": np.where(np.arange(N) == 5, np.nan, np.arange(N) / 10),
            "words": words,
            '"><b>bold</b>': ["=1+1"] * N,
        }
    )
    return Map(placed, RESOLUTION, table, {"label": "kind"}), kinds


def serve(one, title="fruit.parquet"):
    server = Server(page_of(one, title), None, lambda rows, suffix: map_bytes(one, rows, suffix))
    server.start()
    return server


TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def camera_of(page):
    """Wait until the map rests. Return its scale and the screen position of its corner."""
    for _ in range(200):
        page.evaluate(TWO_FRAMES)
        is_moving, *camera = map(float, page.evaluate("document.documentElement.dataset.camera").split())
        if not is_moving:
            return tuple(camera)
        page.wait_for_timeout(30)
    pytest.fail("the map does not come to rest")


def screen_position(page, x, y):
    """Return the screen position of (x, y), pixels of the map."""
    scale, left, top = camera_of(page)
    return left + float(x) * scale, top + float(y) * scale


def rows_within(one, center, reach):
    """Return the rows in a square, `reach` pixels to each side of its center."""
    return np.flatnonzero((np.abs(one.placed - center) < reach).all(axis=1))


def until(holds, seconds=60):
    """Wait until a condition holds. It is polled from here, since the page's policy forbids to evaluate strings."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            pytest.fail(f"the condition did not hold within {seconds} s")
        time.sleep(0.05)


def position_updates(page):
    """Return how many times the page has received positions."""
    return int(page.evaluate("document.documentElement.dataset.positions ?? 0"))


def settle(page):
    """Wait until no frame has been drawn for a quarter of a second, nor when the browser asked for two more."""
    before = -1
    frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for _ in range(200):
        now = int(page.evaluate(f"{frames}.then(() => document.documentElement.dataset.frames)"))
        if now == before:
            return
        before = now
        page.wait_for_timeout(250)
    pytest.fail("the page does not come to rest")


def picture(page):
    """Return a screenshot, (height, width, 3), once the page rests."""
    settle(page)
    return matplotlib.image.imread(io.BytesIO(page.screenshot()))[:, :, :3]


def differing(one, other):
    """Return the share of pixels that differ, in a part of the screen that no control covers."""
    return float((np.abs(one - other)[100:600, 60:700].max(axis=2) > 0.1).mean())


def drag_around(page, center, reach, modifiers=()):
    """Draw a square with the pointer, `reach` pixels of the map to each side of its center."""
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    line = [screen_position(page, center[0] + reach * dx, center[1] + reach * dy) for dx, dy in corners]
    line = [(max(1, x), max(50, y)) for x, y in line]  # on the screen
    page.mouse.move(*line[0])
    for key in modifiers:
        page.keyboard.down(key)
    page.mouse.down()
    for corner in line[1:]:
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    for key in modifiers:
        page.keyboard.up(key)


def saved(page, button):
    """Click a button and return the file that the page saves."""
    with page.expect_download() as started:
        page.locator(button).click()
    return started.value.path().read_bytes()
