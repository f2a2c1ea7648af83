"""`judgeaudit status`: how far a study is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines


@exits
def status(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Show windows, ledger, cap, cost, and up to five examples of each invalid reason.

    Looks only; a run may be under way. Example: judgeaudit status my-study --json
    """
    from judgeaudit.study.look import status as looked

    found = looked(study)
    if as_json:
        document(found)
    else:
        lines(lines_of(found))
    return ExitCode.DONE


def lines_of(found: dict[str, Any]) -> Iterator[str]:
    """Yield a status for people."""
    yield f"study {found['study']}, lock {found['lock_digest']}"
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


def _cost(found: dict[str, Any]) -> str:
    if not found["priced"]:
        return "no prices registered"
    budget = f" of {found['budget']}" if found["budget"] else ""
    currency = "/".join(found["currency"])
    return f"{found['cost']}{budget} {currency}, by the tokens that replies report"
