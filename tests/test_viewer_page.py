"""The page, in a real browser: both ways of drawing, a server and a file, a run from start to end."""

import io
import json
import re
import socket
import threading
import time
from urllib.parse import urlsplit

import matplotlib.image
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from browser import Watched, launched
from pixelsne import PixelSNE, viewer
from pixelsne.files.write_embedding import Map
from pixelsne.viewer import written
from pixelsne.viewer.export import standalone
from pixelsne.viewer.layout import page_of
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.server import Server

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


@pytest.fixture(scope="module")
def shown():
    return make_map()


@pytest.fixture(scope="module", params=["canvas", "webgl"])
def browser(request):
    with launched(request.param) as browser:
        yield browser


@pytest.fixture(scope="module")
def server(shown):
    one = shown[0]
    server = Server(page_of(one, "fruit.parquet"), None, lambda rows, kind: written(one, rows, kind))
    server.start()
    yield server
    server.close()


@pytest.fixture
def watched(browser):
    watched = Watched(browser)
    yield watched
    watched.close()
    assert watched.errors == []
    assert watched.dialogs == [], "a label ran as code"
    hosts = {urlsplit(url).hostname for url in watched.requests if not url.startswith(("data:", "blob:", "file:"))}
    assert hosts <= {"127.0.0.1"}, "a request left the machine"


@pytest.fixture
def page(watched, server, browser):
    page = watched.open(server.address)
    assert page.evaluate("document.documentElement.dataset.ready") == browser.drawing
    return page


def place_of(page, x, y):
    """Where a place of the map is on the screen, while the whole map is shown."""
    box = page.locator("#map").bounding_box()
    scale = min((box["width"] - 48) / RESOLUTION[0], (box["height"] - 48 - 40) / RESOLUTION[1])
    return (
        box["width"] / 2 + (x - RESOLUTION[0] / 2) * scale,
        box["height"] / 2 + (y - RESOLUTION[1] / 2) * scale + 20,
    )


