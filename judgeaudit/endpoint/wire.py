"""A lean HTTP/1.1 server side for loopback: keep-alive, content-length bodies, planted failures.

A general server (starlette under uvicorn) answered about 1,000 requests a second on one core, and
has no way to close a connection in mid-answer, which `flaky-transport` must. This one speaks just
what HTTP clients send to an API: requests with a content-length; anything else is refused with
400, 411, 413 or 431 and a closed connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol, cast

from judgeaudit.endpoint.simulated.reply import SimReply

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024


class Responder(Protocol):
    """What answers requests."""

    def sleep_s(self, headers: Mapping[str, str]) -> float:
        """Return how long the answer must take."""
        ...

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, load: int
    ) -> SimReply:
        """Return the answer to one request."""
        ...


class Refused(Exception):
    """A request that this server does not read; `status` says why."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class Pending:
    """A request being answered. `peak` is the largest number in flight while it was."""

    peak: int = 1


@dataclass(slots=True)
class Load:
    """The requests being answered on all connections of one server."""

    pending: list[Pending] = field(default_factory=list)

    def arrive(self) -> Pending:
        """Note a new request: every one now in flight has seen at least this many."""
        mine = Pending()
        self.pending.append(mine)
        for other in self.pending:
            other.peak = max(other.peak, len(self.pending))
        return mine

    def leave(self, mine: Pending) -> None:
        """Note that a request was answered, or its connection lost."""
        self.pending = [other for other in self.pending if other is not mine]


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other."""

    def __init__(self, app: Responder, load: Load, open_: set[Connection]) -> None:
        self._app, self._load, self._open = app, load, open_
        self._buffer = bytearray()
        self._busy: Pending | None = None
        self._continued = False
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast(asyncio.Transport, transport)
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was being answered."""
        self._open.discard(self)
        if self._busy is not None:
            self._load.leave(self._busy)

    def data_received(self, data: bytes) -> None:
        """Answer each request as soon as it is whole."""
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        try:
            while self._busy is None and (request := self._take()) is not None:
                self._start(*request)
        except Refused as refusal:
            self._write(SimReply(refusal.status, (), b""), close=True)

    def _take(self) -> tuple[str, str, dict[str, str], bytes] | None:
        """Cut one whole request off the buffer, or return None."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise Refused(431)
            return None
        method, path, headers = _head(bytes(self._buffer[:end]))
        length = _length(method, headers)
        if len(self._buffer) < end + 4 + length:
            self._invite(headers)
            return None
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        self._continued = False
        return method, path, headers, body

    def _invite(self, headers: Mapping[str, str]) -> None:
        # RFC 9110, 10.1.1: curl waits for this before it sends a large body.
        if not self._continued and headers.get("expect", "").lower() == "100-continue":
            self._continued = True
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _start(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self._busy = self._load.arrive()
        delay = self._app.sleep_s(headers)
        if delay:
            loop = asyncio.get_running_loop()
            loop.call_later(delay, self._finish_late, method, path, headers, body)
        else:
            self._finish(method, path, headers, body)

    def _finish_late(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        if not self.transport.is_closing():
            self._finish(method, path, headers, body)
            self._advance()

    def _finish(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        assert self._busy is not None
        reply = self._app.respond(method, path, headers, body, self._busy.peak)
        if reply.wire == "hang":
            return  # stays busy until the client gives up
        self._load.leave(self._busy)
        self._busy = None
        self._write(reply, close=headers.get("connection", "").lower() == "close")

    def _write(self, reply: SimReply, *, close: bool) -> None:
        if reply.wire == "drop":
            self.transport.abort()
            return
        names = "".join(f"{name}: {value}\r\n" for name, value in reply.headers)
        head = (
            f"HTTP/1.1 {reply.status} {_phrase(reply.status)}\r\n{names}"
            f"content-length: {len(reply.body)}\r\n"
            f"{'connection: close' + chr(13) + chr(10) if close else ''}\r\n"
        )
        body = reply.body[: len(reply.body) // 2] if reply.wire == "cut" else reply.body
        self.transport.write(head.encode("latin-1", "replace") + body)
        if close or reply.wire == "cut":
            self.transport.close()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded"


def _head(data: bytes) -> tuple[str, str, dict[str, str]]:
    """Return method, path and headers (names in lower case; of a repeated one the last)."""
    first, _, rest = data.decode("latin-1").partition("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise Refused(400)
    headers = {}
    for line in rest.split("\r\n") if rest else ():
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise Refused(400)
        headers[name.lower()] = value.strip()
    if parts[2] == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return parts[0], parts[1], headers


def _length(method: str, headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise Refused(411)
    text = headers.get("content-length", "0" if method in ("GET", "HEAD") else "")
    if not text.isdecimal():
        raise Refused(411)
    if int(text) > MAX_BODY:
        raise Refused(413)
    return int(text)


async def serve(
    app: Responder,
    port: int = 0,
    *,
    ready: Callable[[int], None],
    stop: asyncio.Event,
) -> None:
    """Serve `app` on 127.0.0.1 until `stop`; `ready` gets the port once it listens (0: any)."""
    load, open_ = Load(), set[Connection]()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(app, load, open_), "127.0.0.1", port, backlog=1024
    )
    try:
        ready(server.sockets[0].getsockname()[1])
        await stop.wait()
    finally:
        server.close()
        for connection in list(open_):
            connection.transport.abort()
