"""Limits for connections that have not shown the key yet.

Anybody on this machine can connect to the server and send nothing, or send a request byte by byte. Such connections are
limited in number and in time, so that they never keep the user's own page out. A connection whose request passed all
checks and had the right cookie is trusted: it is never closed here.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Pages open few connections, and send the cookie at once.
MOST_UNKNOWN = 64
SECONDS_TO_SHOW_KEY = 10.0

Address = tuple[str, int]  # of the other end


class Connections:
    """The connections that are not trusted yet, oldest first. Used by the server's event loop only."""

    def __init__(self) -> None:
        self._unknown: dict[Address, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def add(self, address: Address, transport: asyncio.Transport) -> None:
        """Start the time of a new connection; close the oldest where there are too many."""
        self.remove(address)  # of one that was closed before
        timer = asyncio.get_running_loop().call_later(SECONDS_TO_SHOW_KEY, self._close, address)
        self._unknown[address] = transport, timer
        while len(self._unknown) > MOST_UNKNOWN:
            self._close(next(iter(self._unknown)))

    def remove(self, address: Address | None) -> None:
        """Forget a connection: it is closed, or trusted from now on."""
        if address in self._unknown:
            self._unknown.pop(address)[1].cancel()

    def _close(self, address: Address) -> None:
        transport, _ = self._unknown[address]
        self.remove(address)
        transport.abort()


def limited_protocol(connections: Connections) -> type[H11Protocol]:
    """Return a protocol for uvicorn that reports its connections."""

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if self.client is not None:
                connections.add(self.client, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            connections.remove(self.client)

    return LimitedProtocol
