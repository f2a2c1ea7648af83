"""What was asked before, and what CI does with the gate: either can mean asking for a pass."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.reasking import registration_findings, workflow_findings
from judgeaudit.evidence.lock.gate_run import other_runs
from judgeaudit.study.results import GATE, RESULTS
from judgeaudit.study.sound import statistics
from judgeaudit.verdict.blockers import Bar


def asked_again(study: FrozenStudy, run: FrozenStudy, facts: Mapping[str, Any]) -> list[Bar]:
    """Return a bar where this commit was asked today by another key and did not pass.

    On another day the judge may be another one: a nightly gate asks the same commit anew.
    """
    commit = facts.get("commit")
    if commit is None or run.root == study.root:
        return []
    found = []
    for folder, other in other_runs(study, run):
        asked = (other["commit"], other.get("day"), other["lock_digest"])
        if asked != (commit, facts["day"], str(study.lock_digest)):
            continue
        outcome = _outcome(folder)
        if outcome != "pass":
            says = (
                f"commit {commit[:12]} was asked before today under the key {other['key']!r} and "
                f"ended {outcome}; a new key asks until it passes: go on with that run"
            )
            found.append(Bar("asked_again", says))
    return found


def _outcome(folder: Path) -> str:
    try:
        document = json.loads((folder / RESULTS / GATE).read_text(encoding="utf-8"))
        return str(document["outcome"])
    except (OSError, ValueError, KeyError, TypeError):
        return "without a result"


def ci_findings(study: FrozenStudy) -> list[str]:
    """Return what in registration and workflows asks until it passes."""
    found = list(registration_findings(study.registration, statistics()))
    for name, text in _workflows(study.root):
        found += workflow_findings(name, text)
    return found


def _workflows(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the workflows of the checkout that the study lies in."""
    home = next(
        (p for p in [root.resolve(), *root.resolve().parents] if (p / ".git").exists()), None
    )
    if home is None:
        return
    for path in sorted((home / ".github" / "workflows").glob("*.y*ml")):
        try:
            yield str(path.relative_to(home)), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
