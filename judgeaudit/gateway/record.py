"""One session's journal: begun, written call by call, sealed.

What the client was answered is written before its last byte is passed on; what was asked, before it
is sent on. So the end of this process, however it comes, loses nothing that was answered: the next
session in the same folder closes what was open as unresolved and seals what there is.

The keys that pass are learnt here, as they come, and searched for in everything that is written.
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgeaudit.canonical import canonical_bytes, digest, digest_of
from judgeaudit.collect.attempt import Received, attempt_of, judged, with_reply
from judgeaudit.collect.past import log_dir
from judgeaudit.collect.transport import Exchange, failure_of
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.records import Asked, Opening, Reservation
from judgeaudit.evidence.log.redact import MARKER, Redactor
from judgeaudit.evidence.log.runs import journal_path, sealed_path, start, unsealed_runs
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.evidence.log.sessions import (
    HARNESS,
    OTHER,
    REASK,
    SETTINGS,
    Derivation,
    read_session,
)
from judgeaudit.instrument.provider.compressed import readable
from judgeaudit.instrument.provider.interface import Classified, Kind
from judgeaudit.instrument.provider.lenient import load_json
from judgeaudit.instrument.provider.policy import classify
from judgeaudit.instrument.rules import CURRENT
from judgeaudit.instrument.spoken import api_of, plain_reply_of, said
from judgeaudit.model import Attempt, Invalid, Outcome, Reply, Responsibility
from judgeaudit.version import __version__

LONGEST_BODY = 8 * 1024 * 1024
"""Request bodies beyond this are passed on and told by their digest alone."""
_MOST_SECRETS = 512
_LONGEST_LINE = 300
_QUERY = re.compile(r"\?[^\s'\"]*")
"""A query in an address that an error names: it may hold a credential of any name."""


@dataclass(slots=True)
class Ticket:
    """One call of the session, from its arrival to its outcome."""

    reservation: Reservation
    api: str | None
    shape: str
    exchange: Exchange = field(default_factory=Exchange)
    flying: int = 1
    occurrence: int = 0
    attempt: Attempt | None = None


class Record:
    """A session that is being written. One event loop calls it."""

    def __init__(self, root: Path, journal: Journal, settings: Mapping[str, Any]) -> None:
        self.root, self.journal, self.settings = root, journal, settings
        self.session = journal.state.run.run
        self.numbers = self.entered = 0
        self.answered: Counter[str] = Counter()
        self._secrets: dict[str, None] = {}

    def learn(self, secrets: Iterable[str]) -> None:
        """Search for these, too, in everything that is written from now on."""
        new = [secret for secret in secrets if secret not in self._secrets]
        if new:
            self._secrets |= dict.fromkeys(new)
            while len(self._secrets) > _MOST_SECRETS:
                del self._secrets[next(iter(self._secrets))]
            self.journal.redactor = Redactor(self._secrets)

    def arrive(
        self,
        endpoint: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        at: int,
        system: str | None = None,
    ) -> Ticket:
        """Record a client's call before it is sent on. `path` holds no query."""
        self.numbers += 1
        api, body_sha256 = api_of(method, path), str(digest(body))
        told = said(api, body) if api is not None else None
        shape = told.shape(api) if told is not None and api is not None else OTHER
        call_id = f"{self.session}-{self.numbers:06d}"
        canonical = self._canonical(body, body_sha256) if told is not None else body_sha256
        reservation = Reservation(
            call_id, 1, self.entered, endpoint, HARNESS, self.session, 0, body_sha256, canonical, at
        )
        known = body_sha256 in self.journal.state.bodies or len(body) > LONGEST_BODY
        stored, redacted = (None, False) if known else self.journal.redactor.body(body)
        text = self.journal.redactor.text
        asked = Asked(
            call_id=call_id,
            at=at,
            method=method,
            path=text(path),
            api=api if told is not None else None,
            shape=shape,
            body_sha256=body_sha256,
            body=stored,
            redacted=redacted,
            headers={name: text(value) for name, value in headers.items()},
            system=None if system is None else text(system)[:_LONGEST_LINE],
        )
        self.journal.arrive(asked, reservation)
        self.entered += 1
        return Ticket(reservation, asked.api, shape)

    async def ask_again(self, first: Ticket, asked: Asked, repeat: int, at: int) -> Ticket:
        """Record a re-ask, durably, before its bytes leave; `asked` is the original's request."""
        reservation = replace(
            first.reservation,
            call_id=asked.call_id,
            plan_index=self.entered,
            condition=REASK,
            repeat=repeat,
            reserved_at=at,
        )
        self.entered += 1
        await self.journal.ask_again(asked, reservation)
        return Ticket(reservation, first.api, first.shape)

    async def retry(self, ticket: Ticket, at: int) -> Ticket:
        """Record another attempt of a re-ask whose last one failed."""
        before = ticket.reservation
        reservation = replace(before, attempt=before.attempt + 1, reserved_at=at)
        await self.journal.reserve(reservation)
        return Ticket(reservation, ticket.api, ticket.shape)

    def _canonical(self, body: bytes, otherwise: str) -> str:
        try:
            return str(digest_of(load_json(body)))
        except (ValueError, InputError):
            return otherwise

    def answer(self, ticket: Ticket, now_ns: int) -> Attempt:
        """Record a reply that came whole; what it says is read from what is stored."""
        exchange, redactor = ticket.exchange, self.journal.redactor
        stored, hidden = redactor.received(exchange.body or b"", exchange.headers)
        headers = redactor.headers(exchange.headers)
        fields: dict[str, Any] = {
            "response_body": stored,
            "response_headers": headers,
            "redacted": hidden,
        }
        if hidden:
            fields["received_sha256"] = digest(exchange.body or b"")
        received = Received(readable(stored, headers), headers, fields)
        found, reply = _read(ticket.api, exchange.status or 0, received, now_ns)
        if isinstance(reply, Reply) and _shows_a_secret(reply, redactor):
            # A stream shows a key in pieces, which no search of its bytes finds: nothing is kept.
            fields |= {"response_body": MARKER, "redacted": True}
            fields["received_sha256"] = digest(exchange.body or b"")
            received = Received(MARKER, headers, fields)
            found, reply = _read(ticket.api, exchange.status or 0, received, now_ns)
        outcome, error, responsibility = judged(exchange.status or 0, found, reply)
        if reply is None and found.kind is Kind.FINAL and 200 <= (exchange.status or 0) < 300:
            outcome, error, responsibility = Outcome.OK, None, None
        known = attempt_of(
            ticket.reservation, exchange, ticket.flying, outcome, error, responsibility
        )
        fields = with_reply(known | received.fields, received, found, reply)
        ticket.attempt = self.journal.outcome(Attempt(**fields))
        if outcome is Outcome.OK and ticket.reservation.condition == HARNESS:
            body = ticket.reservation.body_sha256
            self.answered[body] += 1
            ticket.occurrence = self.answered[body]
        return ticket.attempt

    def fail(self, ticket: Ticket, error: BaseException) -> Attempt:
        """Record a call that the network, or this machine, did not let through."""
        outcome, responsibility, line = failure_of(error)
        return self._ended(ticket, outcome, _QUERY.sub("?...", line), responsibility)

    def hung_up(self, ticket: Ticket) -> Attempt:
        """Record that the client closed its connection before the reply was whole."""
        got = "" if ticket.exchange.status is None else " in the middle of the reply"
        return self._ended(
            ticket, Outcome.CANCELLED, f"the client hung up{got}", Responsibility.USER
        )

    def _ended(
        self, ticket: Ticket, outcome: Outcome, line: str, responsibility: Responsibility
    ) -> Attempt:
        line = self.journal.redactor.text(line)[:_LONGEST_LINE]
        exchange = ticket.exchange
        exchange.headers = self.journal.redactor.headers(exchange.headers)
        fields = attempt_of(
            ticket.reservation, exchange, ticket.flying, outcome, line, responsibility
        )
        ticket.attempt = self.journal.outcome(Attempt(**fields))
        return ticket.attempt

    def event(self, name: str, at: int, data: Mapping[str, Any]) -> None:
        """Record something that is no call."""
        self.journal.event(name, at, data)

    def close(self, at: int) -> dict[str, Any] | None:
        """Finish and seal the session; None where nothing passed, and nothing is left of it."""
        for call_id in list(self.journal.state.open_attempts):
            self.journal.void(call_id, "the gateway ended before the reply")
        if not self.entered:
            self.journal.close()
            self.journal.path.unlink()
            return None
        self.journal.seal(at)
        return seal(self.root, self.session)


