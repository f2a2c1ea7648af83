"""Whether a window holds enough to be sealed without being asked for it.

Of the calls that were sent, a registered share must have brought a reply (`least_answered`), and
another a valid reading (`least_valid`, 0 where nothing is registered: a judge that nobody can parse
is a finding). Calls that were never sent (window closed, cap reached) count on neither side: why
they are missing is in the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgeaudit.collect.guards import sent_share
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.log.reader import AttemptIndex, attempts_by_call, read_journal
from judgeaudit.evidence.log.standard import Derive
from judgeaudit.model import Invalid, PlannedCall, Reason

UNANSWERED = frozenset({Reason.NO_REPLY, Reason.BAD_BODY, Reason.UNRESOLVED})


@dataclass(frozen=True, slots=True)
class TooFew:
    """What a window lacks, in words, and the calls without a reply."""

    says: str
    unanswered: list[str]


def too_few(
    study: FrozenStudy, path: Path, calls: Sequence[PlannedCall], derive: Derive
) -> TooFew | None:
    """Return what the window whose journal is at `path` lacks, None where it holds enough."""
    schedule, index = study.registration.schedule, AttemptIndex()
    state = read_journal(path, index.note).state
    whole = sum(known.last == "ok" for known in state.calls.values())
    if whole >= len(calls) and not schedule.least_valid:
        return None
    sent, valid, unanswered = 0, 0, []
    for call, attempts in attempts_by_call(path, index, calls):
        if call is None or not attempts:
            continue
        value = derive(attempts, call).value
        sent += 1
        valid += not isinstance(value, Invalid)
        if isinstance(value, Invalid) and value.reason in UNANSWERED:
            unanswered.append(call.call_id)
    answered = sent_share(sent - len(unanswered), sent, schedule.least_answered)
    held = sent_share(valid, sent, schedule.least_valid)
    if answered is None and held is None:
        return None
    says = f"a reply came to {answered}" if answered else f"a valid reading has {held}"
    return TooFew(says, unanswered)
