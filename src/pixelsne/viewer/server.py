"""The page and its data on this machine."""

import asyncio
import contextlib
import hmac
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pixelsne.viewer.connections import Connections, limited_protocol
from pixelsne.viewer.files import page_files
from pixelsne.viewer.layout import Page
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import LOOPBACK, Gate, PublicAddress, Secrets, cookie_name

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
MOST_CLIENTS = 16
WAITING_TO_CONNECT = 512  # and accepted at once: fewer than a process may have files
LARGEST_MESSAGE = 1_000  # bytes a page may send at once through its websocket
LARGEST_TOKEN = 200
SECONDS_BETWEEN_LOOKS = 0.03
SECONDS_BETWEEN_STATUSES = 0.1

# Rows (None: all) and "csv" or "parquet" → a file.
Writer = Callable[[np.ndarray[Any, Any] | None, str], bytes]


def typed(name: str, content: bytes) -> Response:
    kind = KINDS[name[name.rindex(".") :]]
    return Response(content, media_type=f"{kind}; charset=utf-8")


class Server:
    """Serves one page until `close`.

    url: the address of a tunnel or proxy under which browsers reach the page; https there, too.
    """

    def __init__(
        self,
        page: Page,
        live: LiveRun | None = None,
        write_rows: Writer | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        keys: Secrets | None = None,
        url: str | None = None,
    ) -> None:
        self._public = None if url is None else PublicAddress.parse(url)
        self.page = page
        self.live = live
        self.selection = np.empty(0, dtype=np.int64)
        self._write_rows = write_rows
        self._parts = page.parts()
        self._files = page_files()
        self._keys = keys or Secrets()
        self._clients = 0
        self._name = written_host(host)
        self._socket = listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        connections = Connections()
        names = (*LOOPBACK, self._name)
        self._gate = Gate(self._routes(), self._keys, names, self.port, connections.remove, self._public)
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                self._gate,
                log_level="critical",
                access_log=False,
                http=limited_protocol(connections),
                backlog=WAITING_TO_CONNECT,
                proxy_headers=False,  # they could name another connection
                ws="websockets-sansio",
                ws_max_size=LARGEST_MESSAGE,
                ws_per_message_deflate=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """With the token in the fragment, which browsers send to nobody."""
        origin = f"http://{self._name}:{self.port}" if self._public is None else self._public.origin
        return f"{origin}/enter#token={self._keys.token}"

    def start(self) -> None:
        """On a thread of its own."""
        self._thread = threading.Thread(target=self._serve, name="pixelsne-server", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.run(self._uvicorn.serve(sockets=[self._socket]))

    def close(self) -> None:
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._socket.close()
        if self.live is not None:
            self.live.leave()

    def _routes(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", self._index),
                Route("/enter", self._enter, methods=["GET", "POST"]),
                Route("/static/{name}", self._static),
                Route("/data/manifest", self._manifest),
                Route("/data/{part}", self._data),
                Route("/selection", self._select, methods=["POST"]),
                Route("/{what}.{kind}", self._export),
                Route("/run/{command}", self._command, methods=["POST"]),
                WebSocketRoute("/live", self._live),
            ]
        )

    # HTTP

    async def _index(self, _request: Request) -> Response:
        return typed("index.html", self._files["index.html"])

    async def _enter(self, request: Request) -> Response:
        """A page that knows how to hand in the token, and the place where it does so."""
        if request.method != "POST":
            return typed("enter.html", self._files["enter.html"])
        token = await body_of(request, LARGEST_TOKEN)
        if token is None or not hmac.compare_digest(token, self._keys.token.encode()):
            return Response("this token opens nothing here; it belongs to another run of pixelsne", 403)
        response = Response(status_code=204)
        port = self.port if self._public is None else self._public.port
        secure = request.headers["origin"].startswith("https:")
        response.set_cookie(
            cookie_name(port), self._keys.cookie, httponly=True, samesite="strict", path="/", secure=secure
        )
        return response

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files or name.endswith(".html"):
            return Response("no such file", 404)
        return typed(name, self._files[name])

    async def _manifest(self, _request: Request) -> Response:
        exports = self._write_rows is not None
        return JSONResponse({**self.page.manifest(), "live": self.live is not None, "server": True, "exports": exports})

    async def _data(self, request: Request) -> Response:
        content = self._parts.get(request.path_params["part"])
        if content is None:
            return Response("no such part", 404)
        return Response(content, media_type="application/octet-stream")

    async def _select(self, request: Request) -> Response:
        body = await body_of(request, 4 * self.page.n)
        rows = np.frombuffer(body, dtype="<u4") if body is not None and len(body) % 4 == 0 else None
        if rows is None or (len(rows) and int(rows.max()) >= self.page.n):
            return Response("these are no rows of this map", 400)
        self.selection = rows.astype(np.int64)
        return Response(status_code=204)

    async def _export(self, request: Request) -> Response:
        what, kind = request.path_params["what"], request.path_params["kind"]
        if self._write_rows is None or what not in {"map", "selection"} or kind not in {"csv", "parquet"}:
            return Response("this map cannot be exported so", 404)
        rows = self.selection if what == "selection" else None
        try:
            content = await run_in_threadpool(self._write_rows, rows, kind)
        except ValueError as error:
            return Response(str(error), 409)
        headers = {"Content-Disposition": f'attachment; filename="{what}.{kind}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _command(self, request: Request) -> Response:
        commands = (
            {} if self.live is None else {"pause": self.live.pause, "resume": self.live.resume, "stop": self.live.stop}
        )
        command = commands.get(request.path_params["command"])
        if command is None:
            return Response("no such command", 404)
        command()
        return Response(status_code=204)

    # The run, as it happens

    async def _live(self, connection: WebSocket) -> None:
        if self._clients >= MOST_CLIENTS or self.live is None:
            await connection.close()
            return
        self._clients += 1
        try:
            await connection.accept()
            listening = asyncio.create_task(drain(connection))
            try:
                await self._send_all(connection, self.live, listening)
            finally:
                listening.cancel()
        except (WebSocketDisconnect, RuntimeError):
            pass  # gone while something was sent
        finally:
            self._clients -= 1

    async def _send_all(self, connection: WebSocket, live: LiveRun, listening: "asyncio.Task[None]") -> None:
        """Sending waits for the browser; whatever happens meanwhile is left out, not kept."""
        number, told, told_at = 0, "", 0.0
        clock = asyncio.get_running_loop()
        while not listening.done():
            frame = live.frame_after(number)
            if frame is not None:
                number = frame.number
                await connection.send_bytes(frame.content)
            if clock.time() - told_at > SECONDS_BETWEEN_STATUSES:
                words, told_at = json.dumps(live.status()), clock.time()
                if words != told:
                    await connection.send_text(words)
                    told = words
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


async def drain(connection: WebSocket) -> None:
    """Ends when the page is gone; it has nothing to say here."""
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            await connection.receive_text()


async def body_of(request: Request, most: int) -> bytes | None:
    """None if it is larger than that."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body


def written_host(host: str) -> str:
    """As browsers write it."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - that is what is refused
        raise ValueError(f"host {host!r} is no address that a browser could open; give one of this machine's own")
    return f"[{host}]" if ":" in host else host.lower()


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(WAITING_TO_CONNECT)  # who comes before the server is ready, waits
    except OSError as error:
        made.close()
        raise OSError(error.errno, f"{error.strerror}; choose another with --port", f"{host}:{port}") from None
    return made
