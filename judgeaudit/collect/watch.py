"""Counts of a run in progress, for whoever shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from judgeaudit.model import Outcome


@dataclass(slots=True)
class Counts:
    """How far a window has come. `watcher` is called after every change.

    `teller` is given what a person should know while it happens: a wait, a jump of the clock.
    `planned` and `done` count calls, `attempts` tries on the network in this run, `cost` what they
    were reported to use.
    """

    planned: int = 0
    done: int = 0
    attempts: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    cost: Decimal = Decimal(0)
    watcher: Callable[[Counts], None] | None = None
    teller: Callable[[str], None] | None = None

    @property
    def failed(self) -> int:
        """The tries that brought no reply."""
        return self.attempts - self.outcomes[Outcome.OK]

    def call_done(self) -> None:
        """Count a planned call that needs nothing more."""
        self.done += 1
        self._tell()

    def attempt_done(self, outcome: Outcome, cost: Decimal) -> None:
        """Count an attempt that ended."""
        self.attempts += 1
        self.outcomes[outcome] += 1
        self.cost += cost
        self._tell()

    def say(self, text: str) -> None:
        """Tell a person something at once."""
        if self.teller is not None:
            self.teller(text)

    def _tell(self) -> None:
        if self.watcher is not None:
            self.watcher(self)
