"""The page in a real browser, with both renderers: drawing, highlighting, search and settings."""

import io
import json
import re

import matplotlib.image
import numpy as np

from browser import Watched
from fruit_page import (
    CENTERS,
    HOSTILE,
    KINDS,
    N,
    differing,
    drag_around,
    picture,
    saved,
    screen_position,
    settle,
    until,
)


def test_the_map_is_there(page):
    assert page.title() == "fruit.parquet · pixelsne"
    assert page.locator("#row-counts").inner_text() == "900 rows"
    assert "token" not in page.url
    page.locator("#toggle-panel").click()
    seen = picture(page)
    for center in CENTERS:
        x, y = map(int, screen_position(page, *center))
        near = seen[y - 40 : y + 40, x - 40 : x + 40]
        assert (near.min(axis=2) < 0.8).mean() > 0.1, "a cluster is drawn where it is"
    empty = seen[int(screen_position(page, 300, 200)[1]), int(screen_position(page, 120, 380)[0])]
    assert empty.min() > 0.95


def test_hovering_tells_the_row(page):
    page.mouse.move(*screen_position(page, 590, 390))
    page.wait_for_selector("#tooltip[data-row='7']")
    until(lambda: "note 7 of pear" in page.locator("#tooltip").inner_text())
    assert "0.7" in page.locator("#tooltip").inner_text()
    page.mouse.move(*screen_position(page, 20, 380))
    page.wait_for_selector("#tooltip", state="hidden")


def test_panning_and_zooming(page):
    before = picture(page)
    x, y = screen_position(page, *CENTERS[0])
    page.mouse.move(x, y)
    for _ in range(4):
        page.mouse.wheel(0, -300)
    zoomed = picture(page)
    assert np.abs(zoomed - before).mean() > 0.01
    assert "zoom=" in page.url
    page.mouse.down()
    page.mouse.move(x + 120, y + 60, steps=5)
    page.mouse.up()
    assert np.abs(picture(page) - zoomed).mean() > 0.01
    page.keyboard.press("0")
    page.mouse.move(5, 300)
    until(lambda: differing(picture(page), before) < 1e-3, 20)
    page.locator("#map").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    settle(page)
    assert "zoom=1.4" in page.url


def test_a_link_brings_the_view_back(page, watched):
    page.locator("#color").select_option("score")
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    page.mouse.wheel(0, -600)
    page.keyboard.press("d")
    page.mouse.move(5, 400)
    settle(page)
    page.wait_for_timeout(400)
    before, address = picture(page), page.url
    again = watched.context.new_page()
    again.goto(address)
    again.wait_for_selector("html[data-ready]")
    again.mouse.move(5, 400)
    assert again.locator("#color").input_value() == "score"
    until(lambda: differing(picture(again), before) < 1e-3, 20)


def test_colors_are_switched(page):
    kinds = picture(page)
    page.locator("#color").select_option("score")
    assert np.abs(picture(page) - kinds).mean() > 0.005
    assert page.locator("#legend canvas.color-bar").is_visible()
    assert "1 without a value" in page.locator("#legend").inner_text()
    page.get_by_label("show numbers from").fill("80")
    page.get_by_label("show numbers from").press("Enter")
    assert "800 hidden" in page.locator("#row-counts").inner_text()
    page.locator("#color").select_option("")
    settle(page)
    assert page.locator("#legend").inner_text() == ""


def test_the_legend_counts_isolates_and_hides(page):
    entries = page.locator("#legend button")
    assert entries.count() == 3
    assert sorted(entries.nth(index).locator(".name").inner_text() for index in range(3)) == sorted(KINDS)
    assert [entries.nth(index).locator(".count").inner_text() for index in range(3)] == ["300"] * 3
    apple = page.locator("#legend button", has_text="apple")
    apple.click()
    assert "600 hidden" in page.locator("#row-counts").inner_text()
    assert apple.get_attribute("aria-pressed") == "true"
    apple.click()
    assert "hidden" not in page.locator("#row-counts").inner_text()
    apple.click(modifiers=["Control"])
    assert "300 hidden" in page.locator("#row-counts").inner_text()
    page.keyboard.press("Escape")
    assert "hidden" not in page.locator("#row-counts").inner_text()


