"""Requests and replies, unchanged, both ways; every one in the log.

* What arrives goes on as it is: method, path, query, body bytes, headers in their order. Left out
  is what belongs to one connection (`headers`).
* A streamed reply is passed on piece by piece; its last piece, the one with the API's end mark, is
  held until the reply has ended and is recorded. Any other reply is recorded, then passed on whole.
* What the upstream does to its connection is done to the client's: where it cannot be reached, or
  breaks off, the client's connection is closed, so that its SDK does what it would have done.
* A client that hangs up ends the upstream call, as it would have without a gateway.
* No time limits here: the client's hold.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

import aiohttp
from aiohttp import web
from yarl import URL

from judgeaudit.canonical import body_bytes
from judgeaudit.collect.clock import MS
from judgeaudit.errors import GuardError
from judgeaudit.gateway import headers as heads
from judgeaudit.gateway.address import Target, route
from judgeaudit.gateway.record import Record, Ticket
from judgeaudit.instrument.spoken import is_stream, stream_ends
from judgeaudit.model import Attempt

LONGEST = 64 * 1024 * 1024
HELD_S = 1.0
"""How long the last piece of a stream waits for the stream's end."""


@dataclass(slots=True)
class Sent:
    """A request as it goes upstream, kept for asking again; its key is in memory alone."""

    target: Target
    method: str
    url: str
    headers: heads.Pairs
    body: bytes

    def __repr__(self) -> str:
        """Show no header."""
        return f"Sent({self.method} {self.target.name}, {len(self.body)} bytes)"


class Answers(Protocol):
    """Recorded answers; what they do not hold goes upstream."""

    def next(self, method: str, path: str, body: bytes) -> web.Response | None:
        """Return the next answer to a request, None where there is none."""
        ...


Answered = Callable[[Ticket, Sent, Attempt], None]
"""Called after each reply of the harness's own calls, once it is recorded."""


@dataclass(slots=True)
class Load:
    """How many of the harness's calls are under way, and the most there were."""

    flying: int = 0
    peak: int = 0
    calls: int = 0

    def enter(self) -> None:
        """Count a call that begins."""
        self.flying += 1
        self.calls += 1
        self.peak = max(self.peak, self.flying)

    def leave(self) -> None:
        """Count a call that ended."""
        self.flying -= 1


