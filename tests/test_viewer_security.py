"""Access control: the server answers only its own pages and clients that have the key."""

import http.client
import json
import os
import socket
import stat

import numpy as np
import pytest

from pixelsne.viewer.column_types import column_of
from pixelsne.viewer.layout import Page, encode_positions
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import SECURITY_HEADERS, PublicAddress, Secrets, cookie_name
from pixelsne.viewer.server import MAX_CLIENTS, Server

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture(scope="module")
def server():
    positions = np.random.default_rng(0).uniform(0, 100, (50, 2)).astype(np.float32)
    column = column_of("kind", np.array(["a", "b"] * 25))
    page = Page("map", (100, 100), 50, (column,), encode_positions(positions, (100, 100)))
    live = LiveRun((_ for _ in ()), 10, lambda: "max_iter")
    server = Server(page, live, lambda rows, kind: f"{len(rows)} {kind}".encode())
    server.start()
    live.start()
    yield server
    server.close()


def key_of(server):
    return f"{server._access_control._cookie_name}={server._secrets.cookie}"


def ask(server, path="/data/manifest", method="GET", body=None, **headers):
    """Send the headers of a legitimate page, with changes; None omits a header."""
    honest = {"Host": f"127.0.0.1:{server.port}", "Cookie": key_of(server)}
    if method == "POST":
        honest["Origin"] = f"http://127.0.0.1:{server.port}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    given = honest | {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                connection.putheader(name, one)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def open_socket(server, path="/live", **headers):
    """Return the HTTP status of a websocket's handshake."""
    honest = {
        "Host": f"127.0.0.1:{server.port}",
        "Origin": f"http://127.0.0.1:{server.port}",
        "Cookie": key_of(server),
        **UPGRADE,
    }
    given = honest | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"GET {path} HTTP/1.1"]
    for name, value in given.items():
        lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value]) if one is not None]
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        return int(connection.recv(1000).split()[1])


def test_an_honest_page_is_answered(server):
    answer, content = ask(server)
    assert answer.status == 200
    assert json.loads(content)["n"] == 50
    assert open_socket(server) == 101
    assert ask(server, Host=f"localhost:{server.port}")[0].status == 200
    assert ask(server, Sec_Fetch_Site="same-origin")[0].status == 200


HOSTILE = {
    "another name for this machine": {"Host": "evil.example"},
    "another name, rebound to here": {"Host": "evil.example:PORT", "Origin": "http://evil.example:PORT"},
    "the address without a port": {"Host": "127.0.0.1"},
    "another port": {"Host": "127.0.0.1:1"},
    "a name that begins like ours": {"Host": "127.0.0.1.evil.example:PORT"},
    "no host": {"Host": None},
    "two hosts": {"Host": ["127.0.0.1:PORT", "evil.example"]},
    "a user in front": {"Host": "evil@127.0.0.1:PORT"},
    "another page": {"Origin": "http://evil.example"},
    "another page on this machine": {"Origin": "http://127.0.0.1:1"},
    "a page of no origin": {"Origin": "null"},
    "our name, encrypted": {"Origin": "https://127.0.0.1:PORT"},
    "another name for us as origin": {"Origin": "http://localhost:PORT"},
    "an origin that begins like ours": {"Origin": "http://127.0.0.1:PORT.evil.example"},
    "two origins": {"Origin": ["http://127.0.0.1:PORT", "http://evil.example"]},
    "a picture on another page": {"Sec-Fetch-Site": "cross-site"},
    "a page of the same site": {"Sec-Fetch-Site": "same-site"},
    "no key": {"Cookie": None},
    "an empty key": {"Cookie": "pixelsne-PORT="},
    "a wrong key": {"Cookie": "pixelsne-PORT=wrong"},
    "the token in place of the key": {"Cookie": "pixelsne-PORT=TOKEN"},
    "the key of another port": {"Cookie": "pixelsne-1=KEY"},
    "a key that is longer": {"Cookie": "pixelsne-PORT=KEYx"},
    "two lines of keys": {"Cookie": ["pixelsne-PORT=wrong", "pixelsne-PORT=KEY"]},
    "letters outside of ASCII": {"Cookie": "pixelsne-PORT=ü"},
}


