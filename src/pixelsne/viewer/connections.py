"""Limits for connections that have not authenticated yet.

Anybody on this machine can connect to the server and send nothing, or send a request byte by byte. Such connections are
limited in number and in time, so that they never lock the user's own page out. A connection whose request passed all
checks and had the right cookie is trusted: it is never closed here.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Pages open few connections and send the cookie with the first request.
MAX_UNTRUSTED = 64
SECONDS_TO_AUTHENTICATE = 10.0

Address = tuple[str, int]  # host and port of the client


class UntrustedConnections:
    """The connections that are not trusted yet, oldest first. Used by the server's event loop only."""

    def __init__(self) -> None:
        self._untrusted: dict[Address, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def add(self, address: Address, transport: asyncio.Transport) -> None:
        """Start the timer of a new connection; close the oldest connection if there are too many."""
        self.remove(address)  # an earlier connection from the same port
        timer = asyncio.get_running_loop().call_later(SECONDS_TO_AUTHENTICATE, self._close, address)
        self._untrusted[address] = transport, timer
        while len(self._untrusted) > MAX_UNTRUSTED:
            self._close(next(iter(self._untrusted)))

    def remove(self, address: Address | None) -> None:
        """Forget a connection: it is closed, or trusted from now on."""
        if address in self._untrusted:
            self._untrusted.pop(address)[1].cancel()

    def _close(self, address: Address) -> None:
        transport, _ = self._untrusted[address]
        self.remove(address)
        transport.abort()


def limited_protocol(connections: UntrustedConnections) -> type[H11Protocol]:
    """Return an HTTP protocol for uvicorn that registers its connections."""

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if self.client is not None:
                connections.add(self.client, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            connections.remove(self.client)

    return LimitedProtocol
