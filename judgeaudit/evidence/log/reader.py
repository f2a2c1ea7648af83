"""A journal file to its state, and to where each attempt stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from judgeaudit.canonical import Digest
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.evidence.log.chain import Broken, Chain, ChainReader, Entry, unframe, whole_part
from judgeaudit.evidence.log.records import PREFLIGHT, Kind, attempt_from
from judgeaudit.evidence.log.state import JournalState
from judgeaudit.model import Attempt, PlannedCall


@dataclass(frozen=True, slots=True)
class JournalRead:
    """A journal as far as it is whole: its state, chain, bytes, and the bytes of a torn line."""

    path: Path
    state: JournalState
    chain: Chain
    length: int
    torn: int

    @property
    def head(self) -> Digest | None:
        """Return the digest of the last record."""
        return self.chain.head


def read_lines(
    lines: Iterable[bytes], source: object, note: Callable[[Entry], None] | None = None
) -> tuple[JournalState, ChainReader]:
    """Return the state that journal lines lead to, and the reader where it ended.

    One record is held at a time; `note` sees each. Raises `EvidenceError` naming source and line.
    """
    state, reader = JournalState(source), ChainReader(lines, source)
    for entry in reader:
        try:
            state.apply(entry.record)
        except Broken as error:
            told = whole_part(entry.number - 1, entry.offset)
            raise EvidenceError(f"{source}: line {entry.number}: {error}; {told}") from error
        if note:
            note(entry)
    if state.opening is None:
        raise EvidenceError(f"{source}: no open record; the journal is empty or not a journal")
    if state.sealed and reader.torn:
        raise EvidenceError(f"{source}: {reader.torn} bytes follow the seal")
    return state, reader


def read_journal(path: Path, note: Callable[[Entry], None] | None = None) -> JournalRead:
    """Return what the journal at `path` says; raises `EvidenceError` if its chain is broken."""
    with path.open("rb") as stream:
        state, reader = read_lines(stream, path, note)
    return JournalRead(path, state, reader.chain, reader.length, reader.torn)


@dataclass(slots=True)
class AttemptIndex:
    """The journal's format, and where its records of ended attempts start: no bodies."""

    log: LogFormat = field(default_factory=lambda: catalogue.TODAY)
    preflight: list[int] = field(default_factory=list)
    preflight_keys: list[tuple[str, int]] = field(default_factory=list)
    calls: dict[str, list[int]] = field(default_factory=dict)

    def note(self, entry: Entry) -> None:
        """Remember an entry if it ends an attempt."""
        record = entry.record
        if record["kind"] == Kind.OPEN:
            self.log = catalogue.log_format(record["version"], catalogue.JOURNAL, "journal")
        elif record["kind"] in (Kind.OUTCOME, Kind.VOID):
            if record["condition"] == PREFLIGHT:
                self.preflight.append(entry.offset)
                self.preflight_keys.append((record["call_id"], record["attempt"]))
            else:
                self.calls.setdefault(record["call_id"], []).append(entry.offset)


def attempts_by_call(
    path: Path, index: AttemptIndex, calls: Sequence[PlannedCall]
) -> Iterator[tuple[PlannedCall | None, list[Attempt]]]:
    """Yield preflight attempts (None), then each call of the plan with its attempts, in order.

    The order is the plan's and not that of arrival, so that two runs with equal replies give equal
    rows. One call's bodies are held at a time.
    """
    with path.open("rb") as stream:
        yield None, [attempt_at(stream, offset, index.log) for offset in index.preflight]
        for call in sorted(calls, key=lambda call: call.plan_index):
            offsets = index.calls.get(call.call_id, ())
            yield call, [attempt_at(stream, offset, index.log) for offset in offsets]


def attempt_at(stream: BinaryIO, offset: int, log: LogFormat) -> Attempt:
    """Return the attempt whose record starts at a byte of a journal that was read before."""
    stream.seek(offset)
    # The chain was checked a moment ago; this refuses a line that changed since.
    try:
        raw, _ = unframe(stream.readline())
        return attempt_from(json.loads(raw), log)
    except (Broken, ValueError, KeyError) as error:
        raise EvidenceError(f"{stream.name}: byte {offset}: {error}") from error
