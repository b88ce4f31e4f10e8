"""The page through a tunnel on another port, and through a proxy that encrypts, in a real browser."""

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from browser import Watched, launched
from fruit_page import until
from pixelsne.viewer.layout import Page, encode_positions
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.server import Server


@pytest.fixture(scope="module")
def browser():
    """One renderer is enough here."""
    with launched("canvas") as browser:
        yield browser


def copy(one, other):
    """Forward everything that arrives at one end to the other."""
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def join(arrived, port, encryption):
    with suppress(OSError), arrived:
        near = encryption.wrap_socket(arrived, server_side=True) if encryption else arrived
        with near, socket.create_connection(("127.0.0.1", port)) as far:
            back = threading.Thread(target=copy, args=(far, near))
            back.start()
            copy(near, far)
            back.join()


@contextmanager
def tunnel(to_port, encryption=None):
    """Forward a port to another one, as `ssh -L` or a proxy does."""
    threads = []

    def serve(listener):
        with suppress(OSError):
            while True:
                arrived, _ = listener.accept()
                threads.append(threading.Thread(target=join, args=(arrived, to_port(), encryption)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads.append(threading.Thread(target=serve, args=(listener,)))
        threads[0].start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()


@pytest.fixture(scope="session")
def encryption(tmp_path_factory):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl on this machine to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([openssl, *command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.fixture
def page():
    positions = np.random.default_rng(0).uniform(0, 100, (50, 2)).astype(np.float32)
    return Page("map", (100, 100), 50, (), encode_positions(positions, (100, 100)))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_page_and_its_socket_through_a_tunnel(browser, page, scheme, request):
    encrypted = request.getfixturevalue("encryption") if scheme == "https" else None
    servers = []
    with tunnel(lambda: servers[0].port, encrypted) as port:
        live = LiveRun((_ for _ in ()), 10, lambda: "max_iter")
        servers.append(Server(page, live, url=f"{scheme}://localhost:{port}"))
        servers[0].start()
        live.start()
        watched = Watched(browser, ignore_https_errors=True)
        shown = watched.open(servers[0].address)
        assert shown.url.startswith(f"{scheme}://localhost:{port}/")
        until(lambda: shown.evaluate("document.documentElement.dataset.run") == "finished", 20)
        shown.evaluate("fetch('/selection', {method: 'POST', body: new Uint32Array([3, 4])})")
        until(lambda: servers[0].selection.tolist() == [3, 4], 20)
        watched.close()
        servers[0].close()
    assert watched.errors == []


def test_a_tunnel_that_was_not_named_is_refused(browser, page):
    server = Server(page)
    server.start()
    with tunnel(lambda: server.port) as port:
        watched = Watched(browser)
        answer = watched.page.goto(f"http://localhost:{port}/enter")
        assert answer.status == 403
        assert "start it with --url" in watched.page.inner_text("body")
        watched.close()
        server.close()
