"""An upstream that keeps every byte and answers in pieces, and a gateway in this process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from judgeaudit.gateway.address import targets_of
from judgeaudit.gateway.proxy import Proxy
from judgeaudit.gateway.reask import Reasker, Settings
from judgeaudit.gateway.record import Record, begin
from judgeaudit.gateway.run import client, listening

KEY = "sk-live-0123456789abcdefghij"


def chat(text: str = "yes", **more: object) -> bytes:
    """A chat completion that says `text`."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps({"id": "r", "model": "m-1", "choices": [choice], **more}).encode()


def sse(*documents: object, done: bool = True) -> list[bytes]:
    """Pieces of a stream of events."""
    pieces = [b"data: " + json.dumps(d).encode() + b"\n\n" for d in documents]
    return [*pieces, b"data: [DONE]\n\n"] if done else pieces


def streamed(*texts: str) -> list[bytes]:
    """A streamed chat completion."""
    said = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    return sse(*said, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def asks(prompt: str = "Is 2 + 2 = 4?", **more: object) -> bytes:
    """A chat request."""
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}
    return json.dumps(body).encode()


@dataclass
class Answer:
    """What the upstream does: a body, or pieces with a pause; `cut` closes after the pieces."""

    body: bytes = field(default_factory=chat)
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    pieces: Sequence[bytes] = ()
    pause_s: float = 0.0
    delay_s: float = 0.0
    cut: bool = False
    drop: bool = False


def stream(pieces: Sequence[bytes], **more: object) -> Answer:
    return Answer(pieces=pieces, headers={"content-type": "text/event-stream"}, **more)  # type: ignore[arg-type]


@dataclass
class Upstream:
    """Requests as their bytes were: (head, body)."""

    answer: Callable[[bytes, int], Answer]
    port: int = 0
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    gone: int = 0
    in_flight: int = 0
    peak: int = 0
    times: list[float] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self.one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone += 1
        finally:
            writer.transport.abort()

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [
            line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
        ]
        body = await reader.readexactly(int(lengths[0].partition(b":")[2]) if lengths else 0)
        number = len(self.requests)
        self.requests.append((head, body))
        self.times.append(time.monotonic())
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self.respond(self.answer(body, number), writer)
        finally:
            self.in_flight -= 1

    async def respond(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(answer.delay_s)
        if answer.drop:
            return False
        lines = [f"HTTP/1.1 {answer.status} X", *(f"{n}: {v}" for n, v in answer.headers.items())]
        lines.append(
            "transfer-encoding: chunked" if answer.pieces else f"content-length: {len(answer.body)}"
        )
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for piece in answer.pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(answer.pause_s)
        if answer.cut:
            return False
        writer.write(b"0\r\n\r\n" if answer.pieces else answer.body)
        await writer.drain()
        return True


@asynccontextmanager
async def upstream(
    answer: Callable[[bytes, int], Answer] = lambda *_: Answer(),
) -> AsyncIterator[Upstream]:
    found = Upstream(answer)
    server = await asyncio.start_server(found.connection, "127.0.0.1", 0, limit=2**20)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        server.close_clients() if hasattr(server, "close_clients") else None


@dataclass
class Gateway:
    """A gateway that listens: its record, its proxy, what asks again, its address."""

    record: Record
    proxy: Proxy
    reasker: Reasker
    url: str
    manifest: dict[str, object] | None = None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@asynccontextmanager
async def gateway(
    root: Path, to: str, reask: Settings | None = None, **settings: object
) -> AsyncIterator[Gateway]:
    record = begin(root, {"value": None, **settings}, time.time_ns())
    async with client() as session:
        reasker: Reasker
        targets = targets_of([to])
        proxy = Proxy(record, targets, session, lambda *a: reasker.answered(*a))
        reasker = Reasker(record, session, proxy.load, reask or Settings(0))
        async with listening(proxy.handle, "127.0.0.1", 0) as port:
            found = Gateway(record, proxy, reasker, f"http://127.0.0.1:{port}")
            yield found
        await reasker.drain()
    found.manifest = record.close(time.time_ns())


async def raw(url: str, data: bytes) -> bytes:
    """Send bytes and return everything that comes back until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(data)
    found = await reader.read()
    writer.close()
    return found


def post(body: bytes, path: str = "/v1/chat/completions", *lines: str) -> bytes:
    """A request's bytes; the connection is closed after it."""
    heads = [
        f"POST {path} HTTP/1.1",
        "Host: judge",
        f"Authorization: Bearer {KEY}",
        "Content-Type: application/json",
        *lines,
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return ("\r\n".join(heads) + "\r\n\r\n").encode() + body


def body_of(reply: bytes) -> bytes:
    return reply.partition(b"\r\n\r\n")[2]