def filled(headers, server):
    def fill(value):
        if isinstance(value, list):
            return [fill(one) for one in value]
        if value is None:
            return None
        words = {"PORT": str(server.port), "TOKEN": server._secrets.token, "KEY": server._secrets.cookie}
        for name, word in words.items():
            value = value.replace(name, word)
        return value

    return {name.replace("-", "_"): fill(value) for name, value in headers.items()}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("path", ["/", "/data/manifest", "/data/positions", "/static/main.js", "/selection.csv"])
def test_hostile_requests_are_refused(case, path, server):
    answer, content = ask(server, path, **filled(HOSTILE[case], server))
    assert 400 <= answer.status < 500
    assert b"kind" not in content


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_changes_are_refused(case, server):
    before = server.selection.copy()
    headers = filled(HOSTILE[case], server)
    # What has no host, or two, is not read to its end, and then the answer may be lost on the way.
    body = b"\0\0\0\0" if isinstance(headers.get("Host", ""), str) else b""
    answer, _ = ask(server, "/selection", "POST", body, **headers)
    assert 400 <= answer.status < 500
    np.testing.assert_array_equal(server.selection, before)


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_sockets_are_refused(case, server):
    assert 400 <= open_socket(server, **filled(HOSTILE[case], server)) < 500


def test_what_changes_something_must_say_where_it_comes_from(server):
    assert ask(server, "/selection", "POST", b"", Origin=None)[0].status == 403
    assert open_socket(server, Origin=None) == 403


def test_the_token_is_exchanged_for_a_cookie(server):
    answer, _ = ask(server, "/enter", "POST", server._secrets.token.encode(), Cookie=None)
    assert answer.status == 204
    cookie = answer.getheader("Set-Cookie")
    assert f"{cookie_name(server.port)}={server._secrets.cookie}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Domain" not in cookie


@pytest.mark.parametrize("token", [b"", b"wrong", b"x" * 10_000, b"\xff\xfe"])
def test_a_wrong_token_opens_nothing(token, server):
    answer, _ = ask(server, "/enter", "POST", token, Cookie=None)
    assert answer.status == 403
    assert answer.getheader("Set-Cookie") is None


def test_the_door_shows_nothing(server):
    answer, content = ask(server, "/enter", Cookie=None)
    assert answer.status == 200
    assert b"kind" not in content
    assert server._secrets.token.encode() not in content


def test_a_link_in_a_notebook_leads_to_the_door_and_no_further(server):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document", "Cookie": None}
    assert ask(server, "/enter", **link)[0].status == 200
    for change in ({"Sec_Fetch_Dest": "iframe"}, {"Sec_Fetch_Mode": "no-cors"}, {"Host": "evil.example"}):
        assert ask(server, "/enter", **link | change)[0].status == 403
    for path in ("/", "/data/manifest", "/static/main.js"):
        assert ask(server, path, **link | {"Cookie": key_of(server)})[0].status == 403
    token = server._secrets.token.encode()
    assert ask(server, "/enter", "POST", token, **link, Origin="http://evil.example")[0].status == 403


def test_keys_are_long_and_never_the_same():
    one, other = Secrets(), Secrets()
    assert len(one.token) >= 43, "256 bits"
    assert len({one.token, one.cookie, other.token, other.cookie}) == 4
    assert one.token not in repr(one)
    assert one.cookie not in repr(one)


def test_one_port_one_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, again, other = Secrets.persistent(8000), Secrets.persistent(8000), Secrets.persistent(8001)
    assert one == again
    assert len({one.token, one.cookie, other.token, other.cookie}) == 4
    path = tmp_path / "pixelsne" / "viewer-key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(ValueError, match="bytes that only you can read"):
        Secrets.persistent(8000)
    path.write_bytes(b"short")
    os.chmod(path, 0o600)  # noqa: PTH101
    with pytest.raises(ValueError, match="bytes that only you can read"):
        Secrets.persistent(8000)


