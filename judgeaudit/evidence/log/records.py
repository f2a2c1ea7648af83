"""What a journal line can say, as values, and their form in JSON.

JSON has no bytes, and RFC 8785 no integers beyond 2^53. So in a record times (nanoseconds) are
decimal strings, durations (floats, milliseconds) the shortest string that reads back the same,
and bodies base64. `attempt_payload` and `attempt_from` are inverse to each other.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.model import Attempt, Outcome, PlannedCall, Responsibility

PREFLIGHT = "preflight"
"""The condition of an attempt that belongs to no planned call: on the ledger, never analysed."""


class Kind(StrEnum):
    """What a record does."""

    OPEN = "open"
    REQUEST = "request"
    RESERVE = "reserve"
    OUTCOME = "outcome"
    VOID = "void"
    SKIP = "skip"
    EVENT = "event"
    SEAL = "seal"


@dataclass(frozen=True, slots=True)
class Opening:
    """The first record of a journal: which run this is and what it stands on.

    `previous_manifest` is the digest of the last sealed run's manifest when the run began (None
    for the first), `clock` is `utc` or `virtual`.
    """

    run: str
    window: str
    stage: int
    lock_digest: str
    previous_manifest: str | None
    tool_version: str
    host: str
    pid: int
    clock: str
    opened_at: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """The right to send one attempt. Its record is durable before a byte leaves.

    `plan_index` is None for a preflight call, whose condition is `PREFLIGHT`.
    """

    call_id: str
    attempt: int
    plan_index: int | None
    endpoint: str
    condition: str
    window: str
    repeat: int
    body_sha256: str
    canonical_sha256: str
    reserved_at: int

    @classmethod
    def of(
        cls,
        call: PlannedCall,
        *,
        attempt: int,
        body_sha256: str,
        canonical_sha256: str,
        reserved_at: int,
    ) -> Reservation:
        """Return the reservation of a planned call's attempt (numbered from 1)."""
        return cls(
            call.call_id,
            attempt,
            call.plan_index,
            call.endpoint,
            call.condition,
            call.window,
            call.repeat,
            body_sha256,
            canonical_sha256,
            reserved_at,
        )

    @classmethod
    def preflight(
        cls,
        endpoint: str,
        *,
        call_id: str,
        attempt: int,
        window: str,
        body_sha256: str,
        canonical_sha256: str,
        reserved_at: int,
    ) -> Reservation:
        """Return the reservation of a call that tests the way to an endpoint."""
        return cls(
            call_id,
            attempt,
            None,
            endpoint,
            PREFLIGHT,
            window,
            0,
            body_sha256,
            canonical_sha256,
            reserved_at,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call of a log without a plan sends: its record stands before the call's reservation.

    `path` holds no query, `headers` are those that may be stored. `api` is the API that is spoken,
    None where it is not known; `shape` names what all calls of that form share. `body` is None
    where the same bytes were asked before in this journal, and where they are too long to keep.
    `system` is what the harness says it judges; `origin` the call that is asked again.
    """

    call_id: str
    at: int
    method: str
    path: str
    api: str | None
    shape: str
    body_sha256: str
    body: bytes | None
    redacted: bool
    headers: Mapping[str, str]
    system: str | None = None
    origin: str | None = None


def asked_payload(asked: Asked) -> dict[str, Any]:
    """Return the JSON form of what a call sends."""
    payload = asdict(asked)
    payload["at"] = str(asked.at)
    if asked.body is not None:
        payload["body"] = base64.b64encode(asked.body).decode("ascii")
    return payload


def asked_from(record: Mapping[str, Any]) -> Asked:
    """Return what a request record holds; raises KeyError or ValueError if it holds none."""
    values = {field.name: record[field.name] for field in fields(Asked)}
    values["at"] = int(values["at"])
    if values["body"] is not None:
        values["body"] = base64.b64decode(values["body"], validate=True)
    return Asked(**values)


IDENTITY = (
    "call_id",
    "attempt",
    "endpoint",
    "condition",
    "window",
    "repeat",
    "body_sha256",
    "canonical_sha256",
    "reserved_at",
)
"""What an outcome repeats from its reservation, field by field."""

TIMES = ("reserved_at", "sent_at", "received_at")
DURATIONS = ("ttfb_ms", "elapsed_ms")
ATTEMPT_FIELDS = tuple(field.name for field in fields(Attempt))


def opening_payload(opening: Opening, log: LogFormat) -> dict[str, Any]:
    """Return the JSON form of an opening, which names the journal's format."""
    told = {**asdict(opening), "opened_at": str(opening.opened_at)}
    return {**{name: told[name] for name in log.opening}, "version": log.journal_version}


def opening_from(record: Mapping[str, Any], log: LogFormat) -> Opening:
    """Return the opening that a record holds; raises KeyError or ValueError if it holds none."""
    values = {name: record[name] for name in log.opening}
    return Opening(**{**values, "opened_at": int(record["opened_at"])})


def reservation_payload(reservation: Reservation, log: LogFormat) -> dict[str, Any]:
    """Return the JSON form of a reservation."""
    payload = {name: getattr(reservation, name) for name in log.identity}
    payload["plan_index"] = reservation.plan_index
    payload["reserved_at"] = str(reservation.reserved_at)
    return payload


def attempt_payload(attempt: Attempt, log: LogFormat) -> dict[str, Any]:
    """Return the JSON form of an attempt, all the fields of its journal's format."""
    payload = {name: getattr(attempt, name) for name in log.attempt}
    for name in TIMES:
        if payload[name] is not None:
            payload[name] = str(payload[name])
    for name in DURATIONS:
        if payload[name] is not None:
            payload[name] = repr(float(payload[name]))
    if attempt.response_body is not None:
        payload["response_body"] = base64.b64encode(attempt.response_body).decode("ascii")
    payload["response_headers"] = dict(attempt.response_headers)
    return payload


def attempt_from(record: Mapping[str, Any], log: LogFormat) -> Attempt:
    """Return the attempt that an outcome or void record holds."""
    values = {name: record[name] for name in log.attempt}
    for name in TIMES:
        if values[name] is not None:
            values[name] = int(values[name])
    for name in DURATIONS:
        if values[name] is not None:
            values[name] = float(values[name])
    if values["response_body"] is not None:
        values["response_body"] = base64.b64decode(values["response_body"], validate=True)
    values["outcome"] = Outcome(values["outcome"])
    if values["responsibility"] is not None:
        values["responsibility"] = Responsibility(values["responsibility"])
    return Attempt(**values)


def unresolved(reserved: Mapping[str, Any], error: str) -> Attempt:
    """Return the attempt of a reservation whose outcome nobody recorded.

    `reserved` holds the identity in its JSON form. Whether bytes left is not known.
    """
    known = dict(reserved)
    known["reserved_at"] = int(known["reserved_at"])
    unknown: dict[str, Any] = dict.fromkeys(
        ("sent_at", "received_at", "ttfb_ms", "elapsed_ms", "in_flight", "status")
    )
    return Attempt(**known, **unknown, outcome=Outcome.UNRESOLVED, error=error)
