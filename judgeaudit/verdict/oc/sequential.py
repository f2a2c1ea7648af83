"""What a sequential gate does before it is frozen: the registered stop rule on simulated readings.

* Blocks, looks, cap, missing rule and threshold are the registration's. What decides here is what
  decides the sealed readings: `stats.sequential` for flips, `stopping.look` for Spearman.
* Each instrument is named (`oc.worlds`) and told by itself (`oc.simulated`).
* Calls are those of whole blocks: a run that is decided inside a block has asked all of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.errors import InputError
from judgeaudit.stats.betting import stop_mean_gates, unit_shares
from judgeaudit.stats.operating import DEGRADED_PASSES, HEALTHY_PASSES, Chances
from judgeaudit.stats.sequential import Stops, stop_flip_gates
from judgeaudit.verdict.oc.simulated import EVEN, Simulated, smallest
from judgeaudit.verdict.oc.worlds import SCORES, Where, flip_instruments, flips
from judgeaudit.verdict.stopping import look_plan, looked

RUNS = {"flips": 4000, "scores": 400}
"""Simulated runs a cell: a chance of .9 is then known to .005, or to .015 for Spearman."""

MOST_ITEMS = 4_000
"""Most items that a search for a cap tries."""

LEAST_SCORES = 10
"""Fewest items whose Spearman has an interval."""

CODES = {"pass": 1, "fail": -1}


@dataclass(frozen=True, slots=True)
class SequentialRule:
    """The rule of one gate of a sequential study: what is asked, when it is looked at, the end."""

    gate: Gate
    registration: Registration
    cap: int
    per_task: int = 1

    @property
    def unit(self) -> str:
        """What counts as one look: item, block or task."""
        assert self.registration.sequential is not None
        return self.registration.sequential.unit

    @property
    def codes(self) -> NDArray[np.int64]:
        """The unit of each item in the order of asking."""
        size = {"block": self.block, "task": self.per_task}.get(self.unit, 1)
        return np.asarray(np.arange(self.cap) // size, np.int64)

    @property
    def flips(self) -> bool:
        """Whether it counts flips; else it looks at Spearman."""
        assert self.registration.sequential is not None
        return self.registration.sequential.design != "spearman_looks"

    @property
    def block(self) -> int:
        """Items a block."""
        size = self.registration.schedule.block or self.cap
        return min(size * self.per_task if self.unit == "task" else size, self.cap)

    @property
    def seed(self) -> int:
        """The seed of its simulations: the schedule's."""
        return self.registration.schedule.seed

    @property
    def calls_an_item(self) -> int:
        """Calls an item."""
        assert self.registration.sequential is not None
        return 1 if self.registration.sequential.design == "flip_vs_baseline" else 2

    @property
    def where(self) -> Where:
        """Where noise can lie in what it asks."""
        tasks = np.arange(self.cap) // self.per_task
        return Where(self.cap, self.block, tasks if self.per_task > 1 else None)

    @property
    def instruments(self) -> tuple[str, ...]:
        """Names of the instruments that it is held against, the even one first."""
        return flip_instruments(self.where) if self.flips else tuple(SCORES)

    def weigh(self, instrument: str, truth: float, runs: int | None = None) -> Simulated:
        """Return the cell of one instrument of a true value."""
        return simulate(self, instrument, truth, self.seed, runs)

    def fires(self) -> tuple[bool, bool]:
        """Return whether the cap lets the rule pass, and fail: without a flip, with flips alone."""
        if not self.flips:
            return self.cap >= LEAST_SCORES, self.cap >= LEAST_SCORES
        ends = (np.zeros((1, self.cap)), np.ones((1, self.cap)))
        passing, failing = (self.stops(readings).outcome[0] for readings in ends)
        return bool(passing == 1), bool(failing == -1)

    def stops(self, readings: NDArray[np.float64]) -> Stops:
        """Return where each run stops: flips (runs, cap) of 1, 0, NaN, or scores (runs, cap, 2)."""
        if self.flips:
            assert self.gate.at_most is not None
            limit, alpha = float(self.gate.at_most), float(self.gate.alpha)
            if self.unit == "item":
                return stop_flip_gates(readings, limit, alpha)
            stops = stop_mean_gates(*unit_shares(readings, self.codes), limit, alpha)
            return Stops(stops.outcome, np.bincount(self.codes).cumsum()[stops.items - 1])
        assert self.registration.sequential is not None
        looks = look_plan(self.gate, self.registration.sequential, self.block, self.cap)
        found = [looked(scores, self.gate, looks, self.cap) for scores in readings]
        outcome = np.array([CODES.get(named, 0) for named, _, _ in found])
        return Stops(outcome, np.array([items for _, items, _ in found]))

    def calls(self, stops: Stops) -> float:
        """Return the mean number of calls, whole blocks and at most the cap."""
        asked = np.minimum(np.ceil(stops.items / self.block) * self.block, self.cap)
        return float(asked.mean() * self.calls_an_item)


