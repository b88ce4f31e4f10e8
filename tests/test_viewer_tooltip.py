"""The tooltip: its position, when it appears, and for which rows."""

import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import CENTERS, drag_around, screen_position, serve, settle, until
from pixelsne.files.maps import Map

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

WIDE = 50


@pytest.fixture(scope="module")
def wide():
    """A map of few points with many columns of long words; row 1 is at the right edge, row 2 at the lower one."""
    rng = np.random.default_rng(0)
    placed = rng.uniform(40, 60, (20, 2)).astype(np.float32)
    placed[:4] = [[0, 50], [99, 50], [50, 99], [50, 0]]
    columns = {f"column {index}": [f"word {row} of {index} " * 12 for row in range(20)] for index in range(WIDE)}
    server = serve(Map(placed, (100, 100), pa.table(columns)))
    yield server, placed
    server.close()


@pytest.mark.parametrize(("width", "height"), [(1100, 760), (390, 800)])
def test_the_words_stay_on_the_screen(browser, wide, width, height):
    server, placed = wide
    watched = Watched(browser, width, height)
    page = watched.open(server.address)
    page.keyboard.press("p") if width > 640 else None
    widths = set()
    for row in (0, 1, 2, 3, 1, 1, 2):
        page.mouse.move(*screen_position(page, 50, 25))
        page.mouse.move(*screen_position(page, *placed[row]))
        page.wait_for_selector(f"#tooltip[data-row='{row}']:not([hidden])")
        until(lambda row=row: f"word {row} of 0" in page.locator("#tooltip").inner_text())
        box = page.locator("#tooltip").bounding_box()
        assert box["x"] >= 0
        assert box["y"] >= 40
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
        widths.add(round(box["width"]))
    assert len(widths) == 1, "not squeezed at the edge, and no wider with every row"
    assert min(widths) > 250
    assert "more columns" in page.locator("#tooltip").inner_text()
    watched.close()


def test_a_row_beside_the_edge_is_not_squeezed(page):
    sizes = []
    for x, y in ((590, 390), CENTERS[1], CENTERS[0]):
        page.mouse.move(*screen_position(page, x, y))
        page.wait_for_selector("#tooltip:not([hidden])")
        settle(page)
        sizes.append(page.locator("#tooltip").bounding_box()["width"])
    assert min(sizes) > 150


def test_nothing_covers_a_selection(page):
    page.keyboard.press("l")
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    settle(page)
    assert page.locator("#tooltip").is_hidden(), "not while somebody is about to select"
    drag_around(page, CENTERS[1], 50)
    for _ in range(2):
        page.mouse.move(*screen_position(page, *CENTERS[1]))
        settle(page)
        assert page.locator("#tooltip").is_hidden()
        page.keyboard.press("v")
    page.locator("#table .line >> nth=2").hover()
    assert page.locator("#tooltip").is_hidden(), "the table has the words"
    page.mouse.click(*screen_position(page, *CENTERS[1]))
    page.wait_for_selector("#tooltip:not([hidden])")


def test_a_lasso_closes_the_words(page):
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    page.wait_for_selector("#tooltip:not([hidden])")
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(*screen_position(page, 300, 200), steps=4)
    assert page.locator("#tooltip").is_hidden()
    page.mouse.up()
    page.keyboard.up("Shift")


def test_typing_closes_the_words(page):
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    page.wait_for_selector("#tooltip:not([hidden])")
    page.keyboard.press("/")
    page.keyboard.type("pe")
    assert page.locator("#tooltip").is_hidden()
    until(lambda: page.locator("#match-count").inner_text() == "300 found")
    settle(page)
    assert page.locator("#tooltip").is_hidden()
    page.mouse.move(*screen_position(page, CENTERS[1][0] + 2, CENTERS[1][1]))
    page.wait_for_selector("#tooltip:not([hidden])")


def test_rows_that_are_put_back_do_not_answer(page):
    page.locator("#search").fill("apple")
    until(lambda: page.locator("#match-count").inner_text() == "300 found")
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    settle(page)
    assert page.locator("#tooltip").is_hidden()
    page.mouse.move(*screen_position(page, *CENTERS[0]))
    page.wait_for_selector("#tooltip:not([hidden])")
    assert "apple" in page.locator("#tooltip").inner_text()


def test_a_lasso_takes_what_the_search_found(page, shown):
    page.locator("#search").fill("note 10")
    until(lambda: "found" in page.locator("#match-count").inner_text())
    found = int(page.locator("#match-count").inner_text().split()[0])
    assert found < 900
    page.locator("#map").focus()
    page.keyboard.press("l")
    drag_around(page, CENTERS[1], 60)
    table = shown[0].extra_columns.column("words").to_pylist()
    expected = sum("10" in words for words in table[1::3])
    assert page.locator("#selection-count").inner_text() == f"{expected} rows selected"


def test_dragging_the_map_is_no_click(page):
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    page.keyboard.press("v")
    x, y = screen_position(page, *CENTERS[1])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y + 30, steps=4)
    page.mouse.up()
    settle(page)
    assert page.locator("#tooltip").is_hidden()
