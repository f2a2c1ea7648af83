"""A study's windows, asked in order on one clock, each sealed when it is done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgeaudit.canonical import digest
from judgeaudit.collect.clock import NS, RealClock, RunClock, VirtualClock
from judgeaudit.collect.collector import RunSummary, begun, collect, earliest_of, window_of
from judgeaudit.collect.guards import check_time, to_ns
from judgeaudit.collect.keys import keys_for
from judgeaudit.collect.status import unsealed
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import TooEarly
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.log.manifest import manifest_bytes
from judgeaudit.model import Window
from judgeaudit.study.embedded import Started, embedded
from judgeaudit.study.log_facts import freeze_next_stage
from judgeaudit.study.progress import (
    Progress,
    Remark,
    Steps,
    WindowBegun,
    WindowEnded,
    silent,
)

LONGEST_STEP_S = 30.0
VIRTUAL_START = 1_767_225_600_000_000_000
"""2026-01-01 00:00 UTC: where the virtual clock starts without a registered start."""


class Windows:
    """The windows of a study that a command runs, in order, on one clock.

    `environment` holds the endpoints' keys, by default the process's own variables.
    """

    def __init__(
        self,
        root: Path,
        frozen: FrozenStudy,
        progress: Progress = silent,
        environment: Mapping[str, str] | None = None,
        *,
        seal_anyway: bool = False,
    ) -> None:
        self.root, self.frozen, self.progress = root, frozen, progress
        self.clock, self.seal_anyway = clock_of(frozen), seal_anyway
        self._environment = os.environ if environment is None else environment

    def run(self, window_id: str | None, *, everything: bool) -> list[RunSummary]:
        """Run one window, the next one, or all that are left; returns how each ended."""
        todo = self._todo(window_id)
        if not todo:
            self.progress(Remark("all windows are sealed; nothing is left to run"))
            return []
        specs = self.frozen.registration.endpoints
        keys = keys_for(specs, self._environment)
        if not everything:
            self._check_time(todo[0])
        with embedded(specs, self.clock, self.progress) as started:
            if not everything:
                return [self._one(todo[0], started, keys)]
            return [self._in_time(window, started, keys) for window in todo]

    def each(self) -> Iterator[RunSummary]:
        """Yield how each window that is left ended; a caller may stop between two.

        Never waits: raises `TooEarly` where the next window is due later.
        """
        todo, specs = self._todo(None), self.frozen.registration.endpoints
        if not todo:
            return
        keys = keys_for(specs, self._environment)
        self._check_time(todo[0])
        with embedded(specs, self.clock, self.progress) as started:
            for window in todo:
                self._check_time(window)
                yield self._one(window, started, keys)

    def _todo(self, window_id: str | None) -> list[Window]:
        return [window_of(self.frozen, window_id)] if window_id else unsealed(self.frozen)

    def _check_time(self, window: Window) -> None:
        """Raise `TooEarly` before an endpoint is started for nothing."""
        if not self.clock.virtual and not begun(self.frozen, window):
            check_time(window, earliest_of(self.frozen, window), self.clock.now_ns())

    def _in_time(self, window: Window, started: Started, keys: dict[str, str]) -> RunSummary:
        while True:
            try:
                self._check_time(window)
                return self._one(window, started, keys)
            except TooEarly as early:
                due = f"{early.earliest:%Y-%m-%d %H:%M:%S} UTC"
                self.progress(Remark(f"window {window.id}: waiting until {due}"))
                self._sleep_until(early.earliest.timestamp())

    def _sleep_until(self, due: float) -> None:
        """Wait in short steps: the wall clock may be set, or the machine sleep, meanwhile."""
        while (left := due - self.clock.now_ns() / NS) > 0:
            asyncio.run(
                self.clock.sleep(min(left, LONGEST_STEP_S) if not self.clock.virtual else left)
            )

    def _one(self, window: Window, started: Started, keys: dict[str, str]) -> RunSummary:
        self._render_stage(window)
        currency = self.frozen.registration.endpoints[0].prices.currency
        self.progress(WindowBegun(window.id, currency))
        says = ""
        try:
            summary = asyncio.run(
                collect(
                    self.frozen,
                    window.id,
                    clock=self.clock,
                    bases=started.bases,
                    keys=keys,
                    derive=derive(self.frozen),
                    identity=started.identity,
                    watcher=Steps(window.id, self.progress),
                    teller=lambda text: self.progress(Remark(f"window {window.id}: {text}")),
                    seal_anyway=self.seal_anyway,
                )
            )
            says = line_of(summary)
        finally:
            self.progress(WindowEnded(window.id, says))
        return summary

    def _render_stage(self, window: Window) -> None:
        """Freeze a later stage's bodies, once every window before it is sealed."""
        if window.stage == 1 or window.stage in self.frozen.stage_locks:
            return
        if (made := freeze_next_stage(self.frozen)) is not None:
            self.frozen = load_frozen(self.root)
            says = f"stage {made[0]} frozen from the sealed readings: lock {made[1].digest}"
            self.progress(Remark(says))


def clock_of(frozen: FrozenStudy) -> RunClock:
    """Return the registered clock."""
    schedule = frozen.registration.schedule
    if schedule.clock == "utc":
        return RealClock()
    return VirtualClock(VIRTUAL_START if schedule.start is None else to_ns(schedule.start))


def head_after(manifest: Mapping[str, Any]) -> str:
    """Return the log's head once this run is sealed: the digest of its manifest."""
    return str(digest(manifest_bytes(manifest)))


def line_of(summary: RunSummary) -> str:
    """Return how a window ended, in one line."""
    calls, readings = summary.manifest["ledger"]["calls"], summary.manifest["readings"]
    valid = readings["by_status"].get("ok", 0)
    return (
        f"window {summary.window}: sealed, {valid} of {readings['planned']} readings valid; "
        f"{calls['attempts']} attempts = {calls['response']} responses + "
        f"{calls['transport']} transport failures + {calls['unresolved']} unresolved; "
        f"head {head_after(summary.manifest)}"
    )
