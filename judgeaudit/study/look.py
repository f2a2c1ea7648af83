"""Looking at a study without touching it: how far it is, and one call from prompt to reading."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.collect.evidence import attempts_of, find_call, reply_text
from judgeaudit.collect.status import status_of
from judgeaudit.design.addresses import full_url
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.derive import derive
from judgeaudit.model import Attempt, FrozenBody, Invalid, PlannedCall, Reading
from judgeaudit.study.folders import Folder
from judgeaudit.study.sealed import head_of, load


def status(folder: Folder) -> dict[str, Any]:
    """Return windows, ledger, cap, cost and examples of each invalid reason, as JSON values.

    Looks only; a run may be under way.
    """
    frozen = load(Path(folder))
    return {**status_of(frozen, derive(frozen)), "head": head_of(frozen)}


def show(folder: Folder, call: str) -> dict[str, Any]:
    """Return one call as JSON values: what was asked, every attempt, what came back, what was read.

    `call` is a call id, its beginning, or its place in the plan.
    """
    frozen = load(Path(folder))
    planned = find_call(frozen, call)
    attempts = attempts_of(frozen, planned)
    reading = derive(frozen)(attempts, planned) if attempts else None
    return _call(frozen, planned, attempts, reading)


def _call(
    frozen: FrozenStudy, call: PlannedCall, attempts: list[Attempt], reading: Reading | None
) -> dict[str, Any]:
    body = frozen.body_of(call)
    return {
        "call": asdict(call),
        "request": None if body is None else _request(frozen, call, body),
        "attempts": [_attempt(attempt) for attempt in attempts],
        "reading": None if reading is None else _reading(reading),
    }


def _request(frozen: FrozenStudy, call: PlannedCall, body: FrozenBody) -> dict[str, Any]:
    spec = frozen.endpoint(call.endpoint)
    return {
        "url": full_url(spec.base_url, body.request.path),
        "headers": dict(body.request.headers),
        "key_from": spec.key_env,
        "body_sha256": body.body_sha256,
        "prompt_sha256": body.prompt_sha256,
        "body": json.loads(body.request.body),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    shown = {**asdict(attempt), "response_body": reply_text(attempt.response_body)}
    for name in ("reserved_at", "sent_at", "received_at"):
        shown[name] = _time(shown[name])
    return shown


def _time(t_ns: int | None) -> str | None:
    if t_ns is None:
        return None
    seconds, rest = divmod(t_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _reading(reading: Reading) -> dict[str, Any]:
    value = asdict(reading.value)
    if isinstance(reading.value, Invalid):
        return {"status": "invalid", **value, "attempt": reading.attempt}
    filled = {name: found for name, found in value.items() if found is not None}
    return {"status": "ok", **filled, "attempt": reading.attempt}