def simulate(
    rule: SequentialRule, instrument: str, truth: float, seed: int, runs: int | None = None
) -> Simulated:
    """Return the chances of a rule for one instrument of a true value."""
    count = runs or RUNS["flips" if rule.flips else "scores"]
    rng = np.random.default_rng([seed, round(truth * 1e6)])
    if rule.flips:
        drawn = flips(instrument, rng, count, rule.where, truth)
    else:
        drawn = SCORES[instrument](rng, count, rule.where, truth)
    stops = rule.stops(drawn)
    chances = Chances(stops.rate("pass"), stops.rate("fail"), stops.rate("inconclusive"))
    return Simulated(instrument, truth, chances, rule.calls(stops), count)


def predicted(
    rule: SequentialRule, pilot: pd.DataFrame, seed: int, draws: int
) -> tuple[Chances, float]:
    """Return the chances for the piloted instrument, and its mean number of calls.

    Items of the pilot are drawn twice with replacement (what the pilot does not know, then a run's
    items), and two of an item's readings without; a reading that is missing in the pilot is missing
    here. Raises `InputError` for a pilot without an item that was asked twice.
    """
    rng = np.random.default_rng(seed)
    column = "category" if rule.flips else "number"
    items = [
        rows[column].where(rows["status"].eq("ok")).tolist()
        for _, rows in pilot.groupby(["endpoint", "item"], sort=False)
        if len(rows) > 1
    ]
    if not items:
        raise InputError("pilot", found="no item asked twice", remedy="pilot with repeats")
    runs = []
    for _ in range(draws):
        pool = rng.integers(0, len(items), len(items))
        chosen = pool[rng.integers(0, len(items), rule.cap)]
        pairs = [[items[n][k] for k in rng.choice(len(items[n]), 2, replace=False)] for n in chosen]
        runs.append([_flip(pair) for pair in pairs] if rule.flips else pairs)
    stops = rule.stops(np.asarray(runs, float))
    rates = [stops.rate(name) for name in ("pass", "fail", "inconclusive")]
    return Chances(*rates), rule.calls(stops)


def _flip(pair: list[Any]) -> float:
    return math.nan if any(pd.isna(value) for value in pair) else float(pair[0] != pair[1])


def smallest_cap(
    rule: SequentialRule,
    healthy: float,
    degraded: float | None,
    *,
    wanted: float = HEALTHY_PASSES,
    most: int = MOST_ITEMS,
) -> int | None:
    """Return the fewest items, in whole blocks, at which the executed rule is good enough.

    The even healthy instrument passes with chance `wanted`, the degraded one, where one is given,
    with at most .1. None where no number up to `most` is enough.
    """

    def good(blocks: int) -> bool:
        larger = replace(rule, cap=blocks * rule.block)
        runs = 2000 if rule.flips else 100
        if simulate(larger, EVEN, healthy, rule.seed, runs).chances.passes < wanted:
            return False
        if degraded is None:
            return True
        return simulate(larger, EVEN, degraded, rule.seed, runs).chances.passes <= DEGRADED_PASSES

    found = smallest(good, most // rule.block)
    return None if found is None else found * rule.block
