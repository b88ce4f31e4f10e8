"""Access control: only browsers that were given the address, and pages that this server served, get an answer.

A page of another site can make a browser send requests to this server. But it cannot make the browser forge where they
come from (Origin, Sec-Fetch-Site) or under which name it reached this server (Host), nor send the cookie
(SameSite=Strict). Every request and every websocket must pass all three checks. The token in the address's fragment,
which browsers do not send, is exchanged for the cookie by POST.
"""

import contextlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOKEN_BYTES = 32
HTTP_PORT = 80  # browsers omit this port
DEFAULT_PORTS = {"http": HTTP_PORT, "https": 443}
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
LOGIN_PATHS = ("/enter", "/static/enter.js", "/static/icon.svg")  # served without the cookie

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Secrets:
    """The token in the address and the cookie; random unless given."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)

    @classmethod
    def persistent(cls, port: int) -> "Secrets":
        """Return the same secrets for every server of this user on a port, so that pages reconnect after a restart."""
        seed = read_or_create_seed()
        token, cookie = (
            hmac.new(seed, f"{word} {port}".encode(), "sha256").hexdigest() for word in ("token", "cookie")
        )
        return cls(token, cookie)


def read_or_create_seed() -> bytes:
    """Return 32 random bytes from a file that only this user can read; create the file if it does not exist."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    path = state / "pixelsne" / "viewer-key"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(TOKEN_BYTES))
    seed = path.read_bytes()
    readable_by_others = os.name == "posix" and path.stat().st_mode & 0o077  # other systems have no such bits
    if len(seed) != TOKEN_BYTES or readable_by_others:
        raise ValueError(f"{path} must hold {TOKEN_BYTES} bytes that only you can read; delete it to get a new key")
    return seed


@dataclass(frozen=True)
class PublicAddress:
    """The address of a tunnel or proxy in front of the server, as browsers write it."""

    scheme: str  # "http" or "https"
    host: str  # as in the header Host: with a port only if it is not the scheme's default
    port: int

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @classmethod
    def parse(cls, url: str) -> "PublicAddress":
        """Parse a URL of scheme, host and port. Raise ValueError if it has other parts."""
        hint = "pass one like https://maps.example or http://localhost:9000"
        try:
            parts = urlsplit(url)
            name, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise ValueError(f"url {url!r} is not a valid URL ({error}); {hint}") from None
        has_other_parts = (
            parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None or port == 0
        )
        if parts.scheme not in DEFAULT_PORTS or not name or has_other_parts or not is_host_name(name):
            raise ValueError(f"url must consist of scheme, host and an optional port, got {url!r}; {hint}")
        default = DEFAULT_PORTS[parts.scheme]
        name = f"[{name}]" if ":" in name else name
        return cls(parts.scheme, name if port in {None, default} else f"{name}:{port}", port or default)


def is_host_name(name: str) -> bool:
    return name.isascii() and all(letter.isalnum() or letter in "-.:_" for letter in name)


class Refused(Exception):  # noqa: N818 - the client's fault
    """A request that is answered with an HTTP error."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class AccessControl:
    """ASGI middleware that checks every request and adds the security headers to every response.

    trust: called with the client's address after every request that passed the checks and had the cookie.
    public: another address under which pages may reach the server.
    """

    def __init__(
        self,
        app: Any,
        secrets: Secrets,
        hosts: tuple[str, ...],
        port: int,
        trust: Callable[[Any], None],
        public: PublicAddress | None = None,
    ) -> None:
        self._app = app
        self._public = public
        self._trust = trust
        self._secrets = secrets
        self._hosts = frozenset(f"{host}:{port}" for host in hosts) | (
            frozenset(hosts) if port == HTTP_PORT else frozenset()
        )
        self._cookie_name = cookie_name(port if public is None else public.port)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
            if self.has_cookie(scope):
                self._trust(scope["client"])
        except Refused as refused:
            await refuse(scope, send, refused)
            return
        await self._app(scope, receive, with_security_headers(send))

    def _check(self, scope: Any) -> None:
        host, origin = single_header(scope, b"host"), single_header(scope, b"origin")
        origins = self._origins(host)
        if not origins:
            raise Refused(403, "unknown host name; to reach this server through a tunnel or proxy, start it with --url")
        is_socket = scope["type"] == "websocket"
        changes_state = is_socket or scope["method"] not in {"GET", "HEAD"}
        if origin is not None and origin not in origins:
            raise Refused(403, "requests from pages of other sites are refused")
        if single_header(scope, b"sec-fetch-site") not in {None, "same-origin", "none"} and not is_link_to_login(scope):
            raise Refused(403, "requests from pages of other sites are refused")
        if changes_state and origin is None:
            raise Refused(403, "a request that changes something needs the header Origin")
        if is_socket or scope["path"] not in LOGIN_PATHS:
            self._check_cookie(scope)

    def _origins(self, host: str | None) -> tuple[str, ...]:
        """Return the origins whose pages may send requests to this host; none for a host that is not this server.

        Some proxies forward the header Host of the browser, others replace it with the server's own.
        """
        public = self._public
        if public is not None and host == public.host:
            return (public.origin,) if host not in self._hosts else (public.origin, f"http://{host}")
        if host not in self._hosts:
            return ()
        return (f"http://{host}",) if public is None else (f"http://{host}", public.origin)

    def _check_cookie(self, scope: Any) -> None:
        if not self.has_cookie(scope):
            raise Refused(401, "open the address that pixelsne printed")

    def has_cookie(self, scope: Any) -> bool:
        sent = cookies_of(scope).get(self._cookie_name, "")
        return hmac.compare_digest(sent.encode(), self._secrets.cookie.encode())


def is_link_to_login(scope: Any) -> bool:
    """Return whether the user follows a link to the login page, from a notebook for example.

    The login page shows no data, changes nothing and cannot be framed, so links of other sites may lead there.
    """
    mode, destination = single_header(scope, b"sec-fetch-mode"), single_header(scope, b"sec-fetch-dest")
    is_navigation = mode == "navigate" and destination == "document"
    return bool(scope["type"] == "http" and scope["path"] == "/enter" and scope["method"] == "GET" and is_navigation)


def cookie_name(port: int) -> str:
    """Return a name with the port that browsers see, so that two servers do not overwrite each other's cookies."""
    return f"pixelsne-{port}"


def single_header(scope: Any, name: bytes) -> str | None:
    """Return the value of a header; None if it is absent. Refuse a request that has it twice."""
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise Refused(400, f"the header {name.decode()} occurs more than once")
    return found[0].decode("latin-1") if found else None


def cookies_of(scope: Any) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in (single_header(scope, b"cookie") or "").split(";"))
    return {name: value for name, _, value in pairs}


async def refuse(scope: Any, send: Any, refused: Refused) -> None:
    """Send the error as a response, also to a websocket's handshake."""
    event, body = "http.response", str(refused).encode()
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})  # before accepting, this is an HTTP 403
            return
        event = "websocket.http.response"
    headers = {**SECURITY_HEADERS, "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": f"{event}.start", "status": refused.status, "headers": encoded})
    await send({"type": f"{event}.body", "body": body})


def with_security_headers(send: Any) -> Any:
    """Return an ASGI `send` that adds the security headers."""

    async def send_with_security_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            added = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
            message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in present)]
        await send(message)

    return send_with_security_headers
