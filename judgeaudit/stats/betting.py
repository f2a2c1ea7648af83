"""A gate on the mean of bounded values that may look after every value: betting.

Each unit (a block of items, or a task) gives x in [0, 1], the share of its items that flipped. A
bettor against "the mean is at least T" stakes a share of his capital on x below T; against "at
most T", on x above it. Each capital is a supermartingale under its null, so that it reaches
1/alpha with chance <= alpha however often one looks (Ville), **whatever the values do inside a
unit**: only the conditional mean of a unit, given those before, counts. Units come in random order.

* The stake is the approximate growth-optimal one of Waudby-Smith & Ramdas (2024), section B.3, from
  the values before: (T - m)/(v + (T - m)^2) with mean m and variance v, at most `MOST`/(1 - T), so
  that one unit of flips alone costs a factor of 100 and not everything.
* Before any value m = T/4 and v = T^2/5, worth one value: the first stake is the largest allowed.
* Units without a flip multiply the capital by 1/(1 - T) at most: fewer than
  ln(1/alpha)/-ln(1 - T) units can pass nothing (29 at T = .10, 59 at .05, alpha .05).

References
----------
Waudby-Smith & Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86,
1-27.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgeaudit.errors import InputError
from judgeaudit.stats.sequential import Stops, first_crossings

Floats = NDArray[np.float64]
MOST = 0.99
"""The largest stake, as a share of what would be lost whole on one value of 1."""


def log_e_below(values: ArrayLike, threshold: ArrayLike) -> Floats:
    """Return the log capital, after each value, against "the mean is at least `threshold`".

    Parameters
    ----------
    values : array, shape (runs, units)
        Values in [0, 1] in the order in which they came; nan for a unit that says nothing.
    threshold : float, or array of shape (runs, 1)
        T, in (0, 1).

    Returns
    -------
    array, shape (runs, units).
    """
    x, limit = np.asarray(values, float), np.asarray(threshold, float)
    if np.any((x < 0) | (x > 1)) or np.any((limit <= 0) | (limit >= 1)):
        raise InputError("betting", found="values or threshold outside of 0 to 1", remedy="shares")
    there = ~np.isnan(x)
    known = np.where(there, x, 0.0)
    count = there.cumsum(axis=1) + 1.0
    mean = (limit / 4 + known.cumsum(axis=1)) / count
    spread = np.where(there, (known - mean) ** 2, 0.0)
    variance = (limit**2 / 5 + spread.cumsum(axis=1)) / count
    runs = np.broadcast_shapes(x.shape, limit.shape)[0] if limit.ndim else x.shape[0]
    before = [
        np.concatenate([np.broadcast_to(first, (runs, 1)), later[:, :-1]], axis=1)
        for first, later in ((limit / 4, mean), (limit**2 / 5, variance))
    ]
    gain = limit - before[0]
    stake = np.clip(gain / (before[1] + gain**2), 0.0, MOST / (1 - limit))
    growth = np.where(there, np.log1p(stake * (limit - known)), 0.0)
    return np.asarray(growth.cumsum(axis=1))


def log_e_above(values: ArrayLike, threshold: ArrayLike) -> Floats:
    """Return the log capital, after each value, against "the mean is at most `threshold`".

    Parameters
    ----------
    values : array, shape (runs, units)
        Values in [0, 1] in the order in which they came; nan for a unit that says nothing.
    threshold : float, or array of shape (runs, 1)
        T, in (0, 1).

    Returns
    -------
    array, shape (runs, units).
    """
    return log_e_below(1 - np.asarray(values, float), 1 - np.asarray(threshold, float))


def stop_mean_gates(
    strict: ArrayLike, lenient: ArrayLike, threshold: float, alpha: float = 0.05
) -> Stops:
    """Run gates "the mean is at most T" on runs x units; the items of `Stops` count units.

    Parameters
    ----------
    strict : array, shape (runs, units)
        Each unit's share with invalid replies counted as flips: what may pass.
    lenient : array, shape (runs, units)
        The share without them, nan where nothing is left: what may fail.
    threshold : float
        T, in (0, 1).
    alpha : float
        Chance of a wrong decision on each side.

    Returns
    -------
    Stops
    """
    bar = -math.log(alpha)
    return first_crossings(
        log_e_below(strict, threshold) >= bar, log_e_above(lenient, threshold) >= bar
    )


def unit_shares(flips: ArrayLike, codes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return each unit's share of flips, strict (nan counts as a flip) and lenient (left out).

    Parameters
    ----------
    flips : array, shape (runs, items)
        1 flipped, 0 did not, nan could not be read.
    codes : array of int, shape (items,)
        The unit of each item, 0, 1, ... in the order in which units come.

    Returns
    -------
    Two arrays, shape (runs, units); lenient is nan where nothing could be read.
    """
    x = np.asarray(flips, float)
    member = np.zeros((codes.size, int(codes.max(initial=-1)) + 1))
    member[np.arange(codes.size), codes] = 1.0
    lost = np.isnan(x)
    hits, there = np.where(lost, 0.0, x) @ member, (~lost).astype(float) @ member
    with np.errstate(divide="ignore", invalid="ignore"):
        lenient = np.where(there > 0, hits / there, np.nan)
    return (hits + lost.astype(float) @ member) / member.sum(axis=0), lenient


def fewest_units(threshold: float, alpha: float = 0.05) -> int:
    """Return the fewest units that can show a mean below `threshold`: ln(1/alpha)/-ln(1 - T).

    Parameters
    ----------
    threshold : float
        T, in (0, 1).
    alpha : float
        Chance of a wrong pass.

    Returns
    -------
    int: 29 at .10 and 59 at .05, alpha .05.
    """
    if not (0 < threshold < 1 and 0 < alpha < 1):
        raise InputError("betting", "threshold, alpha", f"{threshold!r}, {alpha!r}", "in (0, 1)")
    return math.ceil(math.log(1 / alpha) / -math.log1p(-threshold))


def mean_bounds(strict: ArrayLike, lenient: ArrayLike, alpha: float) -> tuple[float, float]:
    """Return the means, to .001, that neither capital rejects after the last unit.

    Parameters
    ----------
    strict, lenient : array, shape (units,)
        As in `stop_mean_gates`.
    alpha : float
        Error a side.

    Returns
    -------
    (low, high) in [0, 1].
    """
    means, bar = np.arange(1, 1000)[:, None] / 1000, -math.log(alpha)
    above = log_e_above(np.asarray(lenient, float)[None], means)[:, -1] >= bar
    below = log_e_below(np.asarray(strict, float)[None], means)[:, -1] >= bar
    low = float(means[above].max()) if above.any() else 0.0
    return low, float(means[below].min()) if below.any() else 1.0
