"""Two judges on the same items, or a judge against gold or a human: bias, limits, calibration.

Rules of this module:

* Bias and limits of agreement (Bland & Altman 1999): the mean difference, and the range that 95 %
  of single differences fall in, mean -/+ 1.96 SD. Each limit's interval is that of Bland & Altman
  (variance s^2/n + z^2 s^2/(2 (n - 1))); with tasks, by leaving out tasks.
* Proportional bias: the slope of the difference on the mean of both. It is 0 if both spread alike,
  and also unlike 0 if one is only noisier: the slope says "not interchangeable", not why.
* Calibration against gold: least squares of the judge on gold; a calibrated judge has slope 1 and
  intercept 0. Gold is taken as free of error.
* Errors leave out items (or tasks), t with units - 1; fewer than ten items get no interval.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.clustered import jackknife
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import LOG, Estimated, mean_estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_WITHIN = float(special.ndtri(0.975))


@dataclass(frozen=True, slots=True)
class BlandAltman:
    """Agreement of two columns in scale units.

    Attributes
    ----------
    bias : Estimated
        Mean of first less second.
    sd : Estimated
        SD of the differences.
    low, high : float
        Limits of agreement.
    low_interval, high_interval : Interval or Undefined
        Intervals of the limits.
    slope : Estimated or Undefined
        Proportional bias: slope of the difference on the mean of both.
    items : int
        Items that both have.
    """

    bias: Estimated
    sd: Estimated | Undefined
    low: float
    high: float
    low_interval: Interval | Undefined
    high_interval: Interval | Undefined
    slope: Estimated | Undefined
    items: int


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Least squares of a judge on gold: slope, intercept, and the SD of what is left."""

    slope: Estimated | Undefined
    intercept: Estimated | Undefined
    residual_sd: float
    items: int


def bland_altman(
    first: Floats, second: Floats, tasks: Codes | None = None, *, level: float = 0.95
) -> BlandAltman | Undefined:
    """Return bias, limits of agreement and proportional bias of two columns.

    Parameters
    ----------
    first, second : array, shape (n,)
        Scores (or means of repeats) in scale units; items missing in either are left out.
    tasks : array of int, shape (n,), optional
        The task of each item.
    level : float
        Level of the limits' intervals.

    Returns
    -------
    BlandAltman, or Undefined with fewer than three common items.

    References
    ----------
    Bland & Altman (1999), Statistical Methods in Medical Research 8, 135-160.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 3:
        return Undefined("fewer than 3 items that both have")
    x, y = first[both], second[both]
    codes = None if tasks is None else tasks[both]
    d = x - y
    bias = mean_estimate(d, clusters=codes)
    if isinstance(bias, Undefined):
        return bias
    sd = float(d.std(ddof=1))
    ends = [_limit(d, sign, codes, level) for sign in (-1, 1)]
    return BlandAltman(
        bias,
        jackknife(lambda kept: _sd(d[kept]), d.size, codes, scale=LOG),
        bias.value - _WITHIN * sd,
        bias.value + _WITHIN * sd,
        ends[0],
        ends[1],
        slope_of(d, (x + y) / 2, codes),
        d.size,
    )


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else math.nan


def _limit(d: Floats, sign: int, tasks: Codes | None, level: float) -> Interval | Undefined:
    if tasks is not None:
        found = jackknife(lambda k: float(d[k].mean()) + sign * _WITHIN * _sd(d[k]), d.size, tasks)
        return found if isinstance(found, Undefined) else found.interval(level)
    n, sd = d.size, _sd(d)
    if sd == 0:
        return Undefined("every difference is the same")
    se = sd * math.sqrt(1 / n + _WITHIN**2 / (2 * (n - 1)))
    half = float(special.stdtrit(n - 1, (1 + level) / 2)) * se
    centre = float(d.mean()) + sign * _WITHIN * sd
    return Interval(centre - half, centre + half, level, "Bland & Altman, t")


def slope_of(y: Floats, x: Floats, tasks: Codes | None = None) -> Estimated | Undefined:
    """Return the least squares slope of `y` on `x`, both shape (n,), by leaving out items or tasks.

    Undefined if `x` is constant.

    Parameters
    ----------
    y, x : array, shape (n,)
        Values without nan.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated, or Undefined.
    """

    def slope(kept: NDArray[np.bool_]) -> float:
        a = x[kept] - x[kept].mean()
        spread = float(a @ a)
        return float(a @ y[kept]) / spread if spread > 0 else math.nan

    found = jackknife(slope, x.size, tasks)
    return Undefined("one of the two does not vary") if isinstance(found, Undefined) else found


def calibration(judge: Floats, gold: Floats, tasks: Codes | None = None) -> Calibrated | Undefined:
    """Return slope and intercept of a judge's scores on gold.

    Parameters
    ----------
    judge, gold : array, shape (n,)
        Scores in the same units; items missing in either are left out.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Calibrated, or Undefined with fewer than three common items or constant gold.
    """
    both = ~(np.isnan(judge) | np.isnan(gold))
    if both.sum() < 3:
        return Undefined("fewer than 3 items that both have")
    y, x = judge[both], gold[both]
    codes = None if tasks is None else tasks[both]
    if np.ptp(x) == 0:
        return Undefined("gold does not vary")

    def intercept(kept: NDArray[np.bool_]) -> float:
        a, b = x[kept], y[kept]
        spread = float(((a - a.mean()) ** 2).sum())
        if spread == 0:
            return math.nan
        return float(b.mean() - (a - a.mean()) @ b / spread * a.mean())

    slope = slope_of(y, x, codes)
    b = float(np.polyfit(x, y, 1)[0])
    left = y - y.mean() - b * (x - x.mean())
    sd = math.sqrt(float(left @ left) / max(y.size - 2, 1))
    return Calibrated(slope, jackknife(intercept, y.size, codes), sd, y.size)
