"""A whole session: begin, serve until the command ends or somebody interrupts, ask again, seal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.transport import tls_context
from judgeaudit.errors import InputError
from judgeaudit.gateway.address import Target, check_host, environment, route
from judgeaudit.gateway.headers import Pairs
from judgeaudit.gateway.proxy import LONGEST, Proxy, told
from judgeaudit.gateway.reask import Reasker, Settings
from judgeaudit.gateway.record import Record, begin
from judgeaudit.gateway.replay import Replay

COMMIT_S = 0.05
"""How often what was written is made durable: lost power loses no more than this."""
_LEAVE_S = 5.0
_LONGEST_HEADER = 65536


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is to do. `settings` is what stands in its journal."""

    root: Path
    targets: tuple[Target, ...]
    reask: Settings
    settings: Mapping[str, Any]
    host: str = "127.0.0.1"
    port: int = 0
    token: str = field(default="", repr=False)
    system: Callable[[Pairs, bytes], str | None] | None = None
    replay: Replay | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended. `session` is None where nothing passed; `code` is the command's."""

    session: str | None
    code: int | None
    calls: int = 0
    chosen: int = 0
    asked_again: int = 0
    unasked: int = 0
    stopped: str = ""
    failure: str = ""
    manifest: Mapping[str, Any] | None = None
    replayed: int = 0
    unknown: int = 0


Tell = Callable[[str], None]


class _Stop:
    """What an interruption means: the first ends serving, the second leaves re-asks unasked."""

    def __init__(self, tell: Tell) -> None:
        self.serving, self.asking = asyncio.Event(), asyncio.Event()
        self.child: asyncio.subprocess.Process | None = None
        self._tell = tell

    def __call__(self, number: int) -> None:
        if not self.serving.is_set():
            self.serving.set()
            if self.child is not None and self.child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    self.child.send_signal(number)
            return
        self._tell("what waits stays unasked")
        self.asking.set()


async def session(plan: Plan, tell: Tell, environ: Mapping[str, str] = os.environ) -> Ended:
    """Serve one session; returns once it is sealed.

    Raises `InputError` for an address that must not be served, `ExecutorBusy` where another gateway
    writes this log.
    """
    check_host(plan.host, plan.token)
    plan.root.mkdir(parents=True, exist_ok=True)
    with exclusive(plan.root):
        record = begin(plan.root, plan.settings, time.time_ns())
        try:
            return await _served(plan, record, tell, environ)
        except BaseException:
            record.journal.close()
            raise


async def _served(plan: Plan, record: Record, tell: Tell, environ: Mapping[str, str]) -> Ended:
    stop = _Stop(tell)
    async with client() as upstream:
        reasker: Reasker
        proxy = Proxy(
            record,
            plan.targets,
            upstream,
            lambda *answered: reasker.answered(*answered),
            token=plan.token,
            system=plan.system,
            replay=plan.replay,
        )
        reasker = Reasker(record, upstream, proxy.load, plan.reask)
        background = [_forever(reasker.run()), _forever(_commits(record))]
        with _signals(stop):
            async with listening(proxy.handle, plan.host, plan.port) as port:
                here = _here(plan, port)
                tell(f"gateway at {here}, log {plan.root}, session {record.session}")
                code = await _until_done(plan, here, stop, environ, tell)
            background[0].cancel()
            await _finish_asking(reasker, stop, tell)
        for task in background:
            task.cancel()
        failure = "" if proxy.failure is None else str(proxy.failure)
        manifest = None
        if failure:
            record.journal.close()
        else:
            manifest = record.close(time.time_ns())
    return Ended(
        session=None if manifest is None and not failure else record.session,
        code=code,
        calls=proxy.load.calls,
        chosen=reasker.chosen,
        asked_again=sum(reasker.done.values()),
        unasked=reasker.left,
        stopped=reasker.stopped,
        failure=failure,
        manifest=manifest,
        replayed=0 if plan.replay is None else plan.replay.given,
    )


def _here(plan: Plan, port: int) -> str:
    host = "127.0.0.1" if plan.host in ("localhost", "0.0.0.0") else plan.host
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}" + (f"/{plan.token}" if plan.token else "")


async def _finish_asking(reasker: Reasker, stop: _Stop, tell: Tell) -> None:
    if not reasker.left and not reasker.flying:
        return
    tell(f"{reasker.left + reasker.flying} re-asks left; interrupt to leave them unasked")
    drain = asyncio.ensure_future(reasker.drain())
    waits = asyncio.ensure_future(stop.asking.wait())
    await asyncio.wait({drain, waits}, return_when="FIRST_COMPLETED")
    waits.cancel()
    if not drain.done():
        await reasker.abandon()
        drain.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await drain
    else:
        drain.result()


def _forever(work: Any) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)


async def _commits(record: Record) -> None:
    while True:
        await asyncio.sleep(COMMIT_S)
        record.journal.commit_soon()


@contextlib.contextmanager
def _signals(stop: _Stop) -> Any:
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows; not the main thread
        yield
        return
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


async def _until_done(
    plan: Plan, here: str, stop: _Stop, environ: Mapping[str, str], tell: Tell
) -> int | None:
    """Return the command's exit code, once it ended; None where somebody ended the session."""
    if not plan.command:
        tell("serving until interrupted (Ctrl-C)")
        await stop.serving.wait()
        return None
    variables = environment(here, plan.targets, environ)
    try:
        stop.child = await asyncio.create_subprocess_exec(*plan.command, env=variables)
    except OSError as error:
        found = f"{plan.command[0]!r}: {error.strerror or error}"
        raise InputError("command", found=found, remedy="give a program after --") from None
    return await stop.child.wait()


@asynccontextmanager
async def listening(handler: Any, host: str, port: int) -> AsyncIterator[int]:
    """Serve a handler while the block runs; gives the port. Raises `InputError` for a taken one.

    The lowest of aiohttp's servers: no routes, no middleware, no form parsing, requests up to
    `LONGEST` bytes; a client that hangs up cancels its handler.
    """

    def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> Any:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=LONGEST
        )

    server = web.Server(
        handler,
        request_factory=request,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
        keepalive_timeout=75,
    )
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_LEAVE_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            found = f"{host}:{port}: {error.strerror or error}"
            raise InputError("--port", found=found, remedy="take another, or 0") from None
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def client() -> aiohttp.ClientSession:
    """Return the client for upstream calls: nothing from the environment, nothing of its own."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=tls_context(), keepalive_timeout=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
    )


async def replaying(plan: Plan, tell: Tell, environ: Mapping[str, str] = os.environ) -> Ended:
    """Serve recorded answers alone: nothing is sent, nothing is recorded."""
    check_host(plan.host, plan.token)
    assert plan.replay is not None
    replay, stop = plan.replay, _Stop(tell)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        found = route(request.path_qs, plan.targets, plan.token)
        if found is None:
            return told(HTTPStatus.NOT_FOUND, "no target has this path", "see --to")
        body, path = await request.read(), found[1].partition("?")[0]
        known = replay.next(request.method, path, body)
        return known or replay.refuse(request.method, path, body)

    with _signals(stop):
        async with listening(handle, plan.host, plan.port) as port:
            here = _here(plan, port)
            tell(f"gateway at {here}: answers from {replay.source} alone")
            code = await _until_done(plan, here, stop, environ, tell)
    return Ended(None, code, replayed=replay.given, unknown=replay.unknown)
