"""One attempt: reserved, sent, recorded. Nothing that was reserved is left without a record.

The order is fixed: guards, reservation on the disk, bytes on the wire, record. A record is made
inside `except BaseException`, so that an interrupted attempt leaves its trace too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from judgeaudit.canonical import Digest, digest_of
from judgeaudit.collect.clock import NS, Moment, RunClock
from judgeaudit.collect.guards import Breaker, Budget, Cap, cost_of
from judgeaudit.collect.pacing import Pacer, estimated_tokens
from judgeaudit.collect.retrying import DONE, Next
from judgeaudit.collect.transport import Exchange, Route, Transport, failure_of
from judgeaudit.collect.watch import Counts
from judgeaudit.design.document import EndpointSpec
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.records import PREFLIGHT, Reservation
from judgeaudit.instrument.provider import CATALOGUE, Classified, Kind, Provider
from judgeaudit.model import (
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

_TOKEN_FIELDS = {name for api in CATALOGUE.values() for name in api.record.token_fields}


@dataclass(slots=True)
class Job:
    """One call to be answered. `call` is None for preflight; `failed` counts earlier failures."""

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
    _canonical: dict[str, Digest] = field(default_factory=dict)

    def halt(self, why: str) -> None:
        """Send nothing more in any lane; the first reason stands."""
        self.halted = self.halted or why

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


@dataclass(slots=True)
class Courier:
    """Carries one endpoint's attempts. `stopped` says why the rest of its calls stay unsent."""

    run: Run
    spec: EndpointSpec
    provider: Provider
    route: Route
    pacer: Pacer
    breaker: Breaker
    stopped: Reason | None = None
    in_flight: int = 0
    last_error: str | None = None

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
        if not clock.virtual and (delay := self.pacer.delay_ns(clock.now_ns())):
            await clock.sleep(delay / NS)

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
        if moment.now_ns() >= self.run.closes_ns:
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
        status, body = exchange.status or 0, exchange.body or b""
        found = self.provider.classify(status, exchange.headers, body, now_ns=moment.now_ns())
        reply = self.provider.read(body) if found.kind is Kind.FINAL else None
        outcome, error, responsibility = judged(status, found, reply)
        usage = reply.usage if isinstance(reply, Reply) else Usage()
        known = attempt_of(reservation, exchange, flying, outcome, error, responsibility)
        self._write(job, with_reply(known, exchange, found, reply), usage)
        # What the breaker says is printed: the detail as it was stored, where no key is left.
        stored = (self.last_error or "").removeprefix(f"HTTP {status}").removeprefix(": ")
        self.breaker.note(status, replace(found, detail=stored))
        if self.breaker.why is not None:
            self.run.halt(self.breaker.why)
        if found.kind is Kind.RETRY:
            job.resolved += 1
            if found.retry_after_ms:
                self.pacer.hold(moment.now_ns(), found.retry_after_ms)
            return Next(again=True, retry_after_ms=found.retry_after_ms)
        return DONE

    def _write(self, job: Job, fields: dict[str, Any], usage: Usage) -> None:
        cost = cost_of(self.spec.prices, usage)
        if job.condition != PREFLIGHT:
            self.run.budget.settle(job.worst, cost)
        else:
            self.run.budget.spent += cost
        self.last_error = self.run.journal.outcome(Attempt(**fields)).error
        self.run.counts.attempt_done(fields["outcome"], cost)


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
    fields: dict[str, Any], exchange: Exchange, found: Classified, reply: Reply | Invalid | None
) -> dict[str, Any]:
    """Return an attempt's fields with what the reply reported."""
    headers = exchange.headers
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
