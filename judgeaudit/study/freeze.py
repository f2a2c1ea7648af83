"""Freezing a study, and comparing what is frozen with what it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.design.layout import FROZEN
from judgeaudit.design.lock import Lock
from judgeaudit.design.summary import summary, summary_lines
from judgeaudit.errors import RegistrationError
from judgeaudit.evidence.lock import files
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.verify import verify_frozen
from judgeaudit.study.characteristics import require_freezable
from judgeaudit.study.embedded import judge_problems
from judgeaudit.study.folders import Folder
from judgeaudit.study.log_facts import freeze_next_stage, stage_findings
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import sound
from judgeaudit.verdict.oc.words import even_only

__all__ = ["Frozen", "freeze", "frozen_findings", "frozen_summary", "summary_lines"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """A study that is frozen: its lock, whether it was written now, and what should be known.

    `stage` is the number and lock of a later stage that was frozen now, else None.
    """

    folder: Path
    lock: Lock
    written: bool
    stage: tuple[int, Lock] | None
    notes: Sequence[str]


def freeze(folder: Folder, *, now: datetime | None = None, progress: Progress = silent) -> Frozen:
    """Render every request once and lock the study in `folder`; later, its next stage.

    Freezing an unchanged study again changes nothing. `now` is written into the lock, by default
    the machine's time. Raises `RegistrationError` with all that stops it, `EvidenceError` where
    the study is frozen already and has changed since.
    """
    root, at = Path(folder), now or datetime.now(UTC)
    draft = files.load_study(root)
    report, only_even = sound(draft), []
    if not (root / FROZEN).exists():
        if problems := judge_problems(draft.registration):
            raise RegistrationError(root / "registration.toml", problems)
        weighed = require_freezable(root, draft, report, progress)
        only_even = [note for one in weighed.found for note in even_only(one)]
    lock, written = files.freeze(root, facts(root, at))
    stage = None if written else freeze_next_stage(files.load_frozen(root), at)
    return Frozen(root / FROZEN, lock, written, stage, [*report.notes, *only_even])


def frozen_findings(folder: Folder, *, stages: bool = True) -> list[str]:
    """Return what differs when plan and bodies are derived again from the frozen files.

    Later `stages` are derived from the sealed log.
    """
    root = Path(folder)
    if (found := verify_frozen(root)) or not stages:
        return found
    return stage_findings(files.load_frozen(root))


def frozen_summary(folder: Folder) -> dict[str, Any]:
    """Return what a study has frozen: digests, windows, calls by endpoint and condition."""
    return summary(files.load_frozen(Path(folder)))
