"""The state in the URL, and the contents of a saved image."""

import io

import matplotlib.image
import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import CENTERS, camera_of, saved, screen_position, serve, settle
from pixelsne.files.maps import Map

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)


def reopened(page, watched):
    """Open the URL of a page in a new tab, and return it."""
    settle(page)
    page.wait_for_timeout(400)
    again = watched.context.new_page()
    again.goto(page.url)
    again.wait_for_selector("html[data-ready]")
    return again


def pressed(page):
    return [one.get_attribute("aria-pressed") for one in page.locator("#legend button").all()]


@pytest.mark.parametrize("modifiers", [[], ["Control"]])
def test_the_filter_of_the_legend_is_kept(page, watched, modifiers):
    page.locator("#legend button", has_text="apple").click(modifiers=modifiers)
    again = reopened(page, watched)
    assert pressed(again) == pressed(page)
    assert again.locator("#row-counts").inner_text() == page.locator("#row-counts").inner_text()
    assert "hidden" in again.locator("#row-counts").inner_text()


def test_the_range_of_numbers_is_kept(page, watched):
    page.locator("#color").select_option("score")
    page.get_by_label("show numbers from").fill("80")
    page.get_by_label("show numbers from").press("Enter")
    again = reopened(page, watched)
    assert "800 hidden" in again.locator("#row-counts").inner_text()
    assert again.get_by_label("show numbers from").input_value() == "80"
    assert again.get_by_label("show numbers up to").input_value() == ""


def test_labels_size_and_opacity_are_kept(page, watched):
    assert "size" not in page.url
    page.locator("#labels").uncheck()
    page.locator("#size").fill("14")
    page.locator("#opacity").fill("0.3")
    page.get_by_role("radio", name="density").check()
    again = reopened(page, watched)
    assert not again.locator("#labels").is_checked()
    assert again.locator("#size").input_value() == "14"
    assert again.locator("#opacity").input_value() == "0.3"
    assert again.get_by_role("radio", name="density").is_checked()


def test_the_number_of_colors_is_kept(page, watched):
    page.locator("#color-count").fill("2")
    page.locator("#color-count").press("Enter")
    assert page.locator("#legend button").count() == 2
    again = reopened(page, watched)
    assert again.locator("#color-count").input_value() == "2"
    assert again.locator("#legend button").count() == 2


def test_no_color_is_kept(page, watched):
    page.locator("#color").select_option("")
    again = reopened(page, watched)
    assert again.locator("#color").input_value() == ""
    assert again.locator("#legend button").count() == 0


def test_a_link_that_names_what_is_not_there(watched, server):
    page = watched.open(f"{server.address}&only=banana&hide=plum&from=x&size=huge&color=nothing&colors=-4")
    assert "hidden" not in page.locator("#row-counts").inner_text()


def picture_of(page):
    return matplotlib.image.imread(io.BytesIO(saved(page, "#save-image")))[:, :, :3]


def test_the_picture_has_no_ring(page):
    page.mouse.move(5, 500)
    settle(page)
    plain = picture_of(page)
    page.locator("#map").focus()
    page.keyboard.press("Shift+ArrowRight")
    settle(page)
    assert page.locator("#tooltip").is_visible()
    np.testing.assert_array_equal(picture_of(page), plain)
    assert page.locator("#tooltip").is_visible(), "on the page it stays"


def beside_of(page):
    """Return the part of the saved image that is right of the map."""
    return picture_of(page)[:, edge_of(page) :]


def edge_of(page):
    """Return the right edge of the map, which is the left edge of the panel."""
    return int(page.locator("#panel").bounding_box()["x"]) - 12


def colors_in(part):
    return set(map(tuple, np.unique(np.rint(255 * part.reshape(-1, 3)).astype(int), axis=0).tolist()))


PALETTE = {"img": (55, 100, 222), "apple": (188, 100, 11), "pear": (55, 155, 111)}


def test_the_legend_is_in_the_picture(page):
    extra_bytes = beside_of(page)
    assert colors_in(extra_bytes) >= set(PALETTE.values())
    page.locator("#legend button", has_text="apple").click()
    alone = colors_in(beside_of(page))
    assert PALETTE["apple"] in alone
    assert PALETTE["pear"] not in alone, "what is hidden needs no name"


def test_the_scale_is_in_the_picture(page):
    page.locator("#color").select_option("score")
    extra_bytes = beside_of(page)
    assert len(colors_in(extra_bytes)) > 150
    assert (158, 158, 158) in colors_in(extra_bytes), "one row has no value"
    page.get_by_role("radio", name="density").check()
    settle(page)
    assert len(colors_in(beside_of(page))) > 100
    page.get_by_role("radio", name="points").check()
    page.locator("#color").select_option("")
    assert picture_of(page).shape[1] == edge_of(page), "colors that mean nothing need no legend"


def test_many_names_find_room_in_the_picture(browser):
    rng = np.random.default_rng(0)
    names = [f"a name of a category that is rather long {index}" for index in range(30)]
    table = pa.table({"kind": [names[index % 30] for index in range(900)]})
    server = serve(Map(rng.uniform(0, 100, (900, 2)).astype(np.float32), (100, 100), table, {"label": "kind"}))
    watched = Watched(browser, 700, 420)
    page = watched.open(f"{server.address}&colors=30")
    settle(page)
    extra_bytes = beside_of(page)
    assert np.flatnonzero((extra_bytes.min(axis=2) < 0.9).any(axis=1)).max() < 415, "the last line is in it"
    assert extra_bytes.shape[1] < 400
    watched.close()
    server.close()


def test_a_link_shows_the_same_place_with_the_panel_folded(page, watched):
    page.mouse.move(*screen_position(page, *CENTERS[1]))
    page.mouse.wheel(0, -600)
    camera = camera_of(page)
    again = reopened(page, watched)
    assert camera_of(again) == pytest.approx(camera, rel=1e-3)
