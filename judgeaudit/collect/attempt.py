"""One attempt: reserved, sent, recorded. Nothing that was reserved is left without a record.

The order is fixed: guards, reservation on the disk, bytes on the wire, record. A record is made
inside `except BaseException`, so that an interrupted attempt leaves its trace too.

What was received is redacted before anything is read from it. A failing of this machine (no file
descriptor, no memory, no disk) stops the run and is nobody else's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from judgeaudit.canonical import Digest, digest, digest_of
from judgeaudit.collect.clock import NS, Moment, RunClock
from judgeaudit.collect.guards import Breaker, Budget, Cap, cost_of
from judgeaudit.collect.pacing import Pacer, estimated_tokens
from judgeaudit.collect.retrying import DONE, Next, too_long
from judgeaudit.collect.transport import Exchange, Route, Transport, failure_of, own_failing
from judgeaudit.collect.watch import Counts
from judgeaudit.design.document import EndpointSpec, Retry
from judgeaudit.errors import GuardError
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.records import PREFLIGHT, Reservation
from judgeaudit.instrument.provider import CATALOGUE, Classified, Kind, Provider
from judgeaudit.instrument.provider.compressed import codings, readable
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import (
    JSON,
    Attempt,
    FrozenBody,
    Invalid,
    Outcome,
    PlannedCall,
    Reason,
    Reply,
    Responsibility,
    Usage,
)

_LONGEST_LINE = 300
_WORTH_TELLING_MS = 1000
_TOKEN_FIELDS = {name for api in CATALOGUE.values() for name in api.record.token_fields}


@dataclass(slots=True)
class Job:
    """One call to be answered. `call` is None for preflight; `failed` counts earlier failures.

    `ended` says how the last attempt failed: "" for one that got through (an answer, or a refusal
    of this item), None for one that says nothing (interrupted, a client error).
    """

    call_id: str
    call: PlannedCall | None
    frozen: FrozenBody
    condition: str
    attempts: int
    failed: int
    planned_ns: int
    load: int
    worst: Decimal = Decimal(0)
    resolved: int = 0
    ended: str | None = None

    def __post_init__(self) -> None:
        self.resolved = self.failed


@dataclass(slots=True)
class Run:
    """What all lanes of a window share. `halted` says why nothing more may be sent."""

    window: str
    clock: RunClock
    journal: Journal
    transport: Transport
    cap: Cap
    budget: Budget
    on_budget: str
    closes_ns: int
    counts: Counts
    halted: str | None = None
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _canonical: dict[str, Digest] = field(default_factory=dict)

    def halt(self, why: str) -> None:
        """Send nothing more in any lane; the first reason stands."""
        self.halted = self.halted or why
        self._stop.set()

    async def wait(self, seconds: float) -> None:
        """Let `seconds` of the steady clock pass; a halt ends the wait."""
        if self.clock.virtual:
            await self.clock.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), max(0.0, seconds))
        self.note_jumps()

    def note_jumps(self) -> None:
        """Record each jump of the wall clock as an event, and tell it."""
        for jump in self.clock.jumps():
            moved = f"{jump.by_ns / NS:+.1f} s"
            self.journal.event("clock_jump", jump.at_ns, {"by_s": moved})
            self.counts.say(f"the wall clock jumped by {moved}; waits and the window's end do not")

    def ended(self, job: Job) -> None:
        """Note that a planned call needs no more attempts in this run."""
        if job.call is not None and not self.halted:
            self.counts.call_done()

    def skipped(self) -> None:
        """Note that a call was passed over."""
        self.counts.call_done()

    def canonical_sha256(self, frozen: FrozenBody) -> Digest:
        """Return the digest of a body's RFC 8785 form, made once a body."""
        found = self._canonical.get(frozen.body_sha256)
        if found is None:
            found = digest_of(json.loads(frozen.request.body))
            self._canonical[frozen.body_sha256] = found
        return found


