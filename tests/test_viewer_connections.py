"""Connections that are held open, or used very slowly, do not lock the user's page out."""

import http.client
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest

from pixelsne.viewer import connections
from pixelsne.viewer.layout import Page, encode_positions
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import cookie_name
from pixelsne.viewer.server import Server

HELD = 200

UPGRADE = [
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
]

# What a hostile connection says, and then nothing more.
BEGINNINGS = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A",
    "half a body": b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\n"
    b"Content-Length: 40\r\n\r\nabc",
    "a request without a key": b"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "a websocket without a key": "\r\n".join(["GET /live HTTP/1.1", "Host: 127.0.0.1:PORT", *UPGRADE, "", ""]).encode(),
}


@pytest.fixture(scope="module")
def server():
    positions = np.random.default_rng(0).uniform(0, 100, (50, 2)).astype(np.float32)
    live = LiveRun((_ for _ in ()), 10, lambda: "max_iter")
    server = Server(Page("map", (100, 100), 50, (), encode_positions(positions, (100, 100))), live)
    server.start()
    live.start()
    yield server
    server.close()


def honest_headers(server):
    at = f"127.0.0.1:{server.port}"
    return {"Host": at, "Origin": f"http://{at}", "Cookie": f"{cookie_name(server.port)}={server._secrets.cookie}"}


def fetch(server, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("GET", path, headers=honest_headers(server))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def connect(server, said=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(said.replace(b"PORT", str(server.port).encode()))
    return connection


@contextmanager
def held_open(server, said, count=HELD):
    with ExitStack() as stack:
        yield [stack.enter_context(connect(server, said)) for _ in range(count)]


def open_websocket(server):
    lines = ["GET /live HTTP/1.1", *(f"{name}: {value}" for name, value in honest_headers(server).items()), *UPGRADE]
    connection = connect(server, ("\r\n".join(lines) + "\r\n\r\n").encode())
    assert connection.recv(12) == b"HTTP/1.1 101"
    return connection


def is_closed(connection):
    """Wait until the server has closed the connection. Return whether it has."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.slow
@pytest.mark.parametrize("said", BEGINNINGS)
def test_the_page_is_served_beside_connections_that_are_held_open(server, said):
    with held_open(server, BEGINNINGS[said]):
        for path in ("/", "/data/positions", "/static/main.js"):
            assert fetch(server, path)[0] == 200


def test_the_page_is_served_while_others_drip(server):
    done = threading.Event()

    def drip(held):
        while not done.wait(0.01):
            for connection in held:
                with suppress(OSError):
                    connection.send(b"X")

    with held_open(server, BEGINNINGS["half a header"]) as held:
        dripping = threading.Thread(target=drip, args=[held])
        dripping.start()
        try:
            assert [fetch(server)[0] for _ in range(10)] == [200] * 10
        finally:
            done.set()
            dripping.join()


def test_the_oldest_is_closed_where_there_are_too_many(server):
    with held_open(server, b"") as held:
        assert all(is_closed(connection) for connection in held[: HELD - connections.MAX_UNTRUSTED - 1])
        held[-1].setblocking(False)
        with pytest.raises(BlockingIOError):  # nothing to read, and not closed
            held[-1].recv(1)


@pytest.mark.parametrize("said", BEGINNINGS)
def test_who_shows_no_key_in_time_is_closed(server, said, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_TO_AUTHENTICATE", 0.05)
    with connect(server, BEGINNINGS[said]) as connection:
        assert is_closed(connection)


def test_the_websocket_of_a_page_stays(server, monkeypatch):
    """A trusted connection stays open, although it is older than those that are closed."""
    with open_websocket(server) as websocket:
        monkeypatch.setattr(connections, "SECONDS_TO_AUTHENTICATE", 0.05)
        with held_open(server, b"") as held:
            assert all(is_closed(connection) for connection in held)
        websocket.sendall(bytes([0x89, 0x80, 0, 0, 0, 0]))  # a ping
        received = b""
        while b"\x8a\x00" not in received:  # its pong
            received += (part := websocket.recv(10_000))
            assert part


def test_two_cookies_at_the_open_door_are_refused(server):
    twice = b"GET /enter HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n"
    with connect(server, twice) as connection:
        assert connection.recv(12) == b"HTTP/1.1 400"
