"""The HTTP server of the page, its data and the frames of a live run."""

import asyncio
import contextlib
import hmac
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pixelsne.viewer.connections import UntrustedConnections, limited_protocol
from pixelsne.viewer.files import page_files
from pixelsne.viewer.layout import Page
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import LOOPBACK_HOSTS, AccessControl, PublicAddress, Secrets, cookie_name

MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
MAX_CLIENTS = 16  # websockets
BACKLOG = 512  # connections; fewer than a process may have open files
MAX_MESSAGE_BYTES = 1_000  # that a page may send through its websocket
MAX_TOKEN_BYTES = 200
SECONDS_BETWEEN_POLLS = 0.03
SECONDS_BETWEEN_STATUSES = 0.1

# Takes rows (None: all) and "csv" or "parquet", returns the content of a file.
RowWriter = Callable[[np.ndarray[Any, Any] | None, str], bytes]


def file_response(name: str, content: bytes) -> Response:
    media_type = MEDIA_TYPES[name[name.rindex(".") :]]
    return Response(content, media_type=f"{media_type}; charset=utf-8")


class Server:
    """Serves one page until `close`.

    live: a run to watch and control. write_rows: writes exported files; None if the page exports nothing.
    url: the address of a tunnel or proxy through which browsers reach the page, with its scheme http or https.
    """

    def __init__(
        self,
        page: Page,
        live: LiveRun | None = None,
        write_rows: RowWriter | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        secrets: Secrets | None = None,
        url: str | None = None,
    ) -> None:
        self._public = None if url is None else PublicAddress.parse(url)
        self.page = page
        self.live = live
        self.selection = np.empty(0, dtype=np.int64)
        self._write_rows = write_rows
        self._parts = page.parts()
        self._files = page_files()
        self._secrets = secrets or Secrets()
        self._clients = 0
        self._host = browser_host(host)
        self._socket = listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        connections = UntrustedConnections()
        names = (*LOOPBACK_HOSTS, self._host)
        self._access_control = AccessControl(
            self._routes(), self._secrets, names, self.port, connections.remove, self._public
        )
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                self._access_control,
                log_level="critical",
                access_log=False,
                http=limited_protocol(connections),
                backlog=BACKLOG,
                proxy_headers=False,  # clients could forge them
                ws="websockets-sansio",
                ws_max_size=MAX_MESSAGE_BYTES,
                ws_per_message_deflate=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """URL of the page, with the token in the fragment, which browsers do not send."""
        origin = f"http://{self._host}:{self.port}" if self._public is None else self._public.origin
        return f"{origin}/enter#token={self._secrets.token}"

    def start(self) -> None:
        """Start serving in a background thread."""
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
            self.live.cancel()

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
                WebSocketRoute("/live", self._stream_run),
            ]
        )

    # HTTP

    async def _index(self, _request: Request) -> Response:
        return file_response("index.html", self._files["index.html"])

    async def _enter(self, request: Request) -> Response:
        """Serve the login page, and exchange the token that it posts for a cookie."""
        if request.method != "POST":
            return file_response("enter.html", self._files["enter.html"])
        token = await read_body(request, MAX_TOKEN_BYTES)
        if token is None or not hmac.compare_digest(token, self._secrets.token.encode()):
            return Response("this token is not valid here; it belongs to another server of pixelsne", 403)
        response = Response(status_code=204)
        port = self.port if self._public is None else self._public.port
        secure = request.headers["origin"].startswith("https:")
        response.set_cookie(
            cookie_name(port), self._secrets.cookie, httponly=True, samesite="strict", path="/", secure=secure
        )
        return response

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files or name.endswith(".html"):
            return Response("no such file", 404)
        return file_response(name, self._files[name])

    async def _manifest(self, _request: Request) -> Response:
        can_export = self._write_rows is not None
        self._add_regions()
        return JSONResponse(
            {**self.page.manifest(), "live": self.live is not None, "server": True, "canExport": can_export}
        )

    def _add_regions(self) -> None:
        """Add the regions of a run that has ended to the page."""
        regions = None if self.live is None else self.live.regions()
        if regions is not None and self.page.regions is not regions:
            self.page = replace(self.page, regions=regions)
            self._parts = self.page.parts()

    async def _data(self, request: Request) -> Response:
        content = self._parts.get(request.path_params["part"])
        if content is None:
            return Response("no such part", 404)
        return Response(content, media_type="application/octet-stream")

    async def _select(self, request: Request) -> Response:
        body = await read_body(request, 4 * self.page.n)
        rows = np.frombuffer(body, dtype="<u4") if body is not None and len(body) % 4 == 0 else None
        if rows is None or (len(rows) and int(rows.max()) >= self.page.n):
            return Response("the selection must be row numbers of this map", 400)
        self.selection = rows.astype(np.int64)
        return Response(status_code=204)

    async def _export(self, request: Request) -> Response:
        what, kind = request.path_params["what"], request.path_params["kind"]
        if self._write_rows is None or what not in {"map", "selection"} or kind not in {"csv", "parquet"}:
            return Response("this map cannot be exported as that file", 404)
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

    # Websockets

    async def _stream_run(self, connection: WebSocket) -> None:
        if self._clients >= MAX_CLIENTS or self.live is None:
            await connection.close()
            return
        self._clients += 1
        try:
            await connection.accept()
            disconnected = asyncio.create_task(wait_for_disconnect(connection))
            try:
                await self._send_updates(connection, self.live, disconnected)
            finally:
                disconnected.cancel()
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page was closed while a message was sent
        finally:
            self._clients -= 1

    async def _send_updates(self, connection: WebSocket, live: LiveRun, disconnected: "asyncio.Task[None]") -> None:
        """Send frames and statuses until the page is closed. A slow page skips frames, since sending waits for it."""
        number, sent, sent_at = 0, "", 0.0
        clock = asyncio.get_running_loop()
        while not disconnected.done():
            frame = live.frame_after(number)
            if frame is not None:
                number = frame.number
                await connection.send_bytes(frame.content)
            if clock.time() - sent_at > SECONDS_BETWEEN_STATUSES:
                status, sent_at = json.dumps(live.status()), clock.time()
                if status != sent:
                    await connection.send_text(status)
                    sent = status
            await asyncio.sleep(SECONDS_BETWEEN_POLLS)


async def wait_for_disconnect(connection: WebSocket) -> None:
    """Discard messages until the page is closed."""
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            await connection.receive_text()


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """Return the body of a request; None if it is larger than max_bytes."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            return None
    return body


def browser_host(host: str) -> str:
    """Return a host as browsers write it in a URL."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - these are refused
        raise ValueError(f"host must be an address that a browser can open, got {host!r}; pass one of this machine")
    return f"[{host}]" if ":" in host else host.lower()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections from now on, before the server is ready."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"{error.strerror}; choose another with --port", f"{host}:{port}") from None
    return listener