@dataclass(frozen=True, slots=True)
class Received:
    """A reply without secrets: its body as it reads, its headers, what its record says of them."""

    body: bytes | Invalid
    headers: dict[str, str]
    fields: dict[str, Any]


@dataclass(slots=True)
class Courier:
    """Carries one endpoint's attempts. `stopped` says why the rest of its calls stay unsent."""

    run: Run
    spec: EndpointSpec
    provider: Provider
    route: Route
    pacer: Pacer
    breaker: Breaker
    policy: Retry
    rules: Rules = CURRENT
    stopped: Reason | None = None
    in_flight: int = 0
    last_error: str | None = None
    last_model: str | None = None
    _told: set[str] = field(default_factory=set)

    @property
    def open(self) -> bool:
        """True while this lane may send."""
        return self.stopped is None and self.run.halted is None

    @property
    def priced(self) -> bool:
        """True where a call has a price."""
        return bool(self.spec.prices.prompt or self.spec.prices.completion)

    def worst_cost(self, frozen: FrozenBody) -> Decimal:
        """Return the most that one attempt can cost, by estimate."""
        longest = max_tokens(frozen)
        prompt = estimated_tokens(len(frozen.request.body), 0)
        return cost_of(self.spec.prices, Usage(prompt=prompt, completion=longest))

    async def pace(self) -> None:
        """Wait for the endpoint's limits; on the virtual clock the plan's steps keep them."""
        clock = self.run.clock
        if not clock.virtual and (delay := self.pacer.delay_ns(clock.steady_ns())):
            await self.run.wait(min(delay, max(0, self.run.closes_ns - clock.steady_ns())) / NS)

    async def attempt(self, job: Job, moment: Moment) -> Next:
        """Try a call once and return what to do next; raises what is no failure of the network."""
        if job.resolved > job.failed:
            await self.pace()
        if not self._may_send(job, moment):
            return DONE
        exchange = Exchange()
        job.attempts += 1
        reservation = self._reservation(job, moment)
        self.in_flight += 1
        flying = self.in_flight
        try:
            await self.run.journal.reserve(reservation)
            await self._send(job, moment, exchange)
        except BaseException as error:
            known = self.run.journal.state.calls.get(job.call_id)
            if known is not None and known.open is not None:
                self._record_failure(job, reservation, exchange, flying, error)
            if (why := own_failing(error)) is not None and not isinstance(error, GuardError):
                self.run.halt(f"this machine: {why}")
                return DONE
            if failure_of(error)[0] is Outcome.CANCELLED:
                raise
            job.resolved += 1
            return Next(again=True)
        finally:
            self.in_flight -= 1
        return self._record_reply(job, reservation, exchange, flying, moment)

    def _may_send(self, job: Job, moment: Moment) -> bool:
        """Hold every guard; a guard that refuses closes the lane, so that order is kept."""
        if not self.open:
            return False
        if job.call is None:
            return True
        if moment.steady_ns() >= self.run.closes_ns:
            self.stopped = Reason.WINDOW_CLOSED
        elif not self.run.budget.reserve(job.worst):
            self._budget_reached()
        elif not self.run.cap.reserve():
            self.run.budget.settle(job.worst, Decimal(0))
            self.stopped = Reason.CAP_REACHED
        return self.open

    def _budget_reached(self) -> None:
        if self.run.on_budget == "close":
            self.stopped = Reason.CAP_REACHED
        else:
            spent, limit = self.run.budget.spent, self.run.budget.limit
            self.run.halt(f"budget: {spent:.4f} of {limit} spent; the next call might exceed it")

    async def _send(self, job: Job, moment: Moment, exchange: Exchange) -> None:
        virtual = (job.planned_ns, job.resolved + 1, job.load) if moment.virtual else None
        await self.run.transport.send(self.route, job.frozen, moment, exchange, virtual=virtual)

    def _reservation(self, job: Job, moment: Moment) -> Reservation:
        canonical = self.run.canonical_sha256(job.frozen)
        if job.call is None:
            return Reservation.preflight(
                self.spec.id,
                call_id=job.call_id,
                attempt=job.attempts,
                window=self.run.window,
                body_sha256=job.frozen.body_sha256,
                canonical_sha256=canonical,
                reserved_at=moment.now_ns(),
            )
        return Reservation.of(
            job.call,
            attempt=job.attempts,
            body_sha256=job.frozen.body_sha256,
            canonical_sha256=canonical,
            reserved_at=moment.now_ns(),
        )

    def _record_failure(
        self,
        job: Job,
        reservation: Reservation,
        exchange: Exchange,
        flying: int,
        error: BaseException,
    ) -> None:
        outcome, responsibility, line = failure_of(error)
        job.ended = None if outcome is Outcome.CANCELLED else outcome.value
        line = self.run.journal.redactor.text(line)[:_LONGEST_LINE]
        known = attempt_of(reservation, exchange, flying, outcome, line, responsibility)
        self._write(job, known, Usage())

    def _record_reply(
        self,
        job: Job,
        reservation: Reservation,
        exchange: Exchange,
        flying: int,
        moment: Moment,
    ) -> Next:
        received, status = self._redacted(exchange), exchange.status or 0
        found, reply = self._read(status, received, moment)
        outcome, error, responsibility = judged(status, found, reply)
        refusal = self._refused_wait(job, found, moment)
        error = f"{error}; {refusal}, not tried again" if refusal else error
        usage = reply.usage if isinstance(reply, Reply) else Usage()
        known = attempt_of(reservation, exchange, flying, outcome, error, responsibility)
        self._write(job, with_reply(known | received.fields, received, found, reply), usage)
        self.breaker.note(status, found)
        job.ended = _ended(status, outcome, found, error)
        if self.breaker.why is not None:
            self.run.halt(self.breaker.why)
        if found.kind is not Kind.RETRY or refusal:
            return DONE
        job.resolved += 1
        if found.retry_after_ms:
            self._hold(found, moment)
        return Next(again=True, retry_after_ms=found.retry_after_ms)

    def _redacted(self, exchange: Exchange) -> Received:
        """Return a reply without secrets; from here on nothing else is looked at."""
        redactor, body = self.run.journal.redactor, exchange.body or b""
        stored, hidden = redactor.received(body, exchange.headers)
        headers = redactor.headers(exchange.headers)
        if (named := codings(headers)) and "packed" not in self._told:
            self._told.add("packed")
            known: dict[str, JSON] = {"endpoint": self.spec.id, "codings": list(named)}
            self.run.journal.event("compressed", exchange.received_at or 0, known)
        fields = {"response_body": stored, "response_headers": headers, "redacted": hidden}
        if hidden:
            fields["received_sha256"] = digest(body)
        return Received(readable(stored, headers), headers, fields)

    def _read(
        self, status: int, received: Received, moment: Moment
    ) -> tuple[Classified, Reply | Invalid | None]:
        body, success = received.body, 200 <= status < 300
        if isinstance(body, Invalid):
            if success:
                return Classified(Kind.FINAL), body
            body = b""
        reply = self.provider.read(body, self.rules) if success else None
        if isinstance(reply, Reply):
            return Classified(Kind.FINAL), reply
        now = moment.now_ns()
        found = self.provider.classify(status, received.headers, body, now_ns=now)
        return found, reply if found.kind is Kind.FINAL else None

    def _refused_wait(self, job: Job, found: Classified, moment: Moment) -> str | None:
        """Return why the wait that a server asks for is not begun; None where it is."""
        if found.kind is not Kind.RETRY:
            return None
        left = self.run.closes_ns - moment.steady_ns()
        refusal = too_long(self.policy, found.retry_after_ms, left)
        if refusal is not None:
            self.run.counts.say(f"endpoint {self.spec.id}: {refusal}; call {job.call_id} ends")
        return refusal

    def _hold(self, found: Classified, moment: Moment) -> None:
        """Hold the endpoint back as asked, and tell it where it takes a while."""
        wait = found.retry_after_ms or 0
        if self.pacer.hold(moment.steady_ns(), wait) and wait >= _WORTH_TELLING_MS:
            said = f": {found.detail}" if found.detail else ""
            self.run.counts.say(
                f"endpoint {self.spec.id}: waits {wait / 1000:.0f} s as asked{said}"
            )

    def call_ended(self, job: Job) -> None:
        """Let the breaker know how a planned call ended."""
        if job.call is None or job.ended is None:
            return
        if job.ended:
            self.breaker.lose(job.call_id, job.ended)
        else:
            self.breaker.replied()
        if self.breaker.why is not None:
            self.run.halt(self.breaker.why)

    def _write(self, job: Job, fields: dict[str, Any], usage: Usage) -> None:
        cost = cost_of(self.spec.prices, usage)
        if job.condition != PREFLIGHT:
            self.run.budget.settle(job.worst, cost)
        else:
            self.run.budget.spent += cost
        stored = self.run.journal.outcome(Attempt(**fields))
        self.last_error, self.last_model = stored.error, stored.model_returned
        self.run.counts.attempt_done(fields["outcome"], cost)
        self.run.note_jumps()


