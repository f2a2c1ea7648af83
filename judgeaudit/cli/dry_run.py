"""`judgeaudit run --dry-run`: what would be sent, and when."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines

if TYPE_CHECKING:
    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.model import FrozenBody, PlannedCall, Window

EXAMPLES = 3
BODY_WIDTH = 2000


def show(frozen: FrozenStudy, window_id: str | None, as_json: bool) -> ExitCode:
    """Print the next window's plan and its first requests; nothing is started or sent."""
    from judgeaudit.collect.collector import window_of
    from judgeaudit.collect.status import unsealed

    todo = [window_of(frozen, window_id)] if window_id else unsealed(frozen)[:1]
    found = [preview(frozen, window) for window in todo]
    if as_json:
        document({"dry_run": True, "windows": found})
    elif not found:
        lines(["all windows are sealed; nothing is left to run"])
    else:
        lines(line for window in found for line in _lines(window))
    return ExitCode.DONE


def preview(frozen: FrozenStudy, window: Window) -> dict[str, Any]:
    """Return what a window would send: counts, the earliest time, the first requests."""
    from judgeaudit.collect.collector import earliest_of
    from judgeaudit.collect.guards import to_datetime
    from judgeaudit.errors import GuardError

    calls = [c for s in frozen.registration.endpoints for c in frozen.calls_of(window.id, s.id)]
    counts = Counter((call.endpoint, call.condition) for call in calls)
    try:
        earliest, waits = earliest_of(frozen, window), None
    except GuardError as guard:
        earliest, waits = None, str(guard)
    return {
        "window": window.id,
        "calls": len(calls),
        "by_endpoint_and_condition": [
            {
                "endpoint": endpoint,
                "condition": condition,
                "in_flight": frozen.condition(condition).in_flight,
                "calls": number,
            }
            for (endpoint, condition), number in counts.items()
        ],
        "earliest": to_datetime(earliest).isoformat() if earliest is not None else None,
        "blocked": waits,
        "cap": frozen.registration.schedule.cap,
        "first_requests": [_request(frozen, call) for call in calls[:EXAMPLES]],
    }


def _request(frozen: FrozenStudy, call: PlannedCall) -> dict[str, Any]:
    spec, body = frozen.endpoint(call.endpoint), frozen.body_of(call)
    shown: dict[str, Any] = {"call_id": call.call_id, "plan_index": call.plan_index}
    if body is None:
        return {**shown, "body": None, "why": f"stage {call.stage} is made from an earlier stage"}
    return {
        **shown,
        "url": spec.base_url.rstrip("/") + body.request.path,
        "headers": dict(body.request.headers),
        "key_from": spec.key_env,
        "body_sha256": body.body_sha256,
        "body": _text(body),
    }


def _text(body: FrozenBody) -> str:
    text = body.request.body.decode("utf-8")
    left = len(text) - BODY_WIDTH
    return text if left <= 0 else f"{text[:BODY_WIDTH]} ... and {left} characters more"


def _lines(window: dict[str, Any]) -> list[str]:
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
