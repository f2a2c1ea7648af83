"""Amending a frozen study before the calls that the change affects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from judgeaudit.collect.past import log_dir
from judgeaudit.design.amendments import Seen, Words, described
from judgeaudit.design.document import Registration
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.lock import Lock
from judgeaudit.errors import JudgeauditError
from judgeaudit.evidence.lock.amendment_files import amend as amend_files
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.model import JSON
from judgeaudit.study.folders import Folder
from judgeaudit.study.log_facts import progress_of
from judgeaudit.study.results import analyse
from judgeaudit.study.sound import sound


@dataclass(frozen=True, slots=True)
class Amended:
    """The lock now in force, and the amendment as it is kept beside it."""

    lock: Lock
    amendment: Mapping[str, JSON]

    def sentence(self) -> str:
        """Return the amendment in one line."""
        return next(described([self.amendment]))


def amend(
    folder: Folder, *, what: str, why: str, effect: str, now: datetime | None = None
) -> Amended:
    """Freeze changed files over the frozen ones; `what`, `why` and `effect` are kept and reported.

    Calls that were tried keep what was sent. Raises `InputError` where nothing changed,
    `GuardError` where an answered call, or what decides verdicts, would change after the fact.
    """
    root, words = Path(folder), Words(what, why, effect)
    draft = load_study(root)
    sound(draft)
    at = facts(root, now or datetime.now(UTC))
    seen = seen_so_far(root, draft.whole().registration)
    lock, written = amend_files(root, words, at, progress_of(root), seen)
    return Amended(lock, written)


def seen_so_far(root: Path, registration: Registration) -> Seen:
    """Return what is sealed of a frozen study, and its verdicts by the old and a new registration.

    Both are computed from the same sealed runs, before anything is written.
    """
    frozen = load_frozen(root, inputs_too=False)
    runs = sealed_runs(log_dir(root))
    if not runs:
        return Seen()
    before = _outcomes(frozen)
    after = _outcomes(replace(frozen, registration=registration))
    return Seen([run.name for run in runs], str(runs[-1].digest), before, after)


def _outcomes(frozen: FrozenStudy) -> dict[str, str] | None:
    """Return outcomes by gate or rule, and that of all together; None where nothing can be said."""
    try:
        analysed = analyse(frozen)
    except JudgeauditError:
        return None
    found = {verdict.id: verdict.outcome.value for verdict in analysed.findings.verdicts}
    return found | {"overall": analysed.report.outcome.value}
