"""A registered rule held against named instruments: its chances and calls, one cell each.

* A rule (`fixed`, `sequential`) draws readings of an instrument, and decides on them as it will on
  the study's own.
* The characteristic of a gate is that of the even instrument; one that only holds for it says so.
* An instrument whose noise comes by run has no rate that one run could show: a run's verdict
  speaks of the time slots that it asked. Its cell is told and is no shortcoming.
* The search for a size is one: `smallest` serves `oc`, `power` and what is proposed instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgeaudit.stats.operating import DEGRADED_PASSES, HEALTHY_PASSES, Chances

EVEN, FEW_ITEMS, BY_RUN = "even", "few items", "by run"
STEPS = (1.0, 1.02, 1.05, 1.1)
"""A size is enough where it holds for itself and for 2, 5 and 10 % more: shares go in steps."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """One cell: an instrument, its true value, the chances and the calls that it costs."""

    instrument: str
    truth: float
    chances: Chances
    calls: float
    runs: int

    @property
    def error(self) -> float:
        """Three Monte Carlo errors of the chance to pass."""
        passes = self.chances.passes
        return 3 * math.sqrt(max(passes * (1 - passes), 1e-9) / self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "instrument": self.instrument,
            "truth": self.truth,
            "pass": self.chances.passes,
            "fail": self.chances.fails,
            "inconclusive": self.chances.inconclusive,
            "mean_calls": self.calls,
            "runs": self.runs,
        }


def shortcomings(
    cells: Mapping[str, Sequence[Simulated]], alpha: float, *, by_point: bool = False
) -> list[str]:
    """Return for which instruments the gate does not do what it does for the even one.

    `cells` has the cells of `healthy`, `threshold` and `degraded` by those names. At the threshold
    no instrument may pass more often than alpha and three Monte Carlo errors; a gate that decides
    by the point promises nothing there. Where the even instrument fails, nothing else is told.
    """
    told = []
    for name, found in cells.items():
        even = [cell for cell in found if cell.instrument == EVEN]
        if (by_point and name == "threshold") or not all(holds(name, c, alpha) for c in even):
            continue
        told += [
            f"{cell.instrument}: an instrument of {cell.truth:g} ({name}) passes with "
            f"chance {cell.chances.passes:.2f}"
            for cell in found
            if cell.instrument not in (EVEN, BY_RUN) and not holds(name, cell, alpha)
        ]
    return told


def holds(name: str, cell: Simulated, alpha: float) -> bool:
    """Return whether a cell of `healthy`, `threshold` or `degraded` is as it should be."""
    least = {"healthy": HEALTHY_PASSES}.get(name, 0.0)
    most = {"threshold": alpha, "degraded": DEGRADED_PASSES}.get(name, 1.0)
    return cell.chances.passes + cell.error >= least and cell.chances.passes - cell.error <= most


def smallest(
    good: Callable[[int], bool], most: int, start: int = 1, *, exact: bool = False
) -> int | None:
    """Return the fewest units that are good, to 1 % unless `exact`; None where none up to `most`.

    Larger by quarters, then halving: one search, whatever asks for a size.
    """
    units, before = start, start - 1
    while not good(units):
        before, units = units, max(units + 1, math.ceil(units * 1.25))
        if units > most:
            return None
    while units - before > (1 if exact else max(1, units // 100)):
        middle = (units + before) // 2
        before, units = (before, middle) if good(middle) else (middle, units)
    return units
