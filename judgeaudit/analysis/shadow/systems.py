"""Whether two systems' difference is beyond the judge's own noise, where the calls allow to say it.

* Systems are told apart by what the harness says of each call (`--system`).
* Two systems are compared only where their calls were interleaved in time: the chance that a call
  of one came before a call of the other (the Mann-Whitney statistic of the times, over the product
  of the counts) is between `LEAST` and 1 - `LEAST`. Otherwise system and time are confounded: a
  judge that drifts looks like a better system.
* What is held against the difference of means D is the judge's noise alone: two runs of this judge
  on these very answers differ by less than 1.96 s_w sqrt(1/n_a + 1/n_b) in 95 % of cases, s_w the
  within-call standard deviation. It says nothing of other items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import noise

LEAST = 0.25


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two systems: how often the first came before the second, and what their means differ by.

    `difference` is None where nothing can be said; `why` then says why.
    """

    first: str
    second: str
    before: float
    difference: float | None = None
    noise: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """The systems of one kind of call: how many calls each has, and each pair of them."""

    calls: dict[str, int]
    contrasts: tuple[Contrast, ...]


def systems_of(taken: pd.DataFrame, used: pd.DataFrame, kind: str) -> System | None:
    """Return the comparison of a kind's systems; None where fewer than two are told.

    `taken` are the harness's own calls, `used` those that were asked again, with their re-asks.
    """
    told = taken[taken["system"].notna()]
    names = sorted(set(told["system"]))
    if len(names) < 2:
        return None
    counts = {name: int(told["system"].eq(name).sum()) for name in names}
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    within = _within(used, kind)
    return System(counts, tuple(_contrast(told, a, b, kind, within) for a, b in pairs))


def _contrast(told: pd.DataFrame, a: str, b: str, kind: str, within: float | None) -> Contrast:
    one, two = (told[told["system"].eq(name)] for name in (a, b))
    wins = stats.mannwhitneyu(two["reserved_at"], one["reserved_at"]).statistic
    before = float(wins) / (len(one) * len(two))
    if not LEAST <= before <= 1 - LEAST:
        return Contrast(a, b, before, why="system and time are confounded: interleave the calls")
    if kind != "number":
        return Contrast(a, b, before, why="the answers are no numbers: read one with --value")
    values = [part["number"].where(part["status"].eq("ok")).dropna() for part in (one, two)]
    if not all(len(value) for value in values):
        return Contrast(a, b, before, why="one of them has no valid answer")
    difference = float(values[0].mean() - values[1].mean())
    if within is None:
        return Contrast(a, b, before, difference, why="no call was asked again: noise unknown")
    floor = 1.96 * within * math.sqrt(1 / len(values[0]) + 1 / len(values[1]))
    return Contrast(a, b, before, difference, floor)


def _within(used: pd.DataFrame, kind: str) -> float | None:
    """Return the within-call standard deviation of the numbers, None where there is none."""
    if kind != "number" or not len(used):
        return None
    valid = used["number"].where(used["status"].eq("ok"))
    wide = used.assign(valid=valid).pivot(index="origin", columns="repeat", values="valid")
    found = noise(wide.to_numpy(float))
    return None if isinstance(found, Undefined) else float(np.float64(found.sd.value))