@pytest.mark.parametrize(
    ("path", "method"),
    [("/", "GET"), ("/enter", "GET"), ("/data/positions", "GET"), ("/nothing", "GET"), ("/selection", "POST")],
)
def test_every_answer_carries_the_headers(path, method, server):
    answer, _ = ask(server, path, method, b"" if method == "POST" else None)
    for name, value in SECURITY_HEADERS.items():
        assert answer.getheader(name) == value
    refused, _ = ask(server, path, method, b"" if method == "POST" else None, Host="evil.example")
    assert refused.getheader("Content-Security-Policy") == SECURITY_HEADERS["Content-Security-Policy"]
    assert answer.getheader("Server") is None
    assert answer.getheader("Access-Control-Allow-Origin") is None


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/%2e%2e/cli.py", "/static/index.html",
     "/data/nothing", "/data/../../etc/passwd", "/static/", "//etc/passwd"],
)  # fmt: skip
def test_nothing_else_can_be_read(path, server):
    assert 400 <= ask(server, path)[0].status < 500


@pytest.mark.parametrize("path", ["/selection", "/run/stop", "/run/pause"])
def test_get_changes_nothing(path, server):
    assert ask(server, path)[0].status in {404, 405}


@pytest.mark.parametrize("body", [b"\1", b"\xff\xff\xff\xff", b"\0" * 4 * 51, b"\0" * 10_000_000])
def test_rows_that_are_none(body, server):
    answer, _ = ask(server, "/selection", "POST", body)
    assert answer.status == 400


def test_a_selection_reaches_python(server):
    rows = np.array([3, 5, 49], dtype="<u4")
    assert ask(server, "/selection", "POST", rows.tobytes())[0].status == 204
    np.testing.assert_array_equal(server.selection, [3, 5, 49])
    answer, content = ask(server, "/selection.parquet")
    assert content == b"3 parquet"
    assert "attachment" in answer.getheader("Content-Disposition")
    assert ask(server, "/selection.exe")[0].status == 404


def test_only_so_many_pages_at_once(server):
    connections = []
    try:
        for _ in range(MAX_CLIENTS):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
            connections.append(connection)
            lines = [
                f"Host: 127.0.0.1:{server.port}",
                f"Origin: http://127.0.0.1:{server.port}",
                f"Cookie: {key_of(server)}",
            ]
            lines += [f"{name}: {value}" for name, value in UPGRADE.items()]
            connection.sendall(("\r\n".join(["GET /live HTTP/1.1", *lines]) + "\r\n\r\n").encode())
            assert b"101" in connection.recv(1000)
        assert open_socket(server) == 403
    finally:
        for connection in connections:
            connection.close()


def test_nothing_is_said_about_keys(server, capfd):
    ask(server)
    ask(server, "/enter", "POST", server._secrets.token.encode())
    ask(server, Cookie="pixelsne=wrong")
    said = "".join(capfd.readouterr())
    assert server._secrets.token not in said
    assert server._secrets.cookie not in said


def test_only_this_machine_is_listened_to(server):
    assert server._socket.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken(server):
    with pytest.raises(OSError, match="choose another with --port"):
        Server(server.page, port=server.port)


# An address in front of the server

PUBLIC = "maps.example:8443"
ORIGIN = f"https://{PUBLIC}"


@pytest.fixture(scope="module")
def behind(server):
    behind = Server(server.page, server.live, url=ORIGIN)
    behind.start()
    yield behind
    behind.close()


