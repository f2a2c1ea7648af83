"""What is wrong with a study before it is frozen, and what it will cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgeaudit.design.check.study import CheckReport
from judgeaudit.design.check.study import lines as check_lines
from judgeaudit.design.layout import FROZEN
from judgeaudit.errors import Problem
from judgeaudit.evidence.lock.restore import changed_inputs
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.study.characteristics import with_gates
from judgeaudit.study.embedded import judge_problems
from judgeaudit.study.folders import Folder
from judgeaudit.study.online import declared, problems, sentence
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import checked

__all__ = ["check", "check_document", "check_lines"]


def check(
    folder: Folder,
    *,
    online: bool = False,
    environment: Mapping[str, str] = os.environ,
    progress: Progress = silent,
) -> CheckReport:
    """Return every problem of the registration in `folder`, notes, and the study's numbers.

    `ok` is True where it can be frozen. A study that is `frozen` already has its changed input
    files among the problems. With `online` each provider is asked once, through its own
    SDK, whether it has the registered model; the answers are notes, kept in `declared.json`, and
    problems where the model is not there or the key was refused. Raises `InputError` for a folder
    without a registration, and with `online` where a key is not set in `environment`.
    """
    root = Path(folder)
    draft = load_study(root)
    report = checked(draft)
    report = replace(report, problems=report.problems + judge_problems(draft.registration))
    report = with_gates(root, draft, report, progress)
    if (root / FROZEN).is_dir():
        report = replace(report, frozen=True, problems=(*report.problems, *_changed(root)))
    return _asked(root, report, environment) if online else report


def _changed(root: Path) -> Iterator[Problem]:
    """Yield the input files of a frozen study that are not as they were frozen."""
    for path, _ in changed_inputs(root):
        yield Problem(
            str(path.relative_to(root)),
            "changed after the freeze" if path.is_file() else "gone since the freeze",
            "`judgeaudit prereg restore` shows the change and puts the frozen file back; if the "
            "change is meant, `judgeaudit prereg amend`",
        )


def _asked(root: Path, report: CheckReport, environment: Mapping[str, str]) -> CheckReport:
    found = declared(root, environment=environment)
    notes = (*report.notes, *map(sentence, found))
    return replace(report, problems=(*report.problems, *problems(found)), notes=notes)


def check_document(report: CheckReport) -> dict[str, Any]:
    """Return a check's report as JSON."""
    return {
        "ok": report.ok,
        "frozen": report.frozen,
        "problems": [
            {"key": p.key, "found": p.found, "allowed": p.allowed} for p in report.problems
        ],
        "notes": list(report.notes),
        "numbers": None if report.numbers is None else report.numbers.as_json(),
    }
