"""Measure what a gateway costs: CPU a call, and a harness's latency while calls are asked again.

    python benchmarks/gateway.py [--profile ci] [--out docs/gateway-cost.md]

Three servers stand in front of one upstream, each in a process of its own: `bare` is the shortest
aiohttp pass-through (one catch-all route, `ClientSession.request`, the body read and given back);
`plain` is this gateway; `reask` is this gateway asking a fifth of the calls again. One client sends
the same calls to each in turn, 64 in flight, in blocks whose order changes, so that whatever else
the machine does meets all three alike. CPU is the server process's own, user and system.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
from aiohttp import web

from judgeaudit.gateway.address import targets_of
from judgeaudit.gateway.proxy import Proxy
from judgeaudit.gateway.reask import Reasker, Settings
from judgeaudit.gateway.record import begin
from judgeaudit.gateway.run import COMMIT_S, client, listening

IN_FLIGHT = 64
KEY = "sk-bench-0123456789abcdefghijklmnopqrst"
TEXT = "The answer names the capital correctly and gives no reason. " * 40
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-2026-10-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": f"{TEXT}\nGRADE: C"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 812, "completion_tokens": 401, "total_tokens": 1213},
    }
).encode()


def request_body(number: int) -> bytes:
    """Return a judge's request of 3 kB; no two are equal."""
    prompt = (
        f"You are assessing a submitted answer.\n[Task {number}]: {TEXT}\nEnd with GRADE: C or I."
    )
    messages = [
        {"role": "system", "content": "You are strict."},
        {"role": "user", "content": prompt},
    ]
    return json.dumps({"model": "judge", "messages": messages, "temperature": 0.0}).encode()


async def upstream(pipe: Connection, delay_s: float) -> None:
    """Answer everything with one reply of 3 kB."""

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        if delay_s:
            await asyncio.sleep(delay_s)
        return web.Response(body=REPLY, content_type="application/json")

    async with listening(handle, "127.0.0.1", 0) as port:
        pipe.send(port)
        await asyncio.to_thread(pipe.recv)


async def bare(pipe: Connection, to: str) -> None:
    """Serve the shortest pass-through that aiohttp allows."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), auto_decompress=False
    ) as session:

        async def handle(request: web.Request) -> web.Response:
            body = await request.read()
            headers = {n: v for n, v in request.headers.items() if n.lower() != "host"}
            async with session.request(
                request.method, to + request.path_qs, headers=headers, data=body
            ) as reply:
                data = await reply.read()
                return web.Response(status=reply.status, body=data, content_type=reply.content_type)

        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        pipe.send(runner.addresses[0][1])
        await _answer_cpu(pipe)
        await runner.cleanup()


async def ours(pipe: Connection, to: str, share: float, log: str) -> None:
    """Serve this gateway."""
    record = begin(Path(log), {"value": None}, time.time_ns())
    async with client() as session:
        reasker: Reasker
        proxy = Proxy(record, targets_of([to]), session, lambda *a: reasker.answered(*a))
        reasker = Reasker(record, session, proxy.load, Settings(share, 1))
        tasks = [asyncio.ensure_future(reasker.run()), asyncio.ensure_future(_commits(record))]
        async with listening(proxy.handle, "127.0.0.1", 0) as port:
            pipe.send(port)
            await _answer_cpu(pipe)
        for task in tasks:
            task.cancel()
        await reasker.abandon()
    record.close(time.time_ns())


async def _commits(record: object) -> None:
    while True:
        await asyncio.sleep(COMMIT_S)
        record.journal.commit_soon()  # type: ignore[attr-defined]


async def _answer_cpu(pipe: Connection) -> None:
    """Tell this process's CPU seconds as often as asked; an empty word ends it."""
    while await asyncio.to_thread(pipe.recv):
        used = resource.getrusage(resource.RUSAGE_SELF)
        pipe.send(used.ru_utime + used.ru_stime)


def _in_process(pipe: Connection, work: Callable[..., Awaitable[None]], *given: object) -> None:
    asyncio.run(work(pipe, *given))  # type: ignore[arg-type]


