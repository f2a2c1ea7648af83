"""Chances of a gate's outcomes, before it is frozen (its operating characteristic).

* Rule "point": pass if the estimate >= threshold, else fail. Rule "bound": pass if the
  one-sided lower bound >= threshold, fail if the upper bound < threshold, else inconclusive.
* A gate **discriminates** if a healthy instrument passes with chance >= .9 and a degraded one
  with chance <= .1; both are declared from the requirement, never from the pilot.
* A pilot shows an instrument **capable** if its interval lies on the healthy side of the degraded
  one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined

Rule = Literal["point", "bound"]


HEALTHY_PASSES, DEGRADED_PASSES = 0.9, 0.1
CAPABLE_LEVEL = 0.8  # its ends are one-sided bounds at .1


@dataclass(frozen=True, slots=True)
class Chances:
    """Chances of a gate's outcomes; they add to 1."""

    passes: float
    fails: float
    inconclusive: float = 0.0
    undefined: float = 0.0


def capable(
    pilot: Interval | Undefined, degraded: float, *, higher_is_better: bool = True
) -> bool | None:
    """Say whether a pilot shows its instrument to be better than the degraded one.

    `pilot` is the interval of level .8 of the gate's quantity, so that an instrument just at
    the degraded boundary is called capable with chance <= .1, however small the pilot. False
    where the whole interval lies at degraded or beyond; None (the pilot is too small to tell, or
    has no interval) otherwise. A predictive chance above one half is looser at that
    boundary, and a plug-in chance of .9 refuses good instruments: see the tests.

    Parameters
    ----------
    pilot : Interval or Undefined
        The .8 interval of the gate's quantity.
    degraded : float
        The quantity of the degraded instrument.
    higher_is_better : bool
        Direction of the quantity.

    Returns
    -------
    bool, or None without an interval.
    """
    if isinstance(pilot, Undefined):
        return None
    if not math.isclose(pilot.level, CAPABLE_LEVEL):
        raise InputError("pilot", "level", f"{pilot.level}", f"give the {CAPABLE_LEVEL} interval")
    better = pilot.low > degraded if higher_is_better else pilot.high < degraded
    worse = pilot.high <= degraded if higher_is_better else pilot.low >= degraded
    return True if better else False if worse else None


def pilot_size(healthy: float, degraded: float, *, chance: float = 0.9, most: int = 20_000) -> int:
    """Return the items whose share shows a healthy instrument to be better than degraded.

    The fewest independent items at which the one-sided bound at .1 clears `degraded` with `chance`
    where `healthy` is true (and at 5 % more of them). An instrument without a flip clears .04 with
    57 items: ln(.1)/ln(.96). Raises `InputError` unless the two shares differ.
    """
    if healthy == degraded or not (0 <= healthy <= 1 and 0 <= degraded <= 1):
        raise InputError("pilot", "healthy, degraded", f"{healthy}, {degraded}", "give two shares")
    if healthy > degraded:
        healthy, degraded = 1 - healthy, 1 - degraded
    size, step = 1, 1.05
    while size < most:
        if all(_clears(math.ceil(size * more), healthy, degraded) >= chance for more in (1, step)):
            return size
        size = max(size + 1, int(size * 1.02))
    return most


def _clears(n: int, rate: float, limit: float) -> float:
    """Return the chance that the upper bound at .1 of a share lies below `limit`."""
    counts = np.arange(n)
    upper = special.betaincinv(counts + 1, n - counts, 0.9)
    passing = counts[upper < limit]
    chances = _binomial(passing, n, rate)
    return float(chances.sum())


def _binomial(counts: NDArray[np.int64], n: int, rate: float) -> NDArray[np.float64]:
    """Return the binomial chances of `counts` of n at `rate`."""
    choose = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
    logs = special.xlogy(counts, rate) + special.xlog1py(n - counts, -rate)
    return np.asarray(np.exp(choose + logs), float)


def per_comparison(exact_match: float, candidates: int) -> float:
    """Stability of each pair that an exact-match share implies: q^(1/C(m, 2)).

    Pairs taken as independent: .99 on whole rankings of ten asks .99978 of each pair.

    Parameters
    ----------
    exact_match : float
        Share of whole rankings that agree, in (0, 1].
    candidates : int
        Candidates m in a ranking, at least 2.

    Returns
    -------
    float in (0, 1].
    """
    if not 0 < exact_match <= 1 or candidates < 2:
        raise InputError("gate", "exact match", f"{exact_match!r}", "give q in (0, 1], m >= 2")
    return float(exact_match ** (1 / math.comb(candidates, 2)))
