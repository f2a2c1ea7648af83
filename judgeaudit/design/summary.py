"""What a frozen study holds, in short, for people and for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.design.frozen import FrozenStudy


def summary(study: FrozenStudy) -> dict[str, Any]:
    """Return a frozen study's digests, windows and counts as JSON."""
    registration, beside = study.registration, study.lock["beside"]
    return {
        "study": registration.study.id,
        "title": registration.study.title,
        "claim": registration.study.claim,
        "protocol": f"{study.protocol.name} {study.protocol.version}",
        "lock_digest": study.lock_digest,
        "locks": list(study.locks),
        "frozen_at": beside["frozen_at"],
        "git": beside["git"],
        "clock": registration.schedule.clock,
        "files": dict(study.lock["content"]["files"]),
        "windows": [window.id for window in study.windows()],
        "calls": len(study.plan),
        "bodies": len(study.bodies),
        "calls_by_endpoint": Counter(call.endpoint for call in study.plan),
        "calls_by_condition": Counter(call.condition for call in study.plan),
        "gates": [gate.id for gate in registration.gates],
        "rules": [rule.id for rule in registration.rules],
        "stages_frozen": {1: study.lock_digest, **study.stage_locks},
    }


def summary_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a summary as text."""
    yield f"study: {found['study']}: {found['title']}"
    yield f"claim: {found['claim']}; protocol: {found['protocol']}; clock: {found['clock']}"
    yield f"lock: {found['lock_digest']}, frozen {found['frozen_at']}"
    if len(found["locks"]) > 1:
        yield f"amended {len(found['locks']) - 1} times; first lock {found['locks'][0]}"
    if found["git"] is not None:
        dirty = ", with uncommitted changes" if found["git"]["dirty"] else ""
        yield f"git: {found['git']['commit']}{dirty}"
    for name, sha in found["files"].items():
        yield f"file: {name} {sha}"
    yield f"windows: {', '.join(found['windows'])}"
    yield f"calls: {found['calls']}, bodies: {found['bodies']}"
    for name, count in found["calls_by_endpoint"].items():
        yield f"  endpoint {name}: {count} calls"
    for name, count in found["calls_by_condition"].items():
        yield f"  condition {name}: {count} calls"
    for what in ("gates", "rules"):
        yield f"{what}: {', '.join(found[what]) or 'none'}"
