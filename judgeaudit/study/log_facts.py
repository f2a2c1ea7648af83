"""What registration needs to know of a log: which calls were tried, which readings are sealed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.collect.past import log_dir
from judgeaudit.design.amendments import Progress
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.lock import Lock
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.stage_files import freeze_stage, verify_stage
from judgeaudit.evidence.log.load import load_readings
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.model import Invalid, Outcome, Reading, Reason, Value


def progress_of(root: Path) -> Progress:
    """Return which calls were tried or closed, and which were answered, by journals and seals."""
    log = log_dir(root)
    tried: set[str] = set()
    answered: set[str] = set()
    for path in sorted((log / "journal").glob("*.jsonl")):
        state = read_journal(path).state
        planned = {call_id for lane in state.lanes.values() for call_id in lane}  # no preflight
        tried |= planned
        answered.update(
            name
            for name, call in state.calls.items()
            if name in planned and call.last is Outcome.OK
        )
    tried.update(load_readings(log, ["call_id"]).column("call_id").to_pylist())
    return Progress(frozenset(tried), frozenset(answered))


def sealed_readings(study: FrozenStudy) -> Iterator[Reading]:
    """Yield all sealed readings of a study."""
    table = load_readings(log_dir(study.root))
    for row in table.to_pylist():
        yield Reading(study.call(row["call_id"]), _value(row), row["attempt"])


def _value(row: dict[str, Any]) -> Value | Invalid:
    if row["status"] != "ok":
        return Invalid(Reason(row["reason"]), row["detail"] or "")
    found = {name: row[name] for name in Value.__slots__}
    if found["ranking"] is not None:
        found["ranking"] = tuple(found["ranking"])
    return Value(**found)


def next_stage(study: FrozenStudy) -> int | None:
    """Return the later stage whose earlier windows are all sealed and which is not frozen yet."""
    stage = len(study.stage_locks) + 2
    if stage > len(study.asker.stages):
        return None
    sealed = {run.manifest["window"] for run in sealed_runs(log_dir(study.root))}
    wanted = {window.id for window in study.windows() if window.stage < stage}
    return stage if wanted <= sealed else None


def manifests_before(study: FrozenStudy, stage: int) -> dict[str, str]:
    """Return the manifest digests of the runs that a stage's bodies are made from."""
    stages = {window.id: window.stage for window in study.windows()}
    runs = sealed_runs(log_dir(study.root))
    return {run.name: run.digest for run in runs if stages[run.manifest["window"]] < stage}


def freeze_next_stage(study: FrozenStudy, now: datetime | None = None) -> tuple[int, Lock] | None:
    """Freeze the next stage if its time has come; return its number and its lock."""
    stage = next_stage(study)
    if stage is None:
        return None
    at = facts(study.root, now or datetime.now(UTC))
    manifests = manifests_before(study, stage)
    lock, _ = freeze_stage(study, stage, sealed_readings(study), manifests, at)
    return stage, lock


def stage_findings(study: FrozenStudy) -> list[str]:
    """Return what differs from each later stage's calls and bodies, made again from the log."""
    findings: list[str] = []
    for stage in study.stage_locks:
        manifests = manifests_before(study, stage)
        findings += verify_stage(study, stage, list(sealed_readings(study)), manifests)
    return findings
