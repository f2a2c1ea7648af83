"""A log without a plan: what a session's journal says was asked, as planned calls.

A gateway does not know beforehand what will be asked. Its journal says it, call by call: a
`request` record with the bytes, then the reservation. From these alone the calls of the session
follow, and with them everything that seal and verify hold against a plan:

* `plan_index` is the order of arrival; `call_id` is `SESSION-N`, and `SESSION-N.K` for its K-th
  re-ask; `item` is the call that is asked again, or the call itself; `task` is its body, so that
  equal bytes are one cluster; `group` is the request's shape;
* `condition` is `harness` or `reask`, `repeat` the number of the re-ask (0 for the harness's own);
* `window` is the session, `day` the UTC day on which it began, counted from 1970-01-01.

A session's settings stand in the event `session`, its journal's second record, and `lock_digest`
is their digest: how replies are read cannot be changed afterwards without being seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgeaudit.canonical import digest_of, file_digest
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.log.chain import Entry, unframe
from judgeaudit.evidence.log.reader import AttemptIndex, JournalRead, read_journal
from judgeaudit.evidence.log.records import Asked, Kind, asked_from
from judgeaudit.evidence.log.runs import journal_path, sealed_runs
from judgeaudit.instrument.rules import Rules
from judgeaudit.instrument.spoken import reply_of
from judgeaudit.instrument.value import ValueRule, value_rule
from judgeaudit.model import SOLE_ARM, Attempt, Invalid, Outcome, PlannedCall, Reading, Reason

SETTINGS = "session"
HARNESS, REASK = "harness", "reask"
OTHER = "other"
"""The shape of a request in an API that is not read here."""

_DAY_NS = 86_400_000_000_000


@dataclass(slots=True)
class _Notes:
    """What is gathered while a journal is read: no bodies, only where they stand."""

    index: AttemptIndex = field(default_factory=AttemptIndex)
    asked: dict[str, Asked] = field(default_factory=dict)
    bodies: dict[str, int] = field(default_factory=dict)
    reserved: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] | None = None

    def note(self, entry: Entry) -> None:
        self.index.note(entry)
        record = entry.record
        kind = record["kind"]
        if kind == Kind.REQUEST:
            asked = asked_from(record)
            if asked.body is not None:
                self.bodies.setdefault(asked.body_sha256, entry.offset)
            self.asked[asked.call_id] = replace(asked, body=None)
        elif kind == Kind.RESERVE and record["attempt"] == 1:
            self.reserved.append(record)
        elif kind == Kind.EVENT and record["name"] == SETTINGS and self.settings is None:
            self.settings = record["data"]


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a log without a plan. `asked` has no bodies; `body` reads them."""

    read: JournalRead
    index: AttemptIndex
    settings: dict[str, Any]
    calls: tuple[PlannedCall, ...]
    asked: dict[str, Asked]
    offsets: dict[str, int]

    @property
    def name(self) -> str:
        """The session's name, its journal's."""
        return self.read.state.run.run

    @property
    def lock_digest(self) -> str:
        """The digest of the settings."""
        return str(digest_of(self.settings))

    @property
    def value(self) -> ValueRule:
        """How replies are read, as the session began with it."""
        return value_rule(self.settings.get("value"))

    @property
    def rules(self) -> Rules:
        """The version of the reading rules."""
        return Rules(self.settings["rules"])

    def bodies(self) -> Iterator[tuple[str, Asked]]:
        """Yield each kept body once: its digest as sent, and its request with the bytes."""
        with self.read.path.open("rb") as stream:
            for body_sha256, offset in self.offsets.items():
                stream.seek(offset)
                raw, _ = unframe(stream.readline())
                yield body_sha256, asked_from(json.loads(raw))


def read_session(path: Path) -> Session:
    """Return the session of a journal; raises `EvidenceError` where it is none, or broken."""
    notes = _Notes()
    try:
        read = read_journal(path, notes.note)
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"{path}: malformed request record: {error}") from error
    if notes.settings is None:
        raise EvidenceError(f"{path}: no session event: this is no journal of a gateway")
    opening, told = read.state.run, str(digest_of(notes.settings))
    if opening.lock_digest != told:
        raise EvidenceError(
            f"{path}: the session's settings have digest {told}, the opening says "
            f"{opening.lock_digest}"
        )
    day = opening.opened_at // _DAY_NS
    calls = tuple(
        _call(number, record, notes.asked, path, day)
        for number, record in enumerate(notes.reserved)
    )
    return Session(read, notes.index, notes.settings, calls, notes.asked, notes.bodies)


def _call(
    number: int, record: dict[str, Any], asked: dict[str, Asked], path: Path, day: int
) -> PlannedCall:
    call_id = record["call_id"]
    told = asked.get(call_id)
    if told is None or told.body_sha256 != record["body_sha256"] or record["plan_index"] != number:
        raise EvidenceError(f"{path}: call {call_id!r} was reserved and its request is not told")
    return PlannedCall(
        plan_index=number,
        call_id=call_id,
        stage=1,
        endpoint=record["endpoint"],
        item=told.origin or call_id,
        group=told.shape,
        task=record["body_sha256"],
        arm=SOLE_ARM,
        condition=record["condition"],
        day=day,
        window=record["window"],
        repeat=record["repeat"],
        draw=0,
        body_sha256=record["body_sha256"],
    )


def sealed_sessions(log_dir: Path, names: Sequence[str] = ()) -> list[Session]:
    """Return the sealed sessions in order (those of `names`), each held against its manifest.

    Raises `EvidenceError` where a journal or a part is not what the manifest says.
    """
    found = []
    for run in sealed_runs(log_dir):
        if names and run.name not in names:
            continue
        journal, parts = journal_path(log_dir, run.name), run.manifest["parts"]
        files = {journal: run.manifest["journal"]["digest"]}
        files |= {run.folder / name: part["digest"] for name, part in parts.items()}
        for file, promised in files.items():
            if (digest := file_digest(file)) != promised:
                raise EvidenceError(
                    f"{file}: digest {digest} differs from the manifest's {promised}; "
                    f"`judgeaudit verify {log_dir.parent}` says where"
                )
        found.append(read_session(journal))
    return found


def reading_of(
    attempts: list[Attempt], call: PlannedCall, api: str | None, rule: ValueRule, rules: Rules
) -> Reading:
    """Return a call's reading: of its last answered attempt, or why there is none."""
    last = attempts[-1]
    answered = next((a for a in reversed(attempts) if a.outcome is Outcome.OK), None)
    if answered is None:
        reason = Reason.BAD_BODY if last.outcome is Outcome.BAD_BODY else Reason.NO_REPLY
        if last.outcome is Outcome.UNRESOLVED:
            reason = Reason.UNRESOLVED
        return Reading(call, Invalid(reason, last.error or ""), last.attempt)
    if api is None:
        return Reading(call, Invalid(Reason.UNPARSED, "an API that is not read"), answered.attempt)
    reply = reply_of(api, answered.response_body or b"", answered.response_headers, rules)
    value = reply if isinstance(reply, Invalid) else rule.read(reply)
    return Reading(call, value, answered.attempt)


class Derivation:
    """From attempts to readings, for sessions: what seal and verify are given."""

    def __init__(self, session: Session, rule: ValueRule | None = None) -> None:
        self._apis = {call_id: asked.api for call_id, asked in session.asked.items()}
        self._rule, self._rules = rule or session.value, session.rules

    def __call__(self, attempts: list[Attempt], call: PlannedCall) -> Reading:
        """Return the reading of a call with at least one attempt."""
        return reading_of(attempts, call, self._apis[call.call_id], self._rule, self._rules)
