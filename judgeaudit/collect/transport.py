"""The one place where bytes leave the process.

* What is sent is the frozen body, as bytes. After the request is built, the SHA-256 of its content
  is held against the frozen digest; a difference is a `GuardError` and nothing leaves.
* Headers are the frozen ones, `user-agent`, `accept-encoding: identity`, what HTTP needs (`host`,
  `content-length`) and the key's. Nothing comes from the environment: no proxy, no certificate
  file, no netrc, no `OPENAI_*` or `ANTHROPIC_*` variable. Cookies are not kept, redirects not
  followed, failed requests not sent again.
* What came back is kept as it came: raw bytes, never decoded.
* One exception to the constant header set: on the virtual clock a simulated endpoint is told the
  time by `x-judgeaudit-virtual`, since the two share a clock and HTTP carries none. It answers with
  `x-judgeaudit-virtual-latency-ms`. Registrations allow that clock for simulated endpoints only.

httpx builds the request and the reply, aiohttp moves the bytes
(docs/decisions/0007-http-client.md).
The transport is called without `httpx.AsyncClient`, whose cookies, redirects, authentication and
environment are what a frozen request must not meet.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from judgeaudit.canonical import VIRTUAL_HEADER, digest, virtual_header
from judgeaudit.collect.clock import MS, Moment
from judgeaudit.design.addresses import address_fault, full_url
from judgeaudit.design.secrets import secret_in_url
from judgeaudit.errors import GuardError, InputError
from judgeaudit.model import FrozenBody, Outcome, Responsibility
from judgeaudit.version import __version__

USER_AGENT = f"judgeaudit/{__version__}"
LATENCY_HEADER = "x-judgeaudit-virtual-latency-ms"
LONGEST_REPLY = 64 * 1024 * 1024
KEY_LOG = "SSLKEYLOGFILE"
_LONGEST_HEADER = 65536
_LATEST_MS = 366 * 24 * 3600 * 1000.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts in seconds."""

    connect: float = 10.0
    read: float = 120.0
    total: float = 180.0


@dataclass(frozen=True, slots=True)
class Route:
    """The way to one endpoint: where it is now, the headers that carry its key, its timeouts.

    Its `repr` shows no key.
    """

    base_url: str
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if (fault := address_fault(self.base_url)) is not None:
            raise InputError("base_url", "", *fault)
        if secret := secret_in_url(self.base_url):
            remedy = "a key belongs into the environment variable that key_env names"
            raise InputError("base_url", found=f"{secret} in the URL", remedy=remedy)


@dataclass(slots=True)
class Exchange:
    """What is known of one try on the network, filled in as it happens.

    Times are UTC nanoseconds; durations come from a monotonic clock. A failure leaves what was
    known before it.
    """

    sent_at: int | None = None
    received_at: int | None = None
    ttfb_ms: float | None = None
    elapsed_ms: float | None = None
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


class BrokenReply(Exception):
    """A reply that cannot be taken in whole."""


