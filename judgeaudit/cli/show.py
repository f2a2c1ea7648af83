"""`judgeaudit show`: one call, from its prompt to its reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines

if TYPE_CHECKING:
    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.model import Attempt, FrozenBody, PlannedCall, Reading


@exits
def show(
    study: StudyPath,
    call: Annotated[str, typer.Argument(help="Call id, its beginning, or its place in the plan.")],
    as_json: AsJson = False,
) -> ExitCode:
    """Print one call: what was asked, every attempt, what came back, what was read.

    Example: judgeaudit show my-study 0
    """
    from judgeaudit.collect.evidence import attempts_of, find_call
    from judgeaudit.evidence.derive import derive
    from judgeaudit.evidence.lock.files import load_frozen

    frozen = load_frozen(study)
    planned = find_call(frozen, call)
    attempts = attempts_of(frozen, planned)
    reading = derive(frozen)(attempts, planned) if attempts else None
    found = call_json(frozen, planned, attempts, reading)
    if as_json:
        document(found)
    else:
        lines(lines_of(found))
    return ExitCode.DONE


def call_json(
    frozen: FrozenStudy, call: PlannedCall, attempts: list[Attempt], reading: Reading | None
) -> dict[str, Any]:
    """Return one call as a JSON document."""
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
        "url": spec.base_url.rstrip("/") + body.request.path,
        "headers": dict(body.request.headers),
        "key_from": spec.key_env,
        "body_sha256": body.body_sha256,
        "prompt_sha256": body.prompt_sha256,
        "body": json.loads(body.request.body),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    from judgeaudit.collect.evidence import reply_text

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
    from judgeaudit.model import Invalid

    value = asdict(reading.value)
    if isinstance(reading.value, Invalid):
        return {"status": "invalid", **value, "attempt": reading.attempt}
    filled = {name: found for name, found in value.items() if found is not None}
    return {"status": "ok", **filled, "attempt": reading.attempt}


def lines_of(found: dict[str, Any]) -> Iterator[str]:
    """Yield one call for people."""
    call, request = found["call"], found["request"]
    yield f"call {call['call_id']} (plan {call['plan_index']})"
    for name in ("endpoint", "item", "group", "arm", "condition", "window", "repeat", "draw"):
        yield f"  {name}: {call[name]}"
    yield ""
    if request is None:
        yield "no request: this call's stage is not rendered, or its memory is missing"
    else:
        yield from _request_lines(request)
    for attempt in found["attempts"]:
        yield from _attempt_lines(attempt)
    yield ""
    if found["reading"] is None:
        yield "reading: none yet, nothing was sent"
    else:
        yield "reading: " + json.dumps(found["reading"], ensure_ascii=False)


def _request_lines(request: dict[str, Any]) -> Iterator[str]:
    yield f"POST {request['url']}"
    for name, value in request["headers"].items():
        yield f"  {name}: {value}"
    if request["key_from"]:
        yield f"  key from the environment variable {request['key_from']}"
    yield f"  body {request['body_sha256']}"
    body = dict(request["body"])
    messages = body.pop("messages", [])
    yield "  " + json.dumps(body, ensure_ascii=False)
    for message in messages:
        yield f"  --- {message.get('role')}"
        yield from (f"  {line}" for line in str(message.get("content")).splitlines())


def _attempt_lines(attempt: dict[str, Any]) -> Iterator[str]:
    yield ""
    status = "" if attempt["status"] is None else f", HTTP {attempt['status']}"
    yield f"attempt {attempt['attempt']}: {attempt['outcome']}{status}"
    for name in ("error", "responsibility", "sent_at", "received_at", "ttfb_ms", "elapsed_ms"):
        if attempt[name] is not None:
            yield f"  {name}: {attempt[name]}"
    for name in ("in_flight", "request_id", "model_returned", "fingerprint", "finish_reason"):
        if attempt[name] is not None:
            yield f"  {name}: {attempt[name]}"
    for name, value in attempt["response_headers"].items():
        yield f"  {name}: {value}"
    if attempt["response_body"] is not None:
        marked = ", redacted" if attempt["redacted"] else ""
        yield f"  reply {attempt['stored_sha256']}{marked}"
        yield from (f"  {line}" for line in attempt["response_body"].splitlines())
