"""What is wrong with a study before it is frozen, and what it will cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgeaudit.design.check import study as checks
from judgeaudit.design.check.study import CheckReport
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.study.characteristics import with_gates
from judgeaudit.study.embedded import judge_problems
from judgeaudit.study.folders import Folder
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import statistics


def check(folder: Folder, *, progress: Progress = silent) -> CheckReport:
    """Return every problem of the registration in `folder`, notes, and the study's numbers.

    `ok` is True where it can be frozen. Raises `InputError` for a folder without a registration.
    """
    root = Path(folder)
    draft = load_study(root)
    report = checks.check(draft, statistics())
    report = replace(report, problems=report.problems + judge_problems(draft.registration))
    return with_gates(root, draft, report, progress)
