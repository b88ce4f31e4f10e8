"""Selected rows, and the files they are saved to."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from browser import Watched
from fruit_page import CENTERS, drag_around, rows_within, saved, screen_position, serve
from pixelsne.files.maps import Map


def test_a_lasso_selects_exactly_these_rows(page, server, shown):
    one = shown[0]
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    expected = rows_within(one, CENTERS[0], 60)
    assert len(expected) == 300
    assert page.locator("#selection-count").inner_text() == "300 rows selected"
    ids = np.array([int(line) for line in saved(page, "#save-row-numbers").split()])
    np.testing.assert_array_equal(ids, expected)
    table = pa.csv.read_csv(io.BytesIO(saved(page, "#save-csv")))
    np.testing.assert_array_equal(table["row"], expected)
    assert set(table["kind"].to_pylist()) == {"apple"}
    assert table.column(4)[0].as_py() == "'=1+1", "no formula for a spreadsheet"
    parquet = pq.read_table(io.BytesIO(saved(page, "#save-parquet")))
    np.testing.assert_allclose(parquet["x"], one.placed[expected, 0], atol=1e-4)
    np.testing.assert_array_equal(server.selection, expected)
    drag_around(page, CENTERS[1], 60, ["Control"])
    both = len(expected) + len(rows_within(one, CENTERS[1], 60))
    assert page.locator("#selection-count").inner_text() == f"{both} rows selected"
    drag_around(page, CENTERS[0], 60, ["Alt"])
    assert page.locator("#selection-count").inner_text() == f"{both - len(expected)} rows selected"
    assert "pear" in page.locator("#table").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")


def test_a_box_selects_too(page, shown):
    x, y = CENTERS[2]
    page.mouse.move(*screen_position(page, x - 50, y - 50))
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(*screen_position(page, x + 50, y + 50), steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    count = len(rows_within(shown[0], CENTERS[2], 50))
    assert page.locator("#selection-count").inner_text() == f"{count} rows selected"


def test_selections_arrive_in_their_order(page, server, shown):
    held, is_holding = [], [True]
    page.route("**/selection", lambda route: held.append(route) if is_holding[0] else route.continue_())
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    drag_around(page, CENTERS[1], 60)
    page.wait_for_timeout(300)
    is_holding[0] = False
    for route in reversed(held):
        route.continue_()
        page.wait_for_timeout(300)
    np.testing.assert_array_equal(server.selection, rows_within(shown[0], CENTERS[1], 60))


def test_a_csv_file_has_all_digits_of_short_floats(browser):
    values = np.random.default_rng(0).normal(0, 1000, 200).astype(np.float32)
    values[:3] = [0.1, np.nan, 7]
    placed = np.random.default_rng(1).uniform(40, 60, (200, 2)).astype(np.float32)
    server = serve(Map(placed, (100, 100), pa.table({"value": values})))
    watched = Watched(browser)
    page = watched.open(server.address)
    page.keyboard.press("l")
    drag_around(page, (50, 50), 12)
    lines = saved(page, "#save-csv").decode().split()[1:]
    assert len(lines) == 200
    written = [line.split(",")[1] for line in lines]
    assert written[:3] == ["0.1", "", "7"]
    np.testing.assert_array_equal(np.array([text or "nan" for text in written], dtype=np.float32), values)
    watched.close()
    server.close()