def _shows_a_secret(reply: Reply, redactor: Redactor) -> bool:
    said = "\n".join(text for text in (reply.text, reply.refusal) if text)
    return redactor.text(said) != said


def _read(
    api: str | None, status: int, received: Received, now_ns: int
) -> tuple[Classified, Reply | Invalid | None]:
    """Return what a reply means; None for one that is no success, or of an API not read here."""
    body = received.body
    if 200 <= status < 300:
        if isinstance(body, Invalid):
            return Classified(Kind.FINAL), body
        reply = None if api is None else plain_reply_of(api, body, received.headers)
        return Classified(Kind.FINAL), reply
    plain = b"" if isinstance(body, Invalid) else body
    return classify(status, received.headers, plain, now_ns=now_ns), None


def begin(root: Path, settings: Mapping[str, Any], at: int) -> Record:
    """Begin the next session in `root`; one that a killed gateway left is sealed before.

    `settings` are what the session's readings depend on, and stand in its journal. Raises
    `EvidenceError` or `GuardError` where the log is not whole.
    """
    log = log_dir(root)
    finish(root, at)
    known = [int(path.name.removeprefix("s").partition(".")[0]) for path in _sessions(root)]
    name = f"s{max(known, default=0) + 1:03d}"
    told = {**settings, "rules": int(CURRENT)}
    canonical_bytes(told)
    opening = Opening(
        run=name,
        window=name,
        stage=1,
        lock_digest=str(digest_of(told)),
        previous_manifest=None,
        tool_version=__version__,
        host=socket.gethostname(),
        pid=os.getpid(),
        clock="utc",
        opened_at=at,
    )
    journal = start(log, opening, None)
    journal.event(SETTINGS, at, told)
    return Record(root, journal, told)


def _sessions(root: Path) -> list[Path]:
    found = (log_dir(root) / "journal").glob("s[0-9]*.jsonl")
    return sorted(path for path in found if path.stem[1:].isdecimal())


def finish(root: Path, at: int) -> list[str]:
    """Seal what ended without being sealed; returns the sessions' names."""
    log, done = log_dir(root), []
    for name in unsealed_runs(log):
        path = journal_path(log, name)
        read = read_journal(path)
        if not read.state.sealed:
            journal = Journal.resume(path, None, opening=read.state.run)
            if not journal.state.calls:
                journal.close()
                path.unlink()
                continue
            journal.seal(at)
        seal(root, name)
        done.append(name)
    return done


def seal(root: Path, name: str) -> dict[str, Any]:
    """Seal a finished session; returns its manifest."""
    log = log_dir(root)
    session = read_session(journal_path(log, name))
    if not session.calls and not sealed_path(log, name).exists():
        raise EvidenceError(f"{session.read.path}: a session without calls")
    return seal_run(log, name, session.calls, session.lock_digest, Derivation(session))
