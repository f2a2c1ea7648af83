"""Amending a frozen study before the calls that the change affects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judgeaudit.design.amendments import Words, described
from judgeaudit.design.lock import Lock
from judgeaudit.evidence.lock.amendment_files import amend as amend_files
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.model import JSON
from judgeaudit.study.folders import Folder
from judgeaudit.study.log_facts import progress_of
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
    sound(load_study(root))
    at = facts(root, now or datetime.now(UTC))
    lock, written = amend_files(root, words, at, progress_of(root))
    return Amended(lock, written)