def test_a_page_behind_a_proxy_is_answered(behind):
    assert behind.address.startswith(f"{ORIGIN}/enter#token=")
    for host in (PUBLIC, f"127.0.0.1:{behind.port}"):  # as the browser asked, or as the proxy connects
        assert ask(behind, Host=host)[0].status == 200
        assert ask(behind, Host=host, Sec_Fetch_Site="same-origin")[0].status == 200
        assert ask(behind, "/selection", "POST", b"", Host=host, Origin=ORIGIN)[0].status == 204
        assert open_socket(behind, Host=host, Origin=ORIGIN) == 101
    assert ask(behind)[0].status == 200, "on this machine, too"
    assert open_socket(behind) == 101


def test_the_cookie_of_https_stays_there(behind):
    token = behind._secrets.token.encode()
    cookie = ask(behind, "/enter", "POST", token, Cookie=None, Host=PUBLIC, Origin=ORIGIN)[0].getheader("Set-Cookie")
    for part in (f"{cookie_name(8443)}={behind._secrets.cookie}", "HttpOnly", "SameSite=strict", "Secure"):
        assert part in cookie
    assert "Secure" not in ask(behind, "/enter", "POST", token, Cookie=None)[0].getheader("Set-Cookie")


BEHIND = HOSTILE | {
    "the public name without its port": {"Host": "maps.example"},
    "the public name with our port": {"Host": "maps.example:PORT"},
    "the public page, not encrypted": {"Host": PUBLIC, "Origin": f"http://{PUBLIC}"},
    "another port of the public name": {"Host": PUBLIC, "Origin": "https://maps.example"},
    "a neighbor of the public name": {"Host": PUBLIC, "Origin": "https://evil.example:8443"},
    "our own page under the public name": {"Host": PUBLIC, "Origin": "http://127.0.0.1:PORT"},
    "the public name without a key": {"Host": PUBLIC, "Origin": ORIGIN, "Cookie": None},
    "a page elsewhere, the public name": {"Host": PUBLIC, "Sec-Fetch-Site": "cross-site"},
    "a proxy's word for another name": {"Host": "evil.example", "X-Forwarded-Host": PUBLIC},
    "a proxy's word for another origin": {"Origin": "http://evil.example", "X-Forwarded-Proto": "https"},
}


@pytest.mark.parametrize("case", BEHIND)
def test_nothing_else_becomes_looser(case, behind):
    headers = filled(BEHIND[case], behind)
    assert 400 <= ask(behind, **headers)[0].status < 500
    assert 400 <= ask(behind, "/selection", "POST", b"", **headers)[0].status < 500
    assert 400 <= open_socket(behind, **headers) < 500


@pytest.mark.parametrize("case", BEHIND)
def test_the_public_name_means_nothing_to_other_servers(case, server):
    assert 400 <= ask(server, **filled(BEHIND[case], server))[0].status < 500
    assert ask(server, Host=PUBLIC)[0].status == 403
    assert ask(server, "/selection", "POST", b"", Origin=ORIGIN)[0].status == 403


@pytest.mark.parametrize(
    ("url", "host", "origin", "port"),
    [
        ("https://Maps.Example", "maps.example", "https://maps.example", 443),
        ("https://maps.example:443/", "maps.example", "https://maps.example", 443),
        ("http://localhost:9000", "localhost:9000", "http://localhost:9000", 9000),
        ("http://maps.example:443", "maps.example:443", "http://maps.example:443", 443),
        ("https://[::1]:9000", "[::1]:9000", "https://[::1]:9000", 9000),
    ],
)
def test_an_address_as_browsers_write_it(url, host, origin, port):
    public = PublicAddress.parse(url)
    assert (public.host, public.origin, public.port) == (host, origin, port)


@pytest.mark.parametrize(
    "url",
    ["", "maps.example", "ftp://maps.example", "https://", "https://me@maps.example", "https://maps.example/path",
     "https://maps.example?x", "https://maps.example#x", "https://maps.example:0", "https://maps.example:99999",
     "https://*", "https://maps .example", "https://möps.example", "https://[::1", "javascript:alert(1)"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ValueError, match=r"pass one like https://maps.example"):
        PublicAddress.parse(url)