def max_tokens(frozen: FrozenBody) -> int:
    """Return the longest answer that a body allows, in tokens; 0 where it says nothing."""
    body = json.loads(frozen.request.body)
    found = (body.get(name) for name in _TOKEN_FIELDS)
    return max((value for value in found if isinstance(value, int)), default=0)


def judged(
    status: int, found: Classified, reply: Reply | Invalid | None
) -> tuple[Outcome, str | None, Responsibility | None]:
    """Return an attempt's outcome, its error in one line, and whose failing it was."""
    if isinstance(reply, Reply):
        return Outcome.OK, None, None
    if isinstance(reply, Invalid):
        return Outcome.BAD_BODY, reply.detail, Responsibility.PROVIDER
    error = f"HTTP {status}" + (f": {found.detail}" if found.detail else "")
    return Outcome.HTTP_ERROR, error, found.responsibility


def _ended(status: int, outcome: Outcome, found: Classified, error: str | None) -> str | None:
    if outcome is Outcome.OK or found.about:
        return ""
    if outcome is Outcome.BAD_BODY or found.kind is Kind.RETRY or status >= 500:
        return error or outcome.value
    return None


def attempt_of(
    reservation: Reservation,
    exchange: Exchange,
    flying: int,
    outcome: Outcome,
    error: str | None,
    responsibility: Responsibility | None,
) -> dict[str, Any]:
    """Return an attempt's fields as far as its reservation and the network know them."""
    return {
        "call_id": reservation.call_id,
        "attempt": reservation.attempt,
        "endpoint": reservation.endpoint,
        "condition": reservation.condition,
        "window": reservation.window,
        "repeat": reservation.repeat,
        "body_sha256": reservation.body_sha256,
        "canonical_sha256": reservation.canonical_sha256,
        "reserved_at": reservation.reserved_at,
        "sent_at": exchange.sent_at,
        "received_at": exchange.received_at,
        "ttfb_ms": exchange.ttfb_ms,
        "elapsed_ms": exchange.elapsed_ms,
        "in_flight": flying,
        "status": exchange.status,
        "outcome": outcome,
        "error": error,
        "responsibility": responsibility,
        "response_body": exchange.body,
        "response_headers": exchange.headers,
    }


def with_reply(
    fields: dict[str, Any], received: Received, found: Classified, reply: Reply | Invalid | None
) -> dict[str, Any]:
    """Return an attempt's fields with what the reply reported."""
    headers = received.headers
    fields["retry_after_ms"] = found.retry_after_ms
    fields["request_id"] = headers.get("x-request-id") or headers.get("request-id")
    if isinstance(reply, Reply):
        fields |= {
            "model_returned": reply.model,
            "fingerprint": reply.fingerprint,
            "service_tier": reply.service_tier,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.usage.prompt,
            "completion_tokens": reply.usage.completion,
            "cached_tokens": reply.usage.cached,
            "reasoning_tokens": reply.usage.reasoning,
        }
    return fields
