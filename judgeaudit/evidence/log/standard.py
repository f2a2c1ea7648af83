"""What the parts of a run should hold, by its journal, the plan and the derivation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.log.reader import AttemptIndex, JournalRead, attempts_by_call
from judgeaudit.evidence.log.rows import Row, attempt_row, reading_row
from judgeaudit.evidence.log.schema import ATTEMPTS
from judgeaudit.evidence.log.state import JournalState
from judgeaudit.model import Attempt, Invalid, PlannedCall, Reading

Derive = Callable[[list[Attempt], PlannedCall], Reading]
"""Attempts of a call (at least one, by number) and the call, to its reading. Pure."""

Key = tuple[str, int]
"""What names a row: call id and attempt; in readings the attempt is 0."""


def readings_of(
    groups: Iterator[tuple[PlannedCall, list[Attempt]]], state: JournalState, derive: Derive
) -> Iterator[Reading]:
    """Yield the reading of each call: derived from its attempts, or why there were none."""
    for call, attempts in groups:
        if attempts:
            yield derive(attempts, call)
            continue
        reason = state.missing_reason(call.endpoint, call.call_id)
        if reason is None:
            raise EvidenceError(f"call {call.call_id!r} has neither an attempt nor a reason")
        yield Reading(call, Invalid(reason))


def count_status(counts: Counter[str], row: Row) -> None:
    """Count a reading's row under `ok` or its reason."""
    counts[row["reason"] or row["status"]] += 1


@dataclass(frozen=True, slots=True)
class Standard:
    """A sound journal with its index, the run's calls and the derivation.

    `counts` is filled, while readings are yielded, with how many there are by status.
    """

    read: JournalRead
    index: AttemptIndex
    calls: Sequence[PlannedCall]
    derive: Derive
    counts: Counter[str] = field(default_factory=Counter)

    def rows(self, part: str) -> Iterator[Row]:
        """Yield the rows that a part should have, without digest columns."""
        log = self.read.state.format
        groups = attempts_by_call(self.read.path, self.index, self.calls)
        if part == ATTEMPTS:
            yield from (attempt_row(attempt, log) for _, group in groups for attempt in group)
            return
        planned = ((call, group) for call, group in groups if call is not None)
        for reading in readings_of(planned, self.read.state, self.derive):
            row = reading_row(reading, log)
            count_status(self.counts, row)
            yield row

    def keys(self, part: str) -> list[Key]:
        """Return the keys of those rows, in order."""
        ordered = [call.call_id for call in sorted(self.calls, key=lambda call: call.plan_index)]
        if part != ATTEMPTS:
            return [(call_id, 0) for call_id in ordered]
        tries = self.index.calls
        planned = [(c, n + 1) for c in ordered for n in range(len(tries.get(c, ())))]
        return [*self.index.preflight_keys, *planned]
