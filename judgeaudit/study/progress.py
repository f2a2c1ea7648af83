"""What a caller hears while a command works: events, given to one callback as they come.

`str(event)` is a line for people, so that `progress=print` is a valid caller; the command line
draws bars from the same events. An event says how far the work is, never what a judge answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgeaudit.collect.watch import Counts

__all__ = [
    "CallsDone",
    "Counts",
    "Event",
    "Progress",
    "Remark",
    "Steps",
    "WeightsFetched",
    "WindowBegun",
    "WindowEnded",
    "silent",
]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a person should know and that is no finding."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class WindowBegun:
    """A window is about to be asked; `currency` is that of its cost."""

    window: str
    currency: str

    def __str__(self) -> str:
        return f"window {self.window}: begun"


@dataclass(frozen=True, slots=True)
class CallsDone:
    """How far a window is, told after every call and every try that failed.

    `counts` goes on changing.
    """

    window: str
    counts: Counts

    def __str__(self) -> str:
        said = f"window {self.window}: {self.counts.done}/{self.counts.planned} calls"
        failed = self.counts.failed
        return said + (f", {failed} attempts without a reply" if failed else "")


@dataclass(frozen=True, slots=True)
class WindowEnded:
    """A window was sealed, or its run stopped; `says` is empty for one that stopped."""

    window: str
    says: str

    def __str__(self) -> str:
        return self.says or f"window {self.window}: stopped"


@dataclass(frozen=True, slots=True)
class WeightsFetched:
    """So many of the bytes of the local judge's weights are here."""

    done: int
    total: int

    def __str__(self) -> str:
        return f"the local judge's weights: {self.done / 1e6:.0f} of {self.total / 1e6:.0f} MB"


Event = Remark | WindowBegun | CallsDone | WindowEnded | WeightsFetched
Progress = Callable[[Event], None]


@dataclass(slots=True)
class Steps:
    """Passes a window's counts on where they say something new: each step is told once."""

    window: str
    progress: Progress
    told: tuple[int, int] | None = None

    def __call__(self, counts: Counts) -> None:
        """Tell how far the window is, unless that was told already."""
        if (now := (counts.done, counts.failed)) != self.told:
            self.told = now
            self.progress(CallsDone(self.window, counts))


def silent(event: Event) -> None:
    """Hear nothing: the default of every function that takes a `progress`."""