def until(holds, seconds=60):
    """Asked from outside: the page's own policy lets nobody evaluate words in it."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            pytest.fail("it did not happen")
        time.sleep(0.05)


def places(page):
    """How often points have moved."""
    return int(page.evaluate("document.documentElement.dataset.places ?? 0"))


def settle(page):
    """Until nothing has been drawn for a moment."""
    before = -1
    for _ in range(200):
        now = int(page.evaluate("document.documentElement.dataset.frames"))
        if now == before:
            return
        before = now
        page.wait_for_timeout(250)
    pytest.fail("the page does not come to rest")


def picture(page):
    settle(page)
    return matplotlib.image.imread(io.BytesIO(page.screenshot()))[:, :, :3]


def differing(one, other):
    """The share of pixels that are not alike, away from what lies over the map."""
    return float((np.abs(one - other)[100:600, 60:700].max(axis=2) > 0.1).mean())


def test_the_map_is_there(page):
    assert page.title() == "fruit.parquet · pixelsne"
    assert page.locator("#counts").inner_text() == "900 rows"
    assert "token" not in page.url
    page.locator("#fold").click()
    seen = picture(page)
    for center in CENTERS:
        x, y = map(int, place_of(page, *center))
        near = seen[y - 40 : y + 40, x - 40 : x + 40]
        assert (near.min(axis=2) < 0.8).mean() > 0.1, "a cluster is drawn where it is"
    empty = seen[int(place_of(page, 300, 200)[1]), int(place_of(page, 120, 380)[0])]
    assert empty.min() > 0.95


def test_hovering_tells_the_row(page):
    page.mouse.move(*place_of(page, 590, 390))
    page.wait_for_selector("#hover[data-row='7']")
    until(lambda: "note 7 of pear" in page.locator("#hover").inner_text())
    assert "0.7" in page.locator("#hover").inner_text()
    page.mouse.move(*place_of(page, 20, 380))
    page.wait_for_selector("#hover", state="hidden")


def test_panning_and_zooming(page):
    before = picture(page)
    x, y = place_of(page, *CENTERS[0])
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
    page.mouse.move(*place_of(page, *CENTERS[1]))
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
    assert page.locator("#legend canvas.scale").is_visible()
    assert "1 without a value" in page.locator("#legend").inner_text()
    page.get_by_label("show numbers from").fill("80")
    page.get_by_label("show numbers from").press("Enter")
    assert "800 hidden" in page.locator("#counts").inner_text()
    page.locator("#color").select_option("")
    settle(page)
    assert page.locator("#legend").inner_text() == ""


def test_the_legend_counts_isolates_and_hides(page):
    entries = page.locator("#legend button")
    assert entries.count() == 3
    assert sorted(entries.nth(place).locator(".name").inner_text() for place in range(3)) == sorted(KINDS)
    assert [entries.nth(place).locator(".count").inner_text() for place in range(3)] == ["300"] * 3
    apple = page.locator("#legend button", has_text="apple")
    apple.click()
    assert "600 hidden" in page.locator("#counts").inner_text()
    assert apple.get_attribute("aria-pressed") == "true"
    apple.click()
    assert "hidden" not in page.locator("#counts").inner_text()
    apple.click(modifiers=["Control"])
    assert "300 hidden" in page.locator("#counts").inner_text()
    page.keyboard.press("Escape")
    assert "hidden" not in page.locator("#counts").inner_text()


def test_search_finds_and_zooms(page):
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    until(lambda: page.locator("#found").inner_text() == "1 found")
    page.keyboard.press("Enter")
    settle(page)
    assert float(re.search(r"zoom=([\d.]+)", page.url)[1]) > 10
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    page.locator("#search").fill("apple")
    until(lambda: page.locator("#found").inner_text() == "300 found")


def drag_around(page, center, reach, modifiers=()):
    x, y = center
    page.mouse.move(*place_of(page, x - reach, y - reach))
    for key in modifiers:
        page.keyboard.down(key)
    page.mouse.down()
    for dx, dy in ((reach, -reach), (reach, reach), (-reach, reach), (-reach, -reach)):
        page.mouse.move(*place_of(page, x + dx, y + dy), steps=4)
    page.mouse.up()
    for key in modifiers:
        page.keyboard.up(key)


def rows_within(one, center, reach):
    return np.flatnonzero((np.abs(one.placed - center) < reach).all(axis=1))


def saved(page, button):
    with page.expect_download() as started:
        page.locator(button).click()
    return started.value.path().read_bytes()


def test_a_lasso_selects_exactly_these_rows(page, server, shown):
    one = shown[0]
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    expected = rows_within(one, CENTERS[0], 60)
    assert len(expected) == 300
    assert page.locator("#selected").inner_text() == "300 rows selected"
    ids = np.array([int(line) for line in saved(page, "#save-ids").split()])
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
    assert page.locator("#selected").inner_text() == f"{both} rows selected"
    drag_around(page, CENTERS[0], 60, ["Alt"])
    assert page.locator("#selected").inner_text() == f"{both - len(expected)} rows selected"
    assert "pear" in page.locator("#table").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")


def test_a_box_selects_too(page, shown):
    x, y = CENTERS[2]
    page.mouse.move(*place_of(page, x - 50, y - 50))
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(*place_of(page, x + 50, y + 50), steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    count = len(rows_within(shown[0], CENTERS[2], 50))
    assert page.locator("#selected").inner_text() == f"{count} rows selected"


def test_density_dark_size_and_the_picture(page):
    points = picture(page)
    page.get_by_role("radio", name="density").check()
    assert np.abs(picture(page) - points).mean() > 0.003
    page.get_by_role("radio", name="points").check()
    page.locator("#dark").click()
    assert picture(page).mean() < 0.3
    page.locator("#size").fill("14")
    content = saved(page, "#picture")
    drawn = matplotlib.image.imread(io.BytesIO(content))
    assert drawn.shape[:2] == (760, 1100)
    assert drawn[:, :, :3].mean() < 0.3
    assert (drawn[:, :, :3].max(axis=2) > 0.4).mean() > 0.02


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
    page.mouse.move(*place_of(page, *CENTERS[2]))
    page.wait_for_selector("#hover:not([hidden])")
    assert HOSTILE in page.locator("#hover").inner_text()
    page.locator("#search").fill("alert(2)")
    until(lambda: page.locator("#found").inner_text() == "1 found")


def test_on_a_phone(browser, server):
    watched = Watched(browser, 390, 800, has_touch=True, is_mobile=True)
    page = watched.open(server.address)
    assert page.locator("#panel").is_hidden()
    page.locator("#fold").tap()
    assert page.locator("#color").is_visible()
    page.locator("#fold").tap()
    page.touchscreen.tap(*place_of(page, 590, 390))
    page.wait_for_selector("#hover[data-row='7']")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    watched.close()
    assert watched.errors == []


def test_the_file_opens_without_server_and_network(watched, shown, tmp_path):
    one = shown[0]
    path = tmp_path / "map.html"
    path.write_text(standalone(page_of(one, "fruit")), encoding="utf-8")
    watched.context.set_offline(True)
    page = watched.open(path.as_uri())
    assert [url for url in watched.requests if not url.startswith("blob:")] == [f"{path.as_uri()}"]
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    ids = np.array([int(line) for line in saved(page, "#save-ids").split()])
    np.testing.assert_array_equal(ids, rows_within(one, CENTERS[0], 60))
    assert page.locator("#save-parquet").is_hidden()
    page.locator("#search").fill("needle")
    until(lambda: page.locator("#found").inner_text() == "1 found")
    for _ in range(3):  # out of the lasso, the selection, the search
        page.keyboard.press("Escape")
    page.mouse.move(*place_of(page, 590, 390))
    page.wait_for_selector("#hover[data-row='7']")


# Runs


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 4000)
    return rng.normal(0, 4, (5, 20))[labels] + rng.normal(size=(4000, 20)), labels


def test_a_run_from_start_to_end(watched, points):
    values, labels = points
    model = PixelSNE(max_iter=5000, tol=0, random_state=0)
    view = viewer.watch(model, values, columns={"label": labels.astype(str)}, open_browser=False)
    page = watched.open(view.address)
    until(lambda: places(page) > 2)
    page.locator("#pause").click()
    page.wait_for_selector("html[data-run=paused]")
    settle(page)
    iteration = page.locator("#status").inner_text()
    assert "paused" in iteration
    page.wait_for_timeout(700)
    assert page.locator("#status").inner_text() == iteration
    page.locator("#pause").click()
    page.wait_for_selector("html[data-run=finished]", timeout=120_000)
    assert "finished · iteration 5,000 · KL" in page.locator("#status").inner_text()
    view.wait()
    expected = PixelSNE(max_iter=5000, tol=0, random_state=0).fit_transform(values)
    np.testing.assert_array_equal(model.embedding_, expected)
    settle(page)
    assert page.locator("#pause").is_hidden()
    watched.page.close()
    view.close()


def test_a_run_is_stopped_and_kept(watched, points):
    model = PixelSNE(max_iter=100_000, tol=0, random_state=0)
    view = viewer.watch(model, points[0], open_browser=False)
    page = watched.open(view.address)
    until(lambda: places(page) > 2)
    page.locator("#stop").click()
    page.wait_for_selector("html[data-run=stopped]", timeout=60_000)
    assert "stopped, the map is kept" in page.locator("#status").inner_text()
    view.wait()
    assert model.stopped_by_ == "callback"
    assert 0 < model.n_iter_ < 100_000
    watched.page.close()
    view.close()


def test_a_run_that_fails_says_why(watched):
    values = np.zeros((100, 3))
    values[5, 1] = np.nan
    view = viewer.watch(PixelSNE(), values, open_browser=False)
    page = watched.open(view.address)
    page.wait_for_selector("html[data-run=failed]", timeout=60_000)
    assert "NaN" in page.locator("#status").inner_text()
    watched.page.close()
    view.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_that_comes_back(browser, points):
    """Killed and started again: the page says so, keeps the picture, and goes on."""
    watched = Watched(browser)
    port, keys = free_port(), Secrets()
    settings = {"max_iter": 100_000, "tol": 0, "random_state": 0}

    def serve():
        return viewer.watch(PixelSNE(**settings), points[0], open_browser=False, port=port, keys=keys)

    view = serve()
    page = watched.open(view.address)
    until(lambda: places(page) > 2)
    view.close()
    page.wait_for_selector("html[data-connection=lost]", timeout=30_000)
    assert "connection to pixelsne is lost" in page.locator("#message").inner_text()
    frozen = places(page)
    assert (picture(page).min(axis=2) < 0.8).mean() > 0.001, "the picture stays"
    view = serve()
    page.wait_for_selector("html[data-connection=open]", timeout=30_000)
    assert page.locator("#message").is_hidden()
    until(lambda: places(page) > frozen + 2)
    view.close()
    watched.close()


def test_a_stalled_page_costs_nothing(points):
    """Somebody connects and never reads: frames are dropped, the run goes on."""
    model = PixelSNE(max_iter=600, tol=0, random_state=0)
    view = viewer.watch(model, points[0], open_browser=False)
    server = view._server
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lines = [
            "GET /live HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Origin: http://127.0.0.1:{server.port}",
            f"Cookie: pixelsne-{server.port}={server._keys.cookie}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        finished = threading.Thread(target=view.wait)
        finished.start()
        finished.join(timeout=120)
        assert not finished.is_alive()
    assert model.n_iter_ == 600
    view.close()


def test_leaving_ends_the_run(points):
    view = viewer.watch(PixelSNE(max_iter=100_000, tol=0), points[0], open_browser=False)
    time.sleep(0.5)
    view.close()
    view.wait()
    assert not any(thread.name == "pixelsne-live" and thread.is_alive() for thread in threading.enumerate())


def test_a_page_in_a_notebook(shown, watched):
    one = shown[0]
    view = viewer.serve(page_of(one, "fruit"), None, None, open_browser=False, port=0)
    text = view._repr_html_()
    view.close()
    assert 'sandbox="allow-scripts allow-downloads"' in text
    watched.page.set_content(f"<body>{text}</body>")
    frame = watched.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=60_000)
    assert frame.locator("#title").inner_text() == "fruit"


def test_the_manifest_is_plain(server):
    assert json.loads(json.dumps(server.page.manifest()))["n"] == N
