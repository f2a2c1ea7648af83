"""Sending what is frozen, window by window, each sealed when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgeaudit.collect.collector import RunSummary
from judgeaudit.collect.lock import exclusive
from judgeaudit.errors import InputError
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.study.dry_run import dry_run
from judgeaudit.study.folders import Folder
from judgeaudit.study.loops import outside_a_loop
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.windows import Windows, head_after


@outside_a_loop
def run(
    folder: Folder,
    *,
    window: str | None = None,
    everything: bool = False,
    seal_anyway: bool = False,
    environment: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> list[RunSummary]:
    """Run the next window of a frozen study, the one called `window`, or everything left.

    An interrupted run goes on where it ended; `everything` waits for windows that are due later.
    `seal_anyway` seals a window that was paused with what it has; nothing is sent then.
    `environment` holds the endpoints' keys, by default the process's own variables. Returns how
    each window ended, nothing where all are sealed. Raises `TooEarly` with the earliest time,
    `RunPaused` where the circuit breaker opened, `ExecutorBusy` beside another run.
    """
    root = Path(folder)
    if window is not None and everything:
        raise InputError("run", found="one window and all of them", remedy="give one")
    if everything and seal_anyway:
        raise InputError("run", found="a seal asked for all windows", remedy="seal one at a time")
    frozen = load_frozen(root)
    with exclusive(root):
        windows = Windows(root, frozen, progress, environment, seal_anyway=seal_anyway)
        return windows.run(window, everything=everything)


def preview(folder: Folder, *, window: str | None = None) -> list[dict[str, Any]]:
    """Return what the next window, or the one called `window`, would send; nothing is sent."""
    return dry_run(load_frozen(Path(folder)), window)


def ended_document(summary: RunSummary) -> dict[str, Any]:
    """Return how a window ended, as JSON."""
    manifest = summary.manifest
    return {
        "window": summary.window,
        "sealed": True,
        "head": head_after(manifest),
        "readings": manifest["readings"],
        "ledger": manifest["ledger"],
        "missing": manifest["missing"],
        "attempts_now": summary.attempts,
        "voided": summary.voided,
        "cost": str(summary.cost),
        "seconds": round(summary.seconds, 3),
    }