class Server:
    """A server in a process of its own."""

    def __init__(self, work: Callable[..., Awaitable[None]], *given: object) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=_in_process, args=(theirs, work, *given))
        self.process.start()
        self.url = f"http://127.0.0.1:{self.pipe.recv()}"

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        self.pipe.send("cpu")
        found: float = self.pipe.recv()
        return found

    def stop(self) -> None:
        """End it."""
        self.pipe.send("")
        self.process.join(60)


@dataclass
class Measured:
    """CPU microseconds a call, a block each, and every call's milliseconds."""

    cpu: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)


async def block(
    session: aiohttp.ClientSession, url: str, bodies: list[bytes], flying: int
) -> list[float]:
    """Send some calls, `flying` at once; returns the milliseconds of each."""
    waiting, took = list(bodies), []
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}

    async def one_after_another() -> None:
        while waiting:
            body, begun = waiting.pop(), time.perf_counter()
            async with session.post(
                f"{url}/v1/chat/completions", data=body, headers=headers
            ) as got:
                assert await got.read() == REPLY
            took.append((time.perf_counter() - begun) * 1000)

    await asyncio.gather(*(one_after_another() for _ in range(flying)))
    return took


async def measure(
    servers: dict[str, Server], blocks: int, calls: int, flying: int
) -> dict[str, Measured]:
    """Return what each server cost, in blocks of calls in a changing order."""
    found, number = {name: Measured() for name in servers}, 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for turn in range(-1, blocks):  # the first block warms up
            names = list(servers)
            names = names[turn % len(names) :] + names[: turn % len(names)]
            for name in names:
                bodies = [request_body(number + place) for place in range(calls)]
                number += calls
                before = servers[name].cpu()
                took = await block(session, servers[name].url, bodies, flying)
                used = (servers[name].cpu() - before) / calls * 1e6
                if turn >= 0:
                    found[name].cpu.append(used)
                    found[name].ms += took
    return found


def run(blocks: int, calls: int, delay_s: float, flying: int, share: float) -> dict[str, Measured]:
    """Start the servers, measure, stop them."""
    with tempfile.TemporaryDirectory() as folder:
        up = Server(upstream, delay_s)
        servers = {
            "bare": Server(bare, up.url),
            "plain": Server(ours, up.url, 0.0, f"{folder}/plain"),
            "reask": Server(ours, up.url, share, f"{folder}/reask"),
        }
        try:
            return asyncio.run(measure(servers, blocks, calls, flying))
        finally:
            for server in (*servers.values(), up):
                server.stop()


def page(cpu: dict[str, Measured], slow: dict[str, Measured], blocks: int, calls: int) -> str:
    """Return the page."""
    used = {name: statistics.median(found.cpu) for name, found in cpu.items()}
    wait = {name: statistics.median(found.ms) for name, found in slow.items()}
    ratios = [a / b for a, b in zip(cpu["plain"].cpu, cpu["bare"].cpu, strict=True)]
    lines = [
        "# What a gateway costs",
        "",
        "Made by `python benchmarks/gateway.py --out docs/gateway-cost.md`: one run, all servers",
        "in turn, requests and replies of 3 kB, 64 in flight.",
        "",
        "| server | CPU a call, median of blocks | latency at an upstream of 50 ms, median |",
        "| --- | --- | --- |",
        *(
            f"| {name} | {used[name]:.0f} µs | {wait[name]:.1f} ms |"
            for name in ("bare", "plain", "reask")
        ),
        "",
        f"* CPU of the plain gateway over the bare pass-through, paired by block: median "
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f} over {blocks} "
        f"blocks of {calls} calls).",
        f"* Latency with re-asks over the plain gateway: {wait['reask'] / wait['plain']:.3f}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=("ci", "full"), default="full")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    blocks, calls = (3, 300) if given.profile == "ci" else (9, 1000)
    cpu = run(blocks, calls, 0.0, IN_FLIGHT, 0.2)
    slow = run(blocks, calls // 2, 0.05, 16, 0.2)
    text = page(cpu, slow, blocks, calls)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
