"""The rules that a journal obeys, applied alike to what is written and to what is read.

1. `open` comes first, once. Nothing follows `seal`.
2. A call's attempts are numbered 1, 2, 3, ... Each is reserved, then ends in one `outcome` or one
   `void` (unresolved) that repeats the reservation's identity field by field. The next is reserved
   only after that: a call is sent twice only where the first outcome is known or given up.
3. A call with an `ok` outcome is never asked again, whatever was read from it.
4. A preflight attempt has no plan index and the condition `preflight`; no other attempt has that
   condition.
5. `skip` gives a call that was never reserved the reason why it has no reading; it stays unsent.
6. `seal` is written when no attempt is open. It repeats the ledger, which must close:
   attempts = responses + transport failures + unresolved.
7. `request` says, in a log without a plan, what a call is about to send. It stands once, before the
   call's first reservation, which names the same bytes.

A record that breaks a rule raises `chain.Broken` and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.evidence.log.chain import Broken
from judgeaudit.evidence.log.records import PREFLIGHT, Kind, Opening, opening_from
from judgeaudit.model import Outcome, Reason


@dataclass(slots=True)
class CallState:
    """How far a call has come. `open` is the JSON identity of a reservation without an outcome."""

    attempts: int = 0
    open: dict[str, Any] | None = None
    last: Outcome | None = None
    unresolved: int = 0


@dataclass(slots=True)
class Tally:
    """A ledger of attempts: how many were reserved and how those that ended did."""

    attempts: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    @property
    def bars(self) -> dict[str, int]:
        """Return the counts of the bars `response`, `transport` and `unresolved`."""
        bars = {"response": 0, "transport": 0, "unresolved": 0}
        for outcome, count in self.outcomes.items():
            bars[outcome.bar] += count
        return bars

    @property
    def closes(self) -> bool:
        """True if attempts = responses + transport failures + unresolved."""
        return self.attempts == sum(self.bars.values())

    def as_json(self, listed: Sequence[str]) -> dict[str, Any]:
        """Return the tally as a manifest prints it; `listed` outcomes are told also where 0."""
        found = {outcome.value: count for outcome, count in self.outcomes.items() if count}
        outcomes = {**dict.fromkeys(listed, 0), **found}
        return {"attempts": self.attempts, **self.bars, "outcomes": outcomes}

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.attempts + other.attempts, self.outcomes + other.outcomes)


@dataclass(slots=True)
class Span:
    """An endpoint's times in a run, in nanoseconds; None where nothing was recorded.

    `last_activity` also counts reservations and sends without a reply, so a gap measured from it
    is never longer than the true one.
    """

    first_sent: int | None = None
    last_received: int | None = None
    last_activity: int | None = None

    def note(self, record: Mapping[str, Any]) -> None:
        """Take in the times of an attempt."""
        sent, received = record.get("sent_at"), record.get("received_at")
        if sent is not None:
            self.first_sent = min(int(sent), self.first_sent or int(sent))
        if received is not None:
            self.last_received = max(int(received), self.last_received or 0)
        times = [int(time) for time in (record["reserved_at"], sent, received) if time is not None]
        self.last_activity = max(*times, self.last_activity or 0)


@dataclass(frozen=True, slots=True)
class Event:
    """Something to remember that is no attempt: preflight result, pause, resume, amendment, ..."""

    name: str
    at: int
    data: Any


class JournalState:
    """What a journal says so far. `apply` takes one record in constant time."""

    def __init__(self, source: object = "journal") -> None:
        self.source = source
        self.opening: Opening | None = None
        self.format: LogFormat = catalogue.TODAY
        self.calls: dict[str, CallState] = {}
        self.lanes: dict[str, list[str]] = {}
        self.skipped: dict[str, Reason] = {}
        self.asked: dict[str, str] = {}
        self.bodies: set[str] = set()
        self.ledger: dict[str, Tally] = {}
        self.preflight: dict[str, Tally] = {}
        self.spans: dict[str, Span] = {}
        self.events: list[Event] = []
        self.missing: dict[str, Reason] = {}
        self.sealed_at: int | None = None

    @property
    def run(self) -> Opening:
        """Return the opening; raises `Broken` while there is none."""
        if self.opening is None:
            raise Broken("no open record")
        return self.opening

    @property
    def sealed(self) -> bool:
        """True once the run is finished."""
        return self.sealed_at is not None

    @property
    def cap_used(self) -> int:
        """Return the attempts reserved for planned calls, retries and failures included."""
        return sum(tally.attempts for tally in self.ledger.values())

    @property
    def preflights(self) -> int:
        """Return the attempts reserved for preflight calls."""
        return sum(tally.attempts for tally in self.preflight.values())

    @property
    def open_attempts(self) -> dict[str, dict[str, Any]]:
        """Return the reservations that have no outcome yet, by call id."""
        return {call_id: call.open for call_id, call in self.calls.items() if call.open}

    def missing_reason(self, endpoint: str, call_id: str) -> Reason | None:
        """Return why a call without an attempt has no reading; None if nothing says so."""
        return self.skipped.get(call_id) or self.missing.get(endpoint)

    def apply(self, record: Mapping[str, Any]) -> None:
        """Take in one record; raises `Broken` if it breaks a rule of this module."""
        try:
            kind = Kind(record["kind"])
            if (kind is Kind.OPEN) is (self.opening is not None):
                raise Broken(f"a journal has one open record, its first; this one is {kind.value}")
            if self.sealed:
                raise Broken(f"a {kind.value} record follows the seal")
            _RULES[kind](self, record)
        except (KeyError, TypeError, ValueError) as error:
            raise Broken(f"malformed record: {type(error).__name__}: {error}") from error

    def _open(self, record: Mapping[str, Any]) -> None:
        said, writer = record["version"], record.get("tool_version")
        self.format = catalogue.log_format(said, catalogue.JOURNAL, self.source, writer)
        self.opening = opening_from(record, self.format)

    def _request(self, record: Mapping[str, Any]) -> None:
        call_id, body = record["call_id"], record["body_sha256"]
        if call_id in self.asked or call_id in self.calls:
            raise Broken(f"call {call_id!r}: what it sends was told before")
        self.asked[call_id] = body
        if record["body"] is not None:
            self.bodies.add(body)

    def _reserve(self, record: Mapping[str, Any]) -> None:
        call_id, attempt, planned = record["call_id"], record["attempt"], record["plan_index"]
        if self.asked.get(call_id, record["body_sha256"]) != record["body_sha256"]:
            raise Broken(f"call {call_id!r}: reserved with other bytes than it asked")
        call = self.calls.get(call_id) or CallState()
        if (planned is None) is not (record["condition"] == PREFLIGHT):
            raise Broken(f"call {call_id!r}: only preflight has no plan index")
        if call_id in self.skipped:
            raise Broken(f"call {call_id!r} was skipped as {self.skipped[call_id].value}")
        if call.open is not None:
            raise Broken(f"call {call_id!r}: attempt {call.attempts} has no outcome yet")
        if call.last is Outcome.OK:
            raise Broken(f"call {call_id!r} is answered and not asked again")
        if attempt != call.attempts + 1:
            raise Broken(f"call {call_id!r}: expected attempt {call.attempts + 1}, got {attempt}")
        identity = {name: record[name] for name in self.format.identity}
        self._span(record["endpoint"]).note(identity)
        call.attempts, call.open = attempt, identity
        self.calls[call_id] = call
        if planned is not None and attempt == 1:
            self.lanes.setdefault(record["endpoint"], []).append(call_id)
        self._tally(record).attempts += 1

    def _outcome(self, record: Mapping[str, Any]) -> None:
        call_id, outcome = record["call_id"], Outcome(record["outcome"])
        call = self.calls.get(call_id)
        if call is None or call.open is None:
            raise Broken(f"call {call_id!r}: {record['kind']} without a reservation")
        if (outcome is Outcome.UNRESOLVED) is not (record["kind"] == Kind.VOID):
            raise Broken(f"call {call_id!r}: a {record['kind']} record cannot say {outcome.value}")
        for name, reserved in call.open.items():
            if record[name] != reserved:
                raise Broken(
                    f"call {call_id!r}: {name} was reserved as {reserved}, got {record[name]}"
                )
        self._span(record["endpoint"]).note(record)
        call.open, call.last = None, outcome
        call.unresolved += outcome is Outcome.UNRESOLVED
        self._tally(record).outcomes[outcome] += 1

    def _skip(self, record: Mapping[str, Any]) -> None:
        call_id, reason = record["call_id"], Reason(record["reason"])
        if call_id in self.calls or call_id in self.skipped:
            raise Broken(f"call {call_id!r} cannot be skipped: it was reserved or skipped before")
        self.skipped[call_id] = reason
        self.lanes.setdefault(record["endpoint"], []).append(call_id)

    def _event(self, record: Mapping[str, Any]) -> None:
        self.events.append(Event(record["name"], int(record["at"]), record["data"]))

    def _seal(self, record: Mapping[str, Any]) -> None:
        if self.open_attempts:
            raise Broken(f"attempts are open: {', '.join(sorted(self.open_attempts)[:5])}")
        ledger, missing = self.ledger_json(), record["missing"]
        if record["ledger"] != ledger:
            raise Broken(f"ledger: the records give {ledger}, the seal says {record['ledger']}")
        if not all(tally.closes for tally in (*self.ledger.values(), *self.preflight.values())):
            raise Broken(f"the ledger does not close: {ledger}")
        self.missing = {endpoint: Reason(reason) for endpoint, reason in missing.items()}
        self.sealed_at = int(record["at"])

    def ledger_json(self) -> dict[str, Any]:
        """Return the ledger as seal record and manifest print it: calls, by endpoint, preflight."""
        listed = self.format.outcomes
        return {
            "calls": sum(self.ledger.values(), Tally()).as_json(listed),
            "endpoints": {name: book.as_json(listed) for name, book in sorted(self.ledger.items())},
            "preflight": sum(self.preflight.values(), Tally()).as_json(listed),
        }

    def _tally(self, record: Mapping[str, Any]) -> Tally:
        book = self.preflight if record["condition"] == PREFLIGHT else self.ledger
        return book.setdefault(record["endpoint"], Tally())

    def _span(self, endpoint: str) -> Span:
        return self.spans.setdefault(endpoint, Span())


_RULES = {
    Kind.OPEN: JournalState._open,
    Kind.REQUEST: JournalState._request,
    Kind.RESERVE: JournalState._reserve,
    Kind.OUTCOME: JournalState._outcome,
    Kind.VOID: JournalState._outcome,
    Kind.SKIP: JournalState._skip,
    Kind.EVENT: JournalState._event,
    Kind.SEAL: JournalState._seal,
}
