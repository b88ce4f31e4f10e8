"""Keyboard shortcuts work wherever the focus is, and navigate from point to point."""

import pytest

from fruit_page import CENTERS, camera_of, screen_position, settle, until

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

CLICKED = {
    "a button": "#reset-view",
    "a tool": "[data-tool=lasso]",
    "an entry of the legend": "#legend button >> nth=1",
    "a radio button": "input[value=density]",
    "a slider": "#size",
    "a checkbox": "#labels",
    "a button of the panel": "#panel .buttons",
    "the map": "#map",
}


def is_dark(page):
    return page.evaluate("document.documentElement.classList.contains('dark')")


@pytest.mark.parametrize("what", CLICKED)
def test_keys_work_after_a_click(page, what):
    page.locator(CLICKED[what]).click()
    before = is_dark(page)
    page.keyboard.press("d")
    assert is_dark(page) != before
    page.keyboard.press("p")
    assert page.locator("#panel").is_hidden()
    page.keyboard.press("b")
    assert page.locator("[data-tool=box]").get_attribute("aria-checked") == "true"
    scale = camera_of(page)[0]
    page.keyboard.press("+")
    assert camera_of(page)[0] == pytest.approx(1.4 * scale)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("db")
    assert page.locator("#search").input_value() == "db", "fields take all keys"
    assert is_dark(page) != before


def test_controls_keep_the_keys_that_they_need(page):
    page.locator("#size").focus()
    size, camera = page.locator("#size").input_value(), camera_of(page)
    page.keyboard.press("ArrowRight")
    assert float(page.locator("#size").input_value()) > float(size)
    page.locator("input[value=points]").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("input[value=density]").is_checked()
    page.locator("[data-tool=pan]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-tool=box]").get_attribute("aria-checked") == "true"
    page.locator("#legend button >> nth=0").focus()
    page.keyboard.press("Enter")
    assert "600 hidden" in page.locator("#row-counts").inner_text()
    assert camera_of(page) == camera
    page.keyboard.press("ArrowRight")
    assert camera_of(page) != camera, "buttons need no arrows"


def test_a_list_that_was_clicked_gives_the_keys_back(page):
    page.locator("#color").click()
    page.locator("#color").select_option("score")
    page.keyboard.press("d")
    assert is_dark(page)
    assert page.locator("#color").input_value() == "score"


def test_points_are_reached_by_keys(page, shown):
    placed = shown[0].placed
    page.locator("#map").focus()
    camera = camera_of(page)
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_selector("#tooltip:not([hidden])")
    rows = [int(page.locator("#tooltip").get_attribute("data-row"))]
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
        rows.append(int(page.locator("#tooltip").get_attribute("data-row")))
    assert (placed[rows[1:], 0] > placed[rows[:-1], 0]).all(), "to the right, each time"
    until(lambda: f"row {rows[-1]}, kind" in page.locator("#announcement").inner_text())
    assert page.locator("#announcement").get_attribute("role") == "status"
    assert camera_of(page) == camera
    page.keyboard.press("Shift+ArrowLeft")
    assert int(page.locator("#tooltip").get_attribute("data-row")) != rows[-1]
    page.keyboard.press("Enter")
    assert page.locator("#selection-count").inner_text() == "1 rows selected"
    page.keyboard.press("Escape")
    assert page.locator("#tooltip").is_hidden()


def test_keys_lead_past_the_edge_of_the_screen(page):
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    for _ in range(4):
        page.mouse.wheel(0, -400)
    settle(page)
    page.mouse.move(5, 500)
    page.locator("#map").focus()
    width = page.viewport_size["width"]
    before = camera_of(page)
    for _ in range(40):
        page.keyboard.press("Shift+ArrowDown")
    settle(page)
    assert camera_of(page) != before, "the map follows"
    box = page.locator("#tooltip").bounding_box()
    assert 0 <= box["x"] <= width


def test_only_what_is_shown_is_reached(page, shown):
    page.locator("#legend button", has_text="pear").click()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(f"Shift+{key}")
        row = int(page.locator("#tooltip").get_attribute("data-row"))
        assert shown[1][row] == 1
