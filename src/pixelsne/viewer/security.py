"""Who may talk to the server: browsers on this machine that were given its address, and pages it served itself.

A page elsewhere can make a browser send requests here. It cannot make it lie about where they come from (Origin,
Sec-Fetch-Site), nor under which name this server was reached (Host), nor send the cookie along (SameSite=Strict). Every
request and every websocket must pass all three; the token in the address's fragment, which browsers keep to
themselves, is exchanged for the cookie by POST.
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
HTTP = 80  # the port that browsers leave out
USUAL_PORTS = {"http": HTTP, "https": 443}
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN_PATHS = ("/enter", "/static/enter.js", "/static/icon.svg")  # what is needed to come in

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Secrets:
    """Made anew by every server."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)

    @classmethod
    def kept(cls, port: int) -> "Secrets":
        """The same for every server of this user on that port, so that pages find one that was started again."""
        seed = kept_seed()
        token, cookie = (
            hmac.new(seed, f"{word} {port}".encode(), "sha256").hexdigest() for word in ("token", "cookie")
        )
        return cls(token, cookie)


def kept_seed() -> bytes:
    """32 random bytes that only this user can read, made when first needed."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    path = state / "pixelsne" / "viewer-key"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(TOKEN_BYTES))
    seed = path.read_bytes()
    readable = os.name == "posix" and path.stat().st_mode & 0o077  # elsewhere the bits do not tell
    if len(seed) != TOKEN_BYTES or readable:
        raise ValueError(f"{path} is not as it was left; delete it, and a new key is made")
    return seed


@dataclass(frozen=True)
class PublicAddress:
    """The address of a tunnel or proxy in front of the server, as browsers name it."""

    scheme: str  # "http" or "https"
    host: str  # as in the header Host: a port only if it is not the scheme's own
    port: int

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @classmethod
    def parse(cls, url: str) -> "PublicAddress":
        """Check a url of scheme, host and port, and nothing else. ValueError if it is anything else."""
        wanted = "give scheme, host and port, as in https://maps.example or http://localhost:9000"
        try:
            parts = urlsplit(url)
            name, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise ValueError(f"url {url!r} is no address ({error}); {wanted}") from None
        rest = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None or port == 0
        if parts.scheme not in USUAL_PORTS or not name or rest or not is_host_name(name):
            raise ValueError(f"url {url!r} is no address of a server; {wanted}")
        usual = USUAL_PORTS[parts.scheme]
        name = f"[{name}]" if ":" in name else name
        return cls(parts.scheme, name if port in {None, usual} else f"{name}:{port}", port or usual)


def is_host_name(name: str) -> bool:
    return name.isascii() and all(letter.isalnum() or letter in "-.:_" for letter in name)


class Refused(Exception):  # noqa: N818 - not an error of ours
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Gate:
    """ASGI: lets through what may come in, and puts the headers on what goes out.

    trust: called with the client's address after every request that passed and had the cookie.
    public: one more address under which pages may reach the server.
    """

    def __init__(
        self,
        app: Any,
        keys: Secrets,
        hosts: tuple[str, ...],
        port: int,
        trust: Callable[[Any], None],
        public: PublicAddress | None = None,
    ) -> None:
        self._app = app
        self._public = public
        self._trust = trust
        self._keys = keys
        self._hosts = frozenset(f"{host}:{port}" for host in hosts) | (
            frozenset(hosts) if port == HTTP else frozenset()
        )
        self._cookie_name = cookie_name(port if public is None else public.port)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
            if self.is_known(scope):
                self._trust(scope["client"])
        except Refused as refused:
            await refuse(scope, send, refused)
            return
        await self._app(scope, receive, with_headers(send))

    def _check(self, scope: Any) -> None:
        host, origin = only(scope, b"host"), only(scope, b"origin")
        origins = self._origins(host)
        if not origins:
            raise Refused(403, "this server does not go by that name; if a tunnel or proxy does, start it with --url")
        is_socket = scope["type"] == "websocket"
        changes = is_socket or scope["method"] not in {"GET", "HEAD"}
        if origin is not None and origin not in origins:
            raise Refused(403, "requests from other pages are not answered")
        if only(scope, b"sec-fetch-site") not in {None, "same-origin", "none"} and not is_link_to_the_door(scope):
            raise Refused(403, "requests from other pages are not answered")
        if changes and origin is None:
            raise Refused(403, "what changes something must say where it comes from")
        if is_socket or scope["path"] not in OPEN_PATHS:
            self._check_cookie(scope)

    def _origins(self, host: str | None) -> tuple[str, ...]:
        """Return where pages may come from that ask for this host; none for a host that is not ours.

        Some proxies pass on the host that browsers ask for, others put the server's own in its place.
        """
        public = self._public
        if public is not None and host == public.host:
            return (public.origin,) if host not in self._hosts else (public.origin, f"http://{host}")
        if host not in self._hosts:
            return ()
        return (f"http://{host}",) if public is None else (f"http://{host}", public.origin)

    def _check_cookie(self, scope: Any) -> None:
        if not self.is_known(scope):
            raise Refused(401, "open the address that pixelsne printed")

    def is_known(self, scope: Any) -> bool:
        given = cookies_of(scope).get(self._cookie_name, "")
        return hmac.compare_digest(given.encode(), self._keys.cookie.encode())


def is_link_to_the_door(scope: Any) -> bool:
    """A click in a notebook: the door shows nothing, changes nothing, and cannot be framed."""
    is_navigation = only(scope, b"sec-fetch-mode") == "navigate" and only(scope, b"sec-fetch-dest") == "document"
    return bool(scope["type"] == "http" and scope["path"] == "/enter" and scope["method"] == "GET" and is_navigation)


def cookie_name(port: int) -> str:
    """Name a cookie by the port that browsers see: cookies of two servers must not overwrite each other."""
    return f"pixelsne-{port}"


def only(scope: Any, name: bytes) -> str | None:
    """The one header of that name; None if there is none."""
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise Refused(400, f"several headers {name.decode()}")
    return found[0].decode("latin-1") if found else None


def cookies_of(scope: Any) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in (only(scope, b"cookie") or "").split(";"))
    return {name: value for name, _, value in pairs}


async def refuse(scope: Any, send: Any, refused: Refused) -> None:
    kind, body = "http.response", str(refused).encode()
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})  # an HTTP 403, since nothing was accepted
            return
        kind = "websocket.http.response"
    headers = {**HEADERS, "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": f"{kind}.start", "status": refused.status, "headers": encoded})
    await send({"type": f"{kind}.body", "body": body})


def with_headers(send: Any) -> Any:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in given)]
        await send(message)

    return sending