def test_search_finds_and_zooms(page):
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    until(lambda: page.locator("#match-count").inner_text() == "1 found")
    page.keyboard.press("Enter")
    zooms = re.compile(r"zoom=([\d.]+)")
    until(lambda: max(map(float, zooms.findall(page.evaluate("location.hash"))), default=0) > 10)
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    page.locator("#search").fill("apple")
    until(lambda: page.locator("#match-count").inner_text() == "300 found")


def test_density_dark_size_and_the_picture(page):
    points = picture(page)
    page.get_by_role("radio", name="density").check()
    assert np.abs(picture(page) - points).mean() > 0.003
    page.get_by_role("radio", name="points").check()
    page.locator("#toggle-dark").click()
    assert picture(page).mean() < 0.3
    page.locator("#size").fill("14")
    content = saved(page, "#save-image")
    drawn = matplotlib.image.imread(io.BytesIO(content))
    assert drawn.shape[0] == 760
    assert drawn.shape[1] > 900, "the map up to the panel, and a legend"
    assert drawn[:, :, :3].mean() < 0.3
    assert (drawn[:, :, :3].max(axis=2) > 0.4).mean() > 0.02


def colored(seen, page, center):
    """Return the share of saturated pixels around a position on the map."""
    x, y = map(int, screen_position(page, *center))
    near = seen[y - 30 : y + 30, x - 30 : x + 30]
    return float((near.max(axis=2) - near.min(axis=2) > 0.2).mean())


def test_density_heeds_search_selection_and_legend(page):
    page.locator("#labels").uncheck()
    page.get_by_role("radio", name="density").check()
    assert min(colored(picture(page), page, center) for center in CENTERS) > 0.05
    page.locator("#search").fill("apple")
    until(lambda: page.locator("#match-count").inner_text() == "300 found")
    seen = picture(page)
    assert colored(seen, page, CENTERS[0]) > 0.05
    assert colored(seen, page, CENTERS[1]) < 0.01, "what was not found is put back"
    x, y = map(int, screen_position(page, *CENTERS[1]))
    assert (seen[y - 30 : y + 30, x - 30 : x + 30].max(axis=2) < 0.97).mean() > 0.05, "but not gone"
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    drag_around(page, CENTERS[1], 60)
    seen = picture(page)
    assert colored(seen, page, CENTERS[1]) > 0.05
    assert colored(seen, page, CENTERS[0]) < 0.01


def test_help_and_focus(page):
    page.locator("#map").focus()
    page.locator("#search").fill("pear")
    page.locator("#map").focus()
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="hidden")
    assert page.locator("#search").input_value() == "pear", "Escape left the keys, and nothing else"
    for name in ("Move", "Select a box", "Select with a lasso", "Whole map", "Light or dark", "Panel"):
        assert page.get_by_label(name, exact=True).count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter((one) => !(one.ariaLabel || one.title"
        " || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML)"
    )
    assert unnamed == []


def test_words_stay_words(page):
    assert page.locator("img").count() == 0
    assert page.locator("b").count() == 0
    page.mouse.move(*screen_position(page, *CENTERS[2]))
    page.wait_for_selector("#tooltip:not([hidden])")
    assert HOSTILE in page.locator("#tooltip").inner_text()
    page.locator("#search").fill("alert(2)")
    until(lambda: page.locator("#match-count").inner_text() == "1 found")


def test_on_a_phone(browser, server):
    watched = Watched(browser, 390, 800, has_touch=True, is_mobile=True)
    page = watched.open(server.address)
    assert page.locator("#panel").is_hidden()
    page.locator("#toggle-panel").tap()
    assert page.locator("#color").is_visible()
    page.locator("#toggle-panel").tap()
    page.touchscreen.tap(*screen_position(page, 590, 390))
    page.wait_for_selector("#tooltip[data-row='7']")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    watched.close()
    assert watched.errors == []


def test_the_manifest_is_plain(server):
    assert json.loads(json.dumps(server.page.manifest()))["n"] == N
