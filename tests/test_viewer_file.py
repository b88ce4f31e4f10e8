"""The page without a server: in a file and in a notebook."""

import numpy as np

from fruit_page import CENTERS, drag_around, rows_within, saved, screen_position, until
from pixelsne.viewer.export import standalone
from pixelsne.viewer.layout import page_of
from pixelsne.viewer.serving import serve as serve_page


def test_the_file_opens_without_server_and_network(watched, shown, tmp_path):
    one = shown[0]
    path = tmp_path / "map.html"
    path.write_text(standalone(page_of(one, "fruit")), encoding="utf-8")
    watched.context.set_offline(True)
    page = watched.open(path.as_uri())
    assert [url for url in watched.requests if not url.startswith("blob:")] == [f"{path.as_uri()}"]
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 60)
    ids = np.array([int(line) for line in saved(page, "#save-row-numbers").split()])
    np.testing.assert_array_equal(ids, rows_within(one, CENTERS[0], 60))
    assert page.locator("#save-parquet").is_hidden()
    page.locator("#search").fill("needle")
    until(lambda: page.locator("#match-count").inner_text() == "1 found")
    for _ in range(3):  # out of the lasso, the selection, the search
        page.keyboard.press("Escape")
    page.mouse.move(*screen_position(page, 590, 390))
    page.wait_for_selector("#tooltip[data-row='7']")


def test_a_page_in_a_notebook(shown, watched):
    one = shown[0]
    view = serve_page(page_of(one, "fruit"), None, None, open_browser=False, port=0)
    text = view._repr_html_()
    view.close()
    assert 'sandbox="allow-scripts allow-downloads"' in text
    watched.page.set_content(f"<body>{text}</body>")
    frame = watched.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=60_000)
    assert frame.locator("#title").inner_text() == "fruit"
