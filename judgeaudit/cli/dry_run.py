"""`judgeaudit run --dry-run`: what would be sent, and when."""

from __future__ import annotations

from typing import Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines


def tell(found: list[dict[str, Any]], as_json: bool) -> ExitCode:
    """Print the previews of windows."""
    if as_json:
        document({"dry_run": True, "windows": found})
    elif not found:
        lines(["all windows are sealed; nothing is left to run"])
    else:
        lines(line for window in found for line in _lines(window))
    return ExitCode.DONE


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
