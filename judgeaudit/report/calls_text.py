"""A study under way for people: how far it is, what would be sent, one call whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def status_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a status for people."""
    yield f"study {found['study']}, lock {found['lock_digest']}"
    if found.get("head"):
        yield f"head {found['head']}"
    for window in found["windows"]:
        counts = ", ".join(f"{name} {count}" for name, count in window["by_status"].items())
        yield f"window {window['window']}: {window['state']}, {window['planned']} calls: {counts}"
        if window.get("paused"):
            yield f"  paused: {window['paused']}"
    ledger = found["ledger"]["calls"]
    yield (
        f"ledger: {ledger['attempts']} attempts = {ledger['response']} responses + "
        f"{ledger['transport']} transport failures + {ledger['unresolved']} unresolved; "
        f"preflight {found['ledger']['preflight']['attempts']}"
    )
    yield f"cap: {found['cap_used']} of {found['cap']} attempts"
    yield f"cost: {_cost(found)}"
    for reason, group in found["invalid"].items():
        yield f"invalid, {reason}: {group['count']}"
        for example in group["examples"]:
            told = f": {example['detail']}" if example["detail"] else ""
            yield f"  {example['call_id']} item {example['item']} arm {example['arm']}{told}"


def _cost(found: Mapping[str, Any]) -> str:
    if not found["priced"]:
        return "no prices registered"
    budget = f" of {found['budget']}" if found["budget"] else ""
    currency = "/".join(found["currency"])
    return f"{found['cost']}{budget} {currency}, by the tokens that replies report"


def preview_lines(window: Mapping[str, Any]) -> list[str]:
    """Return what a window would send, for people."""
    told = [f"window {window['window']}: {window['calls']} calls, cap {window['cap']}"]
    told += [
        f"  {part['endpoint']}, condition {part['condition']} ({part['in_flight']} in flight): "
        f"{part['calls']} calls"
        for part in window["by_endpoint_and_condition"]
    ]
    told.append(f"  {window['blocked'] or 'earliest: ' + (window['earliest'] or 'now')}")
    for request in window["first_requests"]:
        told += ["", f"call {request['call_id']} (plan {request['plan_index']})"]
        if request["body"] is None:
            told.append(f"  {request['why']}")
            continue
        told.append(f"  POST {request['url']}")
        told += [f"  {name}: {value}" for name, value in request["headers"].items()]
        if request["key_from"]:
            told.append(f"  key from the environment variable {request['key_from']}")
        told += [f"  {request['body_sha256']}", f"  {request['body']}"]
    return [*told, "", "dry run: nothing was sent"]


def call_lines(found: Mapping[str, Any]) -> Iterator[str]:
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


def _request_lines(request: Mapping[str, Any]) -> Iterator[str]:
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


def _attempt_lines(attempt: Mapping[str, Any]) -> Iterator[str]:
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
