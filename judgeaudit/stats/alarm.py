"""A drift alarm whose false-alarm rate is guaranteed by calibration on clean runs.

* A **run** is one monitoring horizon, e.g. a nightly pass over the anchors. Its number
  is the largest CUSUM of residuals (score - item's own mean)/SD.
* The threshold is an order statistic of that number over N clean runs ("split": other
  runs than those that set the items' means). If runs are exchangeable, the chance of a
  false alarm is at most alpha, whatever the dependence **inside** a run; calibration
  runs therefore stand on days of their own, because a shared day is dependence
  **between** runs.
* An alarm needs a value strictly above the threshold, so ties count against it.
* With N clean runs no alpha below 1/(N + 1) can be promised, and none is.
* The guarantee is on average over calibrations; one calibration's own rate varies as a
  beta variable, whose range is part of the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError

Floats = NDArray[np.float64]


def cusum(values: ArrayLike, allowance: float = 0.5) -> Floats:
    """Two-sided CUSUM along the last axis: the larger of the upward and downward sums.

    S_t = max(0, S_{t-1} + x_t - allowance), likewise for -x (Page 1954). `allowance` is
    half of the shift, in SDs, that the alarm should find soonest.

    Parameters
    ----------
    values : array, shape (..., steps)
        Standardised residuals in order of time, in SDs; no nan.
    allowance : float
        Half of the shift that should be found soonest, in SDs.

    Returns
    -------
    array of the same shape, at least 0.

    References
    ----------
    Page (1954), Biometrika 41, 100-115.
    """
    x = np.asarray(values, float)
    if np.isnan(x).any():
        raise InputError("alarm", "residuals", "NaN", "leave out replies that could not be read")
    return np.asarray(np.maximum(_one_sided(x - allowance), _one_sided(-x - allowance)))


def _one_sided(steps: Floats) -> Floats:
    # S_t = W_t - min(0, W_1, ..., W_t) for the walk W of the steps.
    walk = steps.cumsum(axis=-1)
    return np.asarray(walk - np.minimum(np.minimum.accumulate(walk, axis=-1), 0.0))


@dataclass(frozen=True, slots=True)
class Threshold:
    """A calibrated limit and what it promises.

    `rank` k of `runs` N values is the limit; `false_alarm` is (N + 1 - k)/(N + 1), the
    realised rate without ties, at most `alpha`.
    """

    value: float
    alpha: float
    rank: int
    runs: int

    @property
    def false_alarm(self) -> float:
        """Chance of a false alarm in one clean run, over calibrations."""
        return (self.runs + 1 - self.rank) / (self.runs + 1)

    def conditional_range(self, level: float = 0.95) -> tuple[float, float]:
        """Range of this calibration's own false-alarm rate: Beta(N + 1 - k, k) quantiles."""
        a, b, tail = self.runs + 1 - self.rank, self.rank, (1 - level) / 2
        return float(special.betaincinv(a, b, tail)), float(special.betaincinv(a, b, 1 - tail))

    def alarms(self, maxima: ArrayLike) -> NDArray[np.bool_]:
        """Say which runs raise an alarm: strictly above the limit."""
        return np.asarray(np.asarray(maxima, float) > self.value)

    def alarms_per_year(self, runs_per_year: float = 365.0) -> float:
        """Expect this many false alarms in a year of clean runs."""
        return self.false_alarm * runs_per_year


def calibrate(maxima: ArrayLike, alpha: float = 0.05) -> Threshold:
    """Set the limit from the maxima of N clean runs, false-alarm rate at most `alpha`.

    The k-th smallest with k = ceil((1 - alpha)(N + 1)) (split conformal). Raises
    `InputError` when alpha < 1/(N + 1): no clean run of N could bound it.

    Parameters
    ----------
    maxima : array, shape (N,)
        The statistic's maximum in each of N clean runs.
    alpha : float
        Largest chance of a false alarm in one clean run.

    Returns
    -------
    Threshold

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World (split conformal).
    """
    values = np.sort(np.asarray(maxima, float).ravel())
    n = values.size
    if not 0 < alpha < 1 or np.isnan(values).any():
        raise InputError("alarm", "alpha", f"{alpha!r}", "give alpha in (0, 1) and finite maxima")
    # The slack keeps .95 * 20 = 19.000000000000004 from asking for a twentieth run.
    rank = math.ceil((1 - alpha) * (n + 1) - 1e-9)
    if rank > n:
        raise InputError(
            "alarm",
            "calibration",
            f"{n} clean runs cannot promise alpha {alpha:g}",
            f"calibrate on >= {runs_needed(alpha)} runs or register alpha >= 1/{n + 1}",
        )
    return Threshold(float(values[rank - 1]), alpha, rank, n)


def runs_needed(alpha: float) -> int:
    """Fewest clean runs that can promise `alpha`: 1/alpha - 1, rounded up.

    Parameters
    ----------
    alpha : float
        Largest chance of a false alarm in one clean run.

    Returns
    -------
    int
    """
    return math.ceil(1 / alpha - 1 - 1e-9)
