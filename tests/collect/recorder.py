"""A loopback server that keeps every byte it gets, and answers as it is told."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

OK = json.dumps(
    {
        "model": "recorded",
        "choices": [{"index": 0, "message": {"content": "pass"}, "finish_reason": "stop"}],
    }
).encode()


@dataclass
class Answer:
    """Status, headers and body; `cut` closes after half the body, `drop` before any byte."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = OK
    cut: bool = False
    drop: bool = False
    delay_s: float = 0.0


@dataclass
class Request:
    """One request as its bytes were."""

    head: bytes
    body: bytes

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if line)
        return [(name.lower(), value.strip()) for name, _, value in pairs]

    @property
    def names(self) -> list[str]:
        return sorted(name for name, _ in self.headers)


class Recorder:
    """`answer` gets each request with its number (from 0). A context manager."""

    def __init__(self, answer: Callable[[Request, int], Answer] = lambda *_: Answer()) -> None:
        self.requests: list[Request] = []
        self.in_flight = self.peak = 0
        self._answer = answer
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Recorder:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        request = Request(head, b"")
        length = int(dict(request.headers).get("content-length", "0"))
        request.body = await reader.readexactly(length)
        number = len(self.requests)
        self.requests.append(request)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        answer = self._answer(request, number)
        await asyncio.sleep(answer.delay_s)
        self.in_flight -= 1
        if answer.drop:
            writer.transport.abort()
            return False
        extra = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        told = f"HTTP/1.1 {answer.status} X\r\ncontent-length: {len(answer.body)}\r\n{extra}\r\n"
        shown = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
        writer.write(told.encode("latin-1") + shown)
        await writer.drain()
        return not answer.cut
