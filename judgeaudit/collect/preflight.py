"""What is tried before a window's first call: the tool's own honesty, then the way there.

* Echo: one frozen body goes to a server on this machine that keeps what arrives. The bytes that
  arrived must equal the frozen ones; nothing but the registered headers may have come with them.
* Preflight: one call an endpoint, on the ledger and never analysed. Where it fails, the run pauses
  before a planned call is spent. What is no answer is asked for once more, with another item where
  there is one: an answer may have been cut on the way, a request refused for what one item says.
  Twice in a row, the way is not open. A refusal that speaks of the item alone shows that it is.
* A reply that names another model than the registered one is told here, before a planned call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from judgeaudit.canonical import digest
from judgeaudit.collect.attempt import Courier, Job
from judgeaudit.collect.clock import RealClock
from judgeaudit.collect.retrying import with_retries
from judgeaudit.collect.transport import Exchange, Limits, Route, Transport
from judgeaudit.design.identity import is_registered
from judgeaudit.errors import GuardError
from judgeaudit.evidence.log.records import PREFLIGHT
from judgeaudit.model import JSON, FrozenBody, Outcome

SENT_HEADERS = frozenset({"host", "content-length", "user-agent", "accept-encoding"})
_ECHO_LIMITS = Limits(connect=5, read=5, total=10)


@dataclass(slots=True)
class Arrived:
    """One request as it came off the wire."""

    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


async def echo(transport: Transport, frozen: FrozenBody) -> dict[str, JSON]:
    """Send a frozen body to this machine and return what arrived, for the log.

    Raises `GuardError` if the bytes or the header names differ from what is frozen.
    """
    arrived = Arrived()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _take(reader, arrived)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        route = Route(f"http://127.0.0.1:{port}", limits=_ECHO_LIMITS)
        await transport.send(route, frozen, RealClock(), Exchange())
    return compare(arrived, frozen)


async def _take(reader: asyncio.StreamReader, arrived: Arrived) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    for line in head.split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            arrived.headers.append((name.lower(), value.strip()))
    length = int(dict(arrived.headers).get("content-length", "0"))
    arrived.body = await reader.readexactly(length)


def compare(arrived: Arrived, frozen: FrozenBody) -> dict[str, JSON]:
    """Return the echo's record; raises `GuardError` where anything but the frozen came through."""
    found = digest(arrived.body)
    if found != frozen.body_sha256:
        raise GuardError(
            f"echo: body arrived as {found}, frozen is {frozen.body_sha256}; nothing was sent"
        )
    expected = SENT_HEADERS | {name for name, _ in frozen.request.headers}
    names = [name for name, _ in arrived.headers]
    if sorted(names) != sorted(expected):
        strangers = sorted(set(names) ^ expected) or sorted(names)
        raise GuardError(
            f"echo: headers differ from the registered ones: {', '.join(strangers)}; "
            "nothing was sent"
        )
    return {"endpoint": frozen.endpoint, "body_sha256": found, "headers": sorted(names)}


async def preflight(courier: Courier, bodies: Sequence[FrozenBody], start_ns: int) -> None:
    """Make the one unanalysed call of an endpoint; halts the run where the way is not open.

    `bodies` are the first to be asked, different ones: a refusal of one item's text shows that the
    way is open, and so does an answer to the second after the first was refused as it stands.
    """
    call_id = f"{PREFLIGHT}:{courier.spec.id}:{courier.run.window}"
    states = courier.run.journal.state.calls
    if (known := states.get(call_id)) is not None and known.last is Outcome.OK:
        return
    job = None
    for frozen in (bodies[0], bodies[-1]):
        job = await _try(courier, call_id, frozen, start_ns)
        if job.ended == "" or not courier.open:
            break
    if job is not None and job.ended != "":
        why = courier.last_error or "not sent"
        courier.run.halt(f"endpoint {courier.spec.id}: preflight failed: {why}")
    _tell_model(courier)


def _tell_model(courier: Courier) -> None:
    """Say, and record, that the endpoint names a model that is not the registered one."""
    spec, name, run = courier.spec, courier.last_model, courier.run
    if name is None or is_registered(spec, name):
        return
    known = {"endpoint": spec.id, "registered": spec.model, "returned": name}
    run.journal.event("other_model", run.clock.now_ns(), known)
    run.counts.say(
        f"endpoint {spec.id}: the reply names model {name!r}, registered is {spec.model!r}; "
        "verdicts will be barred unless the name stands under endpoints.identity.served"
    )


async def _try(courier: Courier, call_id: str, frozen: FrozenBody, start_ns: int) -> Job:
    """Make the preflight call, with the retries that the policy allows; returns how it ended."""
    known = courier.run.journal.state.calls.get(call_id)
    job = Job(
        call_id=call_id,
        call=None,
        frozen=frozen,
        condition=PREFLIGHT,
        attempts=known.attempts if known else 0,
        failed=0,
        planned_ns=start_ns,
        load=1,
    )
    moment = courier.run.clock.at(start_ns)
    await with_retries(
        lambda: courier.attempt(job, moment),
        policy=courier.policy,
        call_id=call_id,
        failed=0,
        moment=moment,
        closes_ns=courier.run.closes_ns,
        sleep=None if moment.virtual else courier.run.wait,
    )
    return job
