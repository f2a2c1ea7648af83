"""The workflow's events on stderr: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.output import remark

if TYPE_CHECKING:
    from judgeaudit.study.progress import Counts, Event, Progress

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.1
WEIGHTS = "fetching the local judge's weights"


def line_of(counts: Counts, seconds: float, done_before: int, currency: str) -> str:
    """Return calls done, rate, cost so far and time left, as one line."""
    fresh = counts.done - done_before
    rate = fresh / seconds if seconds > 0 else 0.0
    left = (counts.planned - counts.done) / rate if rate else None
    parts = [f"{counts.done}/{counts.planned} calls", f"{rate:.1f}/s"]
    if counts.cost:
        parts.append(f"{counts.cost:.4f} {currency}")
    if counts.failed:
        parts.append(f"{counts.failed} attempts without a reply")
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
def shown() -> Iterator[Progress]:
    """Yield the callback that tells a person of events; what it draws is taken away at the end."""
    told = _Bars() if sys.stderr.isatty() else _Lines()
    try:
        yield told
    finally:
        told.close()


def heard(event: Event) -> None:
    """Tell one event as a line: for work that has remarks alone."""
    remark(str(event))


@dataclass(slots=True)
class _Watched:
    """A window that is being asked: since when, and how many calls were done before."""

    currency: str
    pace: Pace
    begun: float = field(default_factory=time.monotonic)
    before: int | None = None

    def line(self, counts: Counts) -> str | None:
        """Return how far it is, if it is time to say so."""
        self.before = counts.done if self.before is None else self.before
        if not self.pace.due():
            return None
        return line_of(counts, time.monotonic() - self.begun, self.before, self.currency)


class _Lines:
    """Events as lines of a log."""

    every_s = LINE_EVERY_S

    def __init__(self) -> None:
        self._window: _Watched | None = None
        self._fetching = False

    def __call__(self, event: Event) -> None:
        from judgeaudit.study import progress as events

        if isinstance(event, events.Remark):
            remark(event.text)
        elif isinstance(event, events.WindowBegun):
            self._window = _Watched(event.currency, Pace(self.every_s))
            self.begun(event.window)
        elif isinstance(event, events.CallsDone):
            self.calls(event.window, event.counts)
        elif isinstance(event, events.WindowEnded):
            self.close()
            remark(event.says) if event.says else None
        else:
            self.weights(event.done, event.total)

    def begun(self, window: str) -> None:
        """Show that a window is asked."""

    def calls(self, window: str, counts: Counts) -> None:
        """Show how far a window is."""
        if self._window is not None and (told := self._window.line(counts)) is not None:
            remark(f"window {window}: {told}")

    def weights(self, done: int, total: int) -> None:
        """Show, once, that weights are fetched."""
        if not self._fetching:
            remark(f"{WEIGHTS}: {total / 1e6:.0f} MB, once")
        self._fetching = True

    def close(self) -> None:
        """Take away what is drawn."""


class _Bars(_Lines):
    """Events as bars, one at a time."""

    every_s = DRAW_EVERY_S

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None
        self._task: Any = None

    def begun(self, window: str) -> None:
        """Draw an empty bar."""
        from rich.progress import TextColumn

        self._draw(f"window {window}", None, TextColumn("{task.fields[told]}"))

    def calls(self, window: str, counts: Counts) -> None:
        """Move the bar now and then."""
        if self._window is not None and (told := self._window.line(counts)) is not None:
            self._bar.update(self._task, total=counts.planned, completed=counts.done, told=told)

    def weights(self, done: int, total: int) -> None:
        """Move the bar of the download."""
        from rich.progress import DownloadColumn

        if self._bar is None:
            self._draw(WEIGHTS, total, DownloadColumn())
        self._bar.update(self._task, completed=done)
        if done >= total:
            self.close()

    def _draw(self, label: str, total: int | None, column: Any) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.close()
        columns = (TextColumn("{task.description}"), BarColumn(), column)
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(label, total=total, told="")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None