class Proxy:
    """The gateway's handler. `system` names the header, or finds in the body, what is judged."""

    def __init__(
        self,
        record: Record,
        targets: Sequence[Target],
        session: aiohttp.ClientSession,
        answered: Answered,
        *,
        token: str = "",
        system: Callable[[heads.Pairs, bytes], str | None] | None = None,
        replay: Answers | None = None,
    ) -> None:
        self.record, self.load = record, Load()
        self._replay = replay
        self._targets, self._session, self._answered = targets, session, answered
        self._token, self._system = token, system
        self.failure: GuardError | None = None

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass one request on and its reply back."""
        found = route(request.path_qs, self._targets, self._token)
        if found is None:
            return told(HTTPStatus.NOT_FOUND, "no target has this path", "see --to and --token-env")
        if self.failure is not None:
            return told(HTTPStatus.SERVICE_UNAVAILABLE, str(self.failure), "nothing was sent")
        target, path = found
        body = await request.read()
        pairs = heads.passed_on(request.raw_headers)
        bare, _, query = path.partition("?")
        if self._replay is not None:
            known = self._replay.next(request.method, bare, body)
            if known is not None:
                return known
        self.record.learn(heads.secrets_in(pairs, query))
        sent = Sent(target, request.method, target.origin + path, pairs, body)
        system = None if self._system is None else self._system(pairs, body)
        try:
            ticket = self.record.arrive(
                target.name, request.method, bare, heads.stored(pairs), body, time.time_ns(), system
            )
        except GuardError as error:
            self.failure = error
            return told(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "nothing was sent")
        self.load.enter()
        ticket.flying = self.load.flying
        try:
            return await self._exchange(request, ticket, sent)
        finally:
            self.load.leave()

    async def _exchange(
        self, request: web.BaseRequest, ticket: Ticket, sent: Sent
    ) -> web.StreamResponse:
        begun = time.perf_counter_ns()
        try:
            async with open_reply(self._session, sent, ticket) as reply:
                if is_stream(ticket.exchange.headers):
                    return await self._stream(request, reply, ticket, sent, begun)
                ticket.exchange.body = await whole_body(reply)
                ended(ticket, begun)
                self._done(ticket, sent)
            back = heads.returned(reply.raw_headers)
            response = web.Response(
                status=reply.status, reason=reply.reason, body=ticket.exchange.body
            )
            _set_headers(response, back)
            return response
        except asyncio.CancelledError:
            if ticket.attempt is None:
                ended(ticket, begun)
                self.record.hung_up(ticket)
            raise
        except GuardError as error:
            self.failure = error
            return told(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "nothing more is sent")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            if ticket.attempt is None:
                ended(ticket, begun)
                self.record.fail(ticket, error)
            return _cut(request)

    async def _stream(
        self,
        request: web.BaseRequest,
        reply: aiohttp.ClientResponse,
        ticket: Ticket,
        sent: Sent,
        begun: int,
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, reason=reply.reason)
        _set_headers(response, heads.returned(reply.raw_headers))
        await response.prepare(request)
        pieces: list[bytes] = []
        held: list[bytes] = []
        try:
            while True:
                wait = HELD_S if held else None
                try:
                    async with asyncio.timeout(wait):
                        piece = await reply.content.readany()
                except TimeoutError:
                    await _write(response, held)
                    continue
                if not piece:
                    break
                pieces.append(piece)
                if held or stream_ends(ticket.api, piece):
                    held.append(piece)
                else:
                    await response.write(piece)
        except BaseException:
            ticket.exchange.body = b"".join(pieces)
            raise
        ticket.exchange.body = b"".join(pieces)
        ended(ticket, begun)
        self._done(ticket, sent)
        await _write(response, held)
        await response.write_eof()
        return response

    def _done(self, ticket: Ticket, sent: Sent) -> None:
        attempt = self.record.answer(ticket, time.time_ns())
        self._answered(ticket, sent, attempt)


async def _write(response: web.StreamResponse, held: list[bytes]) -> None:
    pieces, held[:] = held[:], []
    for piece in pieces:
        await response.write(piece)


def open_reply(session: aiohttp.ClientSession, sent: Sent, ticket: Ticket) -> _Opened:
    """Send a request; what comes back is noted on the ticket as soon as its headers are there."""
    return _Opened(session, sent, ticket)


class _Opened:
    """An upstream reply, open while the block runs."""

    def __init__(self, session: aiohttp.ClientSession, sent: Sent, ticket: Ticket) -> None:
        self._session, self._sent, self._ticket = session, sent, ticket
        self._reply: aiohttp.ClientResponse

    async def __aenter__(self) -> aiohttp.ClientResponse:
        exchange, begun = self._ticket.exchange, time.perf_counter_ns()
        exchange.sent_at = time.time_ns()
        # `encoded=True`: a path goes on as it was written, no part of it is quoted anew.
        self._reply = await self._session.request(
            self._sent.method,
            URL(self._sent.url, encoded=True),
            headers=self._sent.headers,
            data=self._sent.body or None,
            allow_redirects=False,
        )
        exchange.ttfb_ms = (time.perf_counter_ns() - begun) / MS
        exchange.status = self._reply.status
        pairs = (
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in self._reply.raw_headers
        )
        exchange.headers = dict(heads.lower(pairs))
        return self._reply

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._reply.release()
        else:
            self._reply.close()


async def whole_body(reply: aiohttp.ClientResponse) -> bytes:
    """Return a reply's bytes as they came; raises `ClientPayloadError` for one without an end."""
    return await reply.read()


def ended(ticket: Ticket, begun: int) -> None:
    """Note when a call ended."""
    ticket.exchange.elapsed_ms = (time.perf_counter_ns() - begun) / MS
    if ticket.exchange.status is not None:
        ticket.exchange.received_at = time.time_ns()


def told(status: HTTPStatus, found: str, remedy: str) -> web.Response:
    """Return the gateway's own answer, in the form in which APIs tell an error."""
    error = {"message": f"judgeaudit gateway: {found}; {remedy}", "type": "judgeaudit_gateway"}
    document = body_bytes({"error": {**error, "code": None, "param": None}})
    return web.Response(status=status, body=document, content_type="application/json")


def _set_headers(response: web.StreamResponse, pairs: heads.Pairs) -> None:
    """Give a reply the upstream's headers, and none of our own."""
    for name, value in pairs:
        response.headers.add(name, value)


def _cut(request: web.BaseRequest) -> web.StreamResponse:
    """Close the client's connection as the upstream closed ours."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=HTTPStatus.BAD_GATEWAY)
