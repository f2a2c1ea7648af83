"""`judgeaudit run --dry-run`: what would be sent, and when."""

from __future__ import annotations

from collections import Counter
from typing import Any

from judgeaudit.collect.collector import earliest_of, window_of
from judgeaudit.collect.guards import to_datetime
from judgeaudit.collect.status import unsealed
from judgeaudit.design.addresses import full_url
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import GuardError
from judgeaudit.model import FrozenBody, PlannedCall, Window

EXAMPLES = 3
BODY_WIDTH = 2000


def dry_run(frozen: FrozenStudy, window_id: str | None = None) -> list[dict[str, Any]]:
    """Return the next window's (or one window's) plan and first requests; nothing is sent.

    Empty where every window is sealed.
    """
    todo = [window_of(frozen, window_id)] if window_id else unsealed(frozen)[:1]
    return [preview(frozen, window) for window in todo]


def preview(frozen: FrozenStudy, window: Window) -> dict[str, Any]:
    """Return what a window would send: counts, the earliest time, the first requests."""
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
        "url": full_url(spec.base_url, body.request.path),
        "headers": dict(body.request.headers),
        "key_from": spec.key_env,
        "body_sha256": body.body_sha256,
        "body": _text(body),
    }


def _text(body: FrozenBody) -> str:
    text = body.request.body.decode("utf-8")
    left = len(text) - BODY_WIDTH
    return text if left <= 0 else f"{text[:BODY_WIDTH]} ... and {left} characters more"
