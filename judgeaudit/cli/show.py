"""`judgeaudit show`: one call, from its prompt to its reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines


@exits
def show(
    study: StudyPath,
    call: Annotated[str, typer.Argument(help="Call id, its beginning, or its place in the plan.")],
    as_json: AsJson = False,
) -> ExitCode:
    """Print one call: what was asked, every attempt, what came back, what was read.

    Example: judgeaudit show my-study 0
    """
    from judgeaudit.study.look import show as shown

    found = shown(study, call)
    if as_json:
        document(found)
    else:
        lines(lines_of(found))
    return ExitCode.DONE


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