class Transport:
    """Sends frozen bodies. Made and closed within one event loop (`async with`)."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=tls_context(), keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        self._transport = AiohttpTransport(client=self._session, trust_env=False, verify=False)
        self._urls: dict[str, httpx.URL] = {}

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._transport.aclose()

    def build(
        self, route: Route, frozen: FrozenBody, extra: Mapping[str, str] | None = None
    ) -> httpx.Request:
        """Return the request for a frozen body; raises `GuardError` if its bytes are others."""
        url = full_url(route.base_url, frozen.request.path)
        known = self._urls.get(url) or self._urls.setdefault(url, httpx.URL(url))
        request = httpx.Request(
            "POST",
            known,
            headers=[
                *frozen.request.headers,
                ("accept-encoding", "identity"),
                ("user-agent", USER_AGENT),
                *route.secret_headers.items(),
                *(extra or {}).items(),
            ],
            content=frozen.request.body,
            extensions={"timeout": {"connect": route.limits.connect, "read": route.limits.read}},
        )
        check_bytes(request.content, frozen)
        return request

    async def send(
        self,
        route: Route,
        frozen: FrozenBody,
        moment: Moment,
        exchange: Exchange,
        *,
        virtual: tuple[int, int, int] | None = None,
    ) -> None:
        """Send a frozen body once and fill `exchange`.

        `virtual` is (planned time, attempt, load) for a simulated endpoint on the virtual clock.
        Raises `GuardError` before sending; whatever the network raises afterwards (`failure_of`).
        """
        extra = {VIRTUAL_HEADER: virtual_header(*virtual)} if virtual else None
        request = self.build(route, frozen, extra)
        exchange.sent_at = moment.now_ns()
        begun = time.perf_counter_ns()
        try:
            async with asyncio.timeout(route.limits.total):
                await self._exchange(request, exchange, begun)
        finally:
            exchange.elapsed_ms = (time.perf_counter_ns() - begun) / MS
            if virtual:
                _take_virtual_time(exchange, moment)
            if exchange.status is not None:
                exchange.received_at = moment.now_ns()
        if virtual and (exchange.elapsed_ms or 0) > route.limits.total * 1000:
            exchange.status, exchange.body = None, None
            raise TimeoutError("no answer within the registered time, on the virtual clock")

    async def _exchange(self, request: httpx.Request, exchange: Exchange, begun: int) -> None:
        response = await self._transport.handle_async_request(request)
        exchange.ttfb_ms = (time.perf_counter_ns() - begun) / MS
        exchange.status = response.status_code
        exchange.headers = dict(response.headers)
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        chunks: list[bytes] = []
        size = 0
        try:
            async for chunk in stream:
                chunks.append(chunk)
                size += len(chunk)
                if size > LONGEST_REPLY:
                    raise BrokenReply(f"a reply of more than {LONGEST_REPLY} bytes")
        finally:
            exchange.body = b"".join(chunks)
            await stream.aclose()


def check_bytes(content: bytes, frozen: FrozenBody) -> None:
    """Return if `content` is what was frozen; raises `GuardError` naming both digests."""
    found = digest(content)
    if found != frozen.body_sha256:
        raise GuardError(
            f"endpoint {frozen.endpoint}: body to send is {found}, frozen is "
            f"{frozen.body_sha256}; nothing was sent"
        )


def _take_virtual_time(exchange: Exchange, moment: Moment) -> None:
    """Replace real durations, which mean nothing on the virtual clock, by the simulated one."""
    try:
        latency = float(exchange.headers.get(LATENCY_HEADER, "0"))
    except ValueError:
        latency = 0.0
    latency = min(max(latency, 0.0), _LATEST_MS) if math.isfinite(latency) else 0.0
    moment.pass_ns(round(latency * MS))
    exchange.elapsed_ms = latency
    exchange.ttfb_ms = None if exchange.ttfb_ms is None else latency


def failure_of(error: BaseException) -> tuple[Outcome, Responsibility, str]:
    """Return what an exception of `send` means: outcome, whose failing, one line.

    The cause decides where there is one: httpx-aiohttp calls a connection that the server closed
    a `ConnectTimeout`. The line is whole, as a cut before redaction would hide part of a secret.
    """
    cause = error.__cause__ if isinstance(error, httpx.TransportError) else None
    real = cause or error
    line = " ".join(f"{type(real).__name__}: {real}".split()).removesuffix(":")
    if (own := own_failing(error)) is not None:
        return Outcome.CANCELLED, Responsibility.TOOL, own
    if isinstance(real, asyncio.CancelledError | KeyboardInterrupt):
        return Outcome.CANCELLED, Responsibility.USER, "interrupted"
    if isinstance(real, TimeoutError | httpx.TimeoutException):
        return Outcome.TIMEOUT, Responsibility.TRANSPORT, line
    network = (httpx.TransportError, aiohttp.ClientError, OSError, BrokenReply)
    if isinstance(real, network):
        return Outcome.TRANSPORT_ERROR, Responsibility.TRANSPORT, line
    return Outcome.CANCELLED, Responsibility.TOOL, line


OWN = {
    errno.EMFILE: "no file descriptor left: raise `ulimit -n` or register fewer in flight",
    errno.ENFILE: "no file descriptor left on this machine: close what holds them",
    errno.ENOMEM: "no memory left: free some",
    errno.ENOBUFS: "no network buffers left: register fewer in flight",
    errno.ENOSPC: "no space left on the disk: free some",
    errno.EDQUOT: "disk quota reached: free some",
    errno.EADDRNOTAVAIL: "no local port left: register fewer in flight",
}
"""What this machine lacks when its system says so, and what helps; no judge is to blame."""


def own_failing(error: BaseException) -> str | None:
    """Return what this machine lacked, None where it was not the machine."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, MemoryError):
            return OWN[errno.ENOMEM]
        inner = getattr(at, "os_error", at)
        if isinstance(inner, OSError) and inner.errno in OWN:
            return OWN[inner.errno]
        at = at.__cause__ or at.__context__
    return None


def tls_context() -> ssl.SSLContext:
    """Return a context that takes nothing from the environment.

    `ssl.create_default_context` would write each connection's secrets where SSLKEYLOGFILE says.
    """
    kept = os.environ.pop(KEY_LOG, None)
    try:
        return httpx.create_ssl_context(verify=True, trust_env=False)
    finally:
        if kept is not None:
            os.environ[KEY_LOG] = kept
