"""`judgeaudit run`: send what is frozen, window by window, and seal it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, remark

if TYPE_CHECKING:
    from judgeaudit.cli.embedded import Started
    from judgeaudit.collect.clock import RunClock
    from judgeaudit.collect.collector import RunSummary
    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.model import Window

VIRTUAL_START = 1_767_225_600_000_000_000
"""2026-01-01 00:00 UTC: where the virtual clock starts without a registered start."""


@exits
def run(
    study: StudyPath,
    window: Annotated[
        str | None, typer.Option(help="Id of one window, as `judgeaudit status` lists them.")
    ] = None,
    next_: Annotated[
        bool, typer.Option("--next", help="The next window, if its time has come (for cron).")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Every window left, waiting for those that are due later.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent; send nothing.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Run a frozen study's next window (or one, or all), and seal each when it is done.

    An interrupted run goes on where it ended. Exits 0 when sealed, 2 when paused, 3 when it is too
    early (with the earliest time), 130 when interrupted. Example: judgeaudit run my-study --all
    """
    from judgeaudit.collect.lock import exclusive
    from judgeaudit.errors import InputError
    from judgeaudit.evidence.lock.files import load_frozen

    if sum([window is not None, next_, all_]) > 1:
        raise InputError("run", found="more than one of --window, --next, --all", remedy="give one")
    frozen = load_frozen(study)
    if dry_run:
        from judgeaudit.cli.dry_run import show

        return show(frozen, window, as_json)
    with exclusive(study):
        summaries = Windows(study, frozen).run(window, everything=all_)
    if as_json:
        document({"runs": [summary_json(summary) for summary in summaries]})
    return ExitCode.DONE


class Windows:
    """The windows of a study that this command runs, in order, on one clock."""

    def __init__(self, root: Path, frozen: FrozenStudy) -> None:
        self.root, self.frozen = root, frozen
        self.clock = clock_of(frozen)

    def run(self, window_id: str | None, *, everything: bool) -> list[RunSummary]:
        """Run one window, the next one, or all that are left; returns how each ended."""
        from judgeaudit.cli.embedded import embedded
        from judgeaudit.collect.keys import keys_for

        todo = self._todo(window_id)
        if not todo:
            remark("all windows are sealed; nothing is left to run")
            return []
        specs = self.frozen.registration.endpoints
        keys = keys_for(specs, os.environ)
        if not everything:
            self._check_time(todo[0])
        with embedded(specs, self.clock) as started:
            if not everything:
                return [self._one(todo[0], started, keys)]
            return [self._in_time(window, started, keys) for window in todo]

    def each(self) -> Iterator[RunSummary]:
        """Yield how each window that is left ended; a caller may stop between two.

        Never waits: raises `TooEarly` where the next window is due later.
        """
        from judgeaudit.cli.embedded import embedded
        from judgeaudit.collect.keys import keys_for

        todo, specs = self._todo(None), self.frozen.registration.endpoints
        if not todo:
            return
        keys = keys_for(specs, os.environ)
        self._check_time(todo[0])
        with embedded(specs, self.clock) as started:
            for window in todo:
                self._check_time(window)
                yield self._one(window, started, keys)

    def _todo(self, window_id: str | None) -> list[Window]:
        from judgeaudit.collect.collector import window_of
        from judgeaudit.collect.status import unsealed

        return [window_of(self.frozen, window_id)] if window_id else unsealed(self.frozen)

    def _check_time(self, window: Window) -> None:
        """Raise `TooEarly` before an endpoint is started for nothing."""
        from judgeaudit.collect.collector import begun, earliest_of
        from judgeaudit.collect.guards import check_time

        if not self.clock.virtual and not begun(self.frozen, window):
            check_time(window, earliest_of(self.frozen, window), self.clock.now_ns())

    def _in_time(self, window: Window, started: Started, keys: dict[str, str]) -> RunSummary:
        import asyncio

        from judgeaudit.collect.clock import NS
        from judgeaudit.errors import TooEarly

        while True:
            try:
                self._check_time(window)
                return self._one(window, started, keys)
            except TooEarly as early:
                remark(f"window {window.id}: waiting until {early.earliest:%Y-%m-%d %H:%M:%S} UTC")
                wait = early.earliest.timestamp() - self.clock.now_ns() / NS
                asyncio.run(self.clock.sleep(max(0.5, wait)))

    def _one(self, window: Window, started: Started, keys: dict[str, str]) -> RunSummary:
        import asyncio

        from judgeaudit.cli.progress import watching
        from judgeaudit.collect.collector import collect
        from judgeaudit.evidence.derive import derive

        self._render_stage(window)
        currency = self.frozen.registration.endpoints[0].prices.currency
        with watching(f"window {window.id}", currency) as watcher:
            summary = asyncio.run(
                collect(
                    self.frozen,
                    window.id,
                    clock=self.clock,
                    bases=started.bases,
                    keys=keys,
                    derive=derive(self.frozen),
                    identity=started.identity,
                    watcher=watcher,
                )
            )
        remark(line_of(summary))
        return summary

    def _render_stage(self, window: Window) -> None:
        """Freeze a later stage's bodies, once every window before it is sealed."""
        from judgeaudit.cli.log_facts import freeze_next_stage
        from judgeaudit.evidence.lock.files import load_frozen

        if window.stage == 1 or window.stage in self.frozen.stage_locks:
            return
        if (made := freeze_next_stage(self.frozen)) is not None:
            self.frozen = load_frozen(self.root)
            remark(f"stage {made[0]} frozen from the sealed readings: lock {made[1].digest}")


def clock_of(frozen: FrozenStudy) -> RunClock:
    """Return the registered clock."""
    from judgeaudit.collect.clock import RealClock, VirtualClock
    from judgeaudit.collect.guards import to_ns

    schedule = frozen.registration.schedule
    if schedule.clock == "utc":
        return RealClock()
    return VirtualClock(VIRTUAL_START if schedule.start is None else to_ns(schedule.start))


def line_of(summary: RunSummary) -> str:
    """Return how a window ended, in one line."""
    calls, readings = summary.manifest["ledger"]["calls"], summary.manifest["readings"]
    valid = readings["by_status"].get("ok", 0)
    return (
        f"window {summary.window}: sealed, {valid} of {readings['planned']} readings valid; "
        f"{calls['attempts']} attempts = {calls['response']} responses + "
        f"{calls['transport']} transport failures + {calls['unresolved']} unresolved"
    )


def summary_json(summary: RunSummary) -> dict[str, Any]:
    """Return how a window ended, as JSON."""
    manifest = summary.manifest
    return {
        "window": summary.window,
        "sealed": True,
        "readings": manifest["readings"],
        "ledger": manifest["ledger"],
        "missing": manifest["missing"],
        "attempts_now": summary.attempts,
        "voided": summary.voided,
        "cost": str(summary.cost),
        "seconds": round(summary.seconds, 3),
    }
