"""Recorded answers in recorded order: a harness runs without a key and without a network.

* A request is known by method, path and body, byte for byte. Its answers are those that the
  harness itself got (re-asks are none of them), in the order in which its calls arrived; failures
  that an SDK tries again (408, 409, 429 and 500 upwards) and calls without an answer are passed
  over.
* A request that is not known, or comes more often than it was recorded, is told as status 404,
  which no SDK tries again; with `pass_through` it goes upstream and is recorded as new.
* Only sealed sessions answer, and only where each part is what its manifest says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from aiohttp import web

from judgeaudit.canonical import digest
from judgeaudit.collect.past import log_dir
from judgeaudit.errors import InputError
from judgeaudit.evidence.log.reader import attempt_at
from judgeaudit.evidence.log.sessions import HARNESS, Session, sealed_sessions
from judgeaudit.gateway.proxy import told
from judgeaudit.instrument.provider.policy import RETRIED
from judgeaudit.model import Attempt, Outcome

Key = tuple[str, str, str]
"""Method, path without query, digest of the body."""

_REPLAYED = frozenset({"content-type", "content-encoding", "request-id", "x-request-id"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands: a session's journal and the outcome's first byte in it."""

    session: Session
    call_id: str
    offset: int

    def attempt(self) -> Attempt:
        """Return the answer."""
        with self.session.read.path.open("rb") as stream:
            return attempt_at(stream, self.offset, self.session.index.log)


@dataclass(slots=True)
class Replay:
    """The answers of the log `source` that are left. `unknown` counts requests that had none."""

    source: Path
    answers: dict[Key, list[Place]]
    given: int = 0
    unknown: int = 0
    asked: dict[Key, int] = field(default_factory=dict)

    def next(self, method: str, path: str, body: bytes) -> web.Response | None:
        """Return the next recorded answer to a request, None where there is none (left)."""
        key = (method, path, str(digest(body)))
        number = self.asked.get(key, 0)
        self.asked[key] = number + 1
        places = self.answers.get(key, [])
        while number < len(places):
            attempt = places[number].attempt()
            if not _passed_over(attempt):
                self.given += 1
                return _response(attempt, places[number].call_id)
            places.pop(number)
        return None

    def refuse(self, method: str, path: str, body: bytes) -> web.Response:
        """Return the answer to a request that has none, saying why."""
        self.unknown += 1
        known = len(self.answers.get((method, path, str(digest(body))), []))
        why = (
            f"these bytes were recorded {known} times and came once more"
            if known
            else f"no recorded answer to these bytes: {method} {path}, body {digest(body)}"
        )
        response = told(HTTPStatus.NOT_FOUND, why, "record it, or use --pass-through new")
        response.headers["x-should-retry"] = "false"
        return response


def _passed_over(attempt: Attempt) -> bool:
    status = attempt.status or 0
    return (
        attempt.outcome not in (Outcome.OK, Outcome.HTTP_ERROR, Outcome.BAD_BODY)
        or status in RETRIED
        or status >= 500
    )


def _response(attempt: Attempt, call_id: str) -> web.Response:
    response = web.Response(status=attempt.status or 200, body=attempt.response_body or b"")
    for name, value in attempt.response_headers.items():
        if name in _REPLAYED:
            response.headers[name] = value
    response.headers["x-judgeaudit-replay"] = call_id
    return response


def load_replay(root: Path) -> Replay:
    """Return the answers of a log's sealed sessions.

    Raises `InputError` where nothing is sealed, `EvidenceError` where a file is not what its
    manifest says.
    """
    answers: dict[Key, list[Place]] = {}
    sessions = sealed_sessions(log_dir(root))
    if not sessions:
        raise InputError(root, found="no sealed session", remedy="record one: gateway --to URL")
    for session in sessions:
        for key, place in _places(session):
            answers.setdefault(key, []).append(place)
    return Replay(root, answers)


def _places(session: Session) -> Iterator[tuple[Key, Place]]:
    for call in session.calls:
        offsets = session.index.calls.get(call.call_id)
        if call.condition != HARNESS or not offsets:
            continue
        asked = session.asked[call.call_id]
        key = (asked.method, asked.path, asked.body_sha256)
        yield key, Place(session, call.call_id, offsets[-1])
