"""A real Chromium for the tests of the page. Without one they are skipped, except in CI, where they fail."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DRAWING = {
    "canvas": ("--disable-gpu", "--disable-3d-apis"),
    "webgl": ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
}


def program():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get("PIXELSNE_CI"):
            pytest.fail("CI has no Chromium")
        pytest.skip("no Chromium on this machine; Debian's package is called chromium")
    return found


@contextmanager
def launched(drawing):
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow to import

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=[*QUIET, *DRAWING[drawing]])
        browser.drawing = drawing
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page, and the errors, requests and dialogs that it caused."""

    def __init__(self, browser, width=1100, height=760, **options):
        self.drawing = browser.drawing
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **options
        )
        self.page = self.context.new_page()
        self.errors = []
        self.requests = []
        self.dialogs = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def _note(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, address):
        """Open an address with the renderer under test: the page takes WebGL in software only if asked to."""
        joint = "&" if "#" in address else "#"
        self.page.goto(f"{address}{joint}renderer={self.drawing}")
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)
        return self.page

    def close(self):
        self.context.close()
