"""Progress of a run on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgeaudit.cli.output import remark

if TYPE_CHECKING:
    from judgeaudit.collect.watch import Counts

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.1


def line_of(counts: Counts, seconds: float, done_before: int, currency: str) -> str:
    """Return calls done, rate, cost so far and time left, as one line."""
    fresh = counts.done - done_before
    rate = fresh / seconds if seconds > 0 else 0.0
    left = (counts.planned - counts.done) / rate if rate else None
    parts = [f"{counts.done}/{counts.planned} calls", f"{rate:.1f}/s"]
    if counts.cost:
        parts.append(f"{counts.cost:.4f} {currency}")
    failed = counts.attempts - counts.outcomes["ok"]  # type: ignore[index]
    if failed:
        parts.append(f"{failed} attempts without a reply")
    parts.append("time left unknown" if left is None else f"{clock_time(left)} left")
    return ", ".join(parts)


def clock_time(seconds: float) -> str:
    """Return a duration as `m:ss` or `h:mm:ss`."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class Pace:
    """Says when something may be shown again, so that showing costs nothing per call."""

    def __init__(self, every_s: float) -> None:
        self._every, self._next = every_s, time.monotonic() + every_s

    def due(self) -> bool:
        """Return True at most once every so many seconds."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._every
        return True


@contextmanager
def watching(label: str, currency: str = "USD") -> Iterator[Callable[[Counts], None]]:
    """Yield what a run calls after every change."""
    if sys.stderr.isatty():
        with _bar(label, currency) as watch:
            yield watch
    else:
        yield _plain(label, currency)


def _plain(label: str, currency: str) -> Callable[[Counts], None]:
    pace, begun = Pace(LINE_EVERY_S), time.monotonic()
    before: list[int] = []

    def watch(counts: Counts) -> None:
        before.append(counts.done) if not before else None
        if pace.due():
            told = line_of(counts, time.monotonic() - begun, before[0], currency)
            remark(f"{label}: {told}")

    return watch


@contextmanager
def _bar(label: str, currency: str) -> Iterator[Callable[[Counts], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    pace, begun = Pace(DRAW_EVERY_S), time.monotonic()
    before: list[int] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, told="")

        def watch(counts: Counts) -> None:
            before.append(counts.done) if not before else None
            if pace.due():
                told = line_of(counts, time.monotonic() - begun, before[0], currency)
                bar.update(task, total=counts.planned, completed=counts.done, told=told)

        yield watch
