"""What chance alone does to a rule on the spread between days.

A rule such as "the days' medians lie at most .03 apart" fires on a perfectly steady judge too: five
medians of noisy agreements differ by something. The rule says little unless that is printed beside
it.

Rules of this module:

* `agreement` is the windows x windows table of shares of equal readings; a day's value is the
  median over pairs of its windows, and the spread is the largest less the smallest day.
* From data: windows are dealt to days anew, keeping the number of windows a day; the null chance
  is the share of deals whose spread exceeds the limit.
* From a plan: readings of n items with a given share of equal pairs, one constant noise, are
  simulated for all windows, and the same rule is applied.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
DEALS = 2_000


def day_spread(agreement: Floats, days: Codes) -> float:
    """Return the largest less the smallest day's median agreement over pairs of its windows.

    Parameters
    ----------
    agreement : array, shape (W, W)
        Share of equal readings of each pair of windows.
    days : array of int, shape (W,)
        The day of each window. Days with a single window have no pair and are left out.

    Returns
    -------
    float; nan with fewer than two days that have a pair.
    """
    medians = []
    for day in np.unique(days):
        windows = np.flatnonzero(days == day)
        pairs = [agreement[a, b] for a, b in combinations(windows, 2)]
        if pairs:
            medians.append(float(np.median(pairs)))
    return max(medians) - min(medians) if len(medians) > 1 else float("nan")


def chance_by_dealing(
    agreement: Floats,
    days: Codes,
    limit: float,
    *,
    rng: np.random.Generator,
    deals: int = DEALS,
) -> float | Undefined:
    """Return how often the spread exceeds `limit` when windows are dealt to days at random.

    Parameters
    ----------
    agreement, days : as in `day_spread`.
    limit : float
        The rule's limit; a spread above it fires.
    rng : numpy Generator
        Deals the windows.
    deals : int
        Number of deals.

    Returns
    -------
    float in [0, 1], or Undefined with fewer than two days that have a pair.
    """
    if np.isnan(day_spread(agreement, days)):
        return Undefined("needs two days with two windows each")
    above = sum(day_spread(agreement, rng.permuted(days)) > limit + 1e-12 for _ in range(deals))
    return above / deals


def chance_by_simulation(
    equal: float,
    items: int,
    windows_a_day: int,
    days: int,
    limit: float,
    *,
    rng: np.random.Generator,
    studies: int = 500,
) -> float:
    """Return how often the rule fires on a judge of one constant noise.

    Every item has two readings, of chances p and 1 - p in each window, with 2 p (1 - p) = 1 -
    `equal`; windows are independent.

    Parameters
    ----------
    equal : float
        Chance that two readings of an item are equal, at least .5.
    items, windows_a_day, days : int
        The plan.
    limit : float
        The rule's limit.
    rng : numpy Generator
        Draws the readings.
    studies : int
        Number of simulated studies.

    Returns
    -------
    float in [0, 1]
    """
    flip = min(max(1 - equal, 0.0), 0.5)
    p = (1 - np.sqrt(1 - 2 * flip)) / 2
    windows = days * windows_a_day
    labels = np.repeat(np.arange(days), windows_a_day)
    fired = 0
    for _ in range(studies):
        readings = (rng.random((items, windows)) < p).astype(np.float64)
        both = readings.T @ readings + (1 - readings).T @ (1 - readings)
        fired += bool(day_spread(both / items, labels) > limit + 1e-12)
    return fired / studies
