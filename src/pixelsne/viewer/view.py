"""The handle that `show` and `watch` return."""

import html
from typing import TYPE_CHECKING, Any, Self

from pixelsne.viewer.export import standalone
from pixelsne.viewer.layout import Page

if TYPE_CHECKING:
    from pixelsne.viewer.server import Server

FRAME_HEIGHT = 560  # CSS pixels of the page in a notebook cell


class View:
    """A page that is being served; `close` stops the server."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    @property
    def address(self) -> str:
        """URL of the page for browsers on this machine. It contains the access token: do not share it."""
        return self._server.address

    @property
    def selection(self) -> Any:
        """(m) integers: the rows that are currently selected on the page at `address`.

        A page in a notebook cell cannot report its selection: open the address in a tab.
        """
        return self._server.selection

    def close(self) -> None:
        """Stop the server. Pages that are open keep what they show."""
        self._server.close()

    def wait(self) -> None:
        """Wait for the end of the run on the page. Raise RuntimeError if the run failed."""
        if self._server.live is None:
            return
        self._server.live.join()
        error = self._server.live.status()["error"]
        if error is not None:
            raise RuntimeError(f"the run failed: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """Return the page in a sandboxed frame, for a notebook cell; for a live page, a link to it."""
        if self._server.live is not None:
            return link_html(self.address, "The live page")
        return frame_html(self._server.page, self.address)


def link_html(address: str, text: str) -> str:
    return f'<a href="{html.escape(address)}" target="_blank" rel="noopener noreferrer">{text}</a>'


def frame_html(page: Page, address: str) -> str:
    """Return a frame that contains the whole page; its sandbox allows no requests."""
    content = html.escape(standalone(page))
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{content}" '
        f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        f"<p>A selection in this cell does not reach Python. {link_html(address, 'Open the map in a tab')}: "
        "the selection there is in <code>view.selection</code>.</p>"
    )
