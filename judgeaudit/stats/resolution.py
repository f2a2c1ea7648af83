"""Resolution: how far two runs of one system must lie apart before they are told apart.

A judge's mean over n items moves from run to run for two reasons: item noise, which more readings
average away, and the run itself (a session, a day, a new server state), which only more runs
average away. Both are in the SD of the run means, so that is what is used.

Rules of this module:

* D(m, r; alpha, power) = (t(1 - alpha/2, v) + t(power, v)) sqrt(2 (v_run/m + v_e/(n m r))): the
  difference of two systems' means, each over m runs with r readings an item and run, that is told
  apart with this power. v are the degrees of freedom of the calibration, k - 1 for k runs.
* At power .5 the second t is 0: D is then the **resolution**, the distance that two runs of one
  system pass with chance alpha. With m = 1 and the calibration's own r it is
  t(1 - alpha/2, k - 1) sqrt(2) SD of the k run means.
* Item noise is a floor, with the residual's own degrees of freedom: D is not below what it would be
  if runs did not differ. It never stands in for the runs: with one run nothing is known of them,
  and the resolution is undefined.
* The chance alpha is an average over calibrations. The interval comes from the chi-square intervals
  of the variance of the run means and of the residual, and is wide with few runs. Two runs cannot
  size a run effect: the value is kept for details, `sized` is False.
* With fewer than ten items whose reading ever moved there is no resolution, but the exact bound
  on the share of items that move.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.proportions import clopper_pearson

Floats = NDArray[np.float64]
LEAST_MOVERS = 10
SIZED_FROM_RUNS = 3
MOST_RUNS, MOST_READINGS = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class Calibration:
    """What several runs of one system told about the noise of a mean over n items.

    Attributes
    ----------
    total : float
        Variance of the mean of one run of `readings` an item, in squared scale units.
    residual : float
        Residual variance v_e of one reading.
    items : int
        Items n behind each mean.
    readings : float
        Readings an item in each of the calibration's runs.
    df, residual_df : float
        Degrees of freedom of `total` (k - 1, or Satterthwaite's) and of `residual`.
    runs : int
        Runs (or sessions, or days) behind `total`.
    comparison : str
        What the variance is good for, e.g. "two runs".
    """

    total: float
    residual: float
    items: int
    readings: float
    df: float
    residual_df: float
    runs: int
    comparison: str = "two runs"

    @property
    def noise(self) -> float:
        """Variance of a run's mean by item noise alone, v_e / (n r)."""
        return self.residual / (self.items * self.readings)

    @property
    def run(self) -> float:
        """Variance of the run itself, not below 0."""
        return max(self.total - self.noise, 0.0)

    def ends(self, level: float) -> tuple["Calibration", "Calibration"]:
        """Return the calibration with both variances at each end of their chi-square intervals."""
        small, large = (
            replace(
                self,
                total=_chi_square_end(self.total, self.df, tail),
                residual=_chi_square_end(self.residual, self.residual_df, tail),
            )
            for tail in ((1 - level) / 2, (1 + level) / 2)
        )
        return small, large


def _chi_square_end(variance: float, df: float, tail: float) -> float:
    return variance * df / float(special.chdtri(df, tail))


@dataclass(frozen=True, slots=True)
class Resolution:
    """The distance that two runs of one system pass with chance `alpha`.

    Attributes
    ----------
    value : float
        In scale units.
    interval : Interval
        From the chi-square interval of the variance of the run means.
    calibration : Calibration
        What it rests on.
    sized : bool
        False with two runs: they cannot size a run effect, so it is shown in details only.
    floor : bool
        Whether item noise alone is larger than what the run means showed.
    alpha : float
        Chance that two runs of one system lie further apart.
    """

    value: float
    interval: Interval
    calibration: Calibration
    sized: bool
    floor: bool
    alpha: float


@dataclass(frozen=True, slots=True)
class Needed:
    """The cheapest design that tells a difference apart: `runs` with `readings` an item in each.

    `calls` is their product, an item and system; `fewest_runs` is the number below which no
    number of readings is enough.
    """

    runs: int
    readings: int
    calls: int
    fewest_runs: int


def distance(
    calibration: Calibration,
    runs: int = 1,
    readings: float | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.5,
    items: int | None = None,
    floor: bool = True,
) -> float:
    """Return D(m, r; alpha, power), the difference of two means that is told apart.

    Parameters
    ----------
    calibration : Calibration
        The noise of a mean, from runs of one system.
    runs : int
        Runs m behind each mean.
    readings : float, optional
        Readings r an item and run; the calibration's if left out.
    alpha : float
        Two-sided chance that two equal systems are told apart.
    power : float
        Chance that a difference of D is told apart; .5 gives the resolution.
    items : int, optional
        Items behind each mean; the calibration's if left out.
    floor : bool
        Whether item noise is a floor; off, the chance alpha is exact under normal run effects.

    Returns
    -------
    float, in scale units.
    """
    _check(alpha, power)
    r = calibration.readings if readings is None else readings
    n = calibration.items if items is None else items
    noise = calibration.residual / (n * runs * r)
    apart = max((calibration.total - calibration.noise) / runs + noise, 0.0)
    found = _factor(calibration.df, alpha, power) * math.sqrt(2 * apart)
    least = _factor(calibration.residual_df, alpha, power) * math.sqrt(2 * noise)
    return max(found, least) if floor else found


def _factor(df: float, alpha: float, power: float) -> float:
    return float(special.stdtrit(df, 1 - alpha / 2) + special.stdtrit(df, power))


def _check(alpha: float, power: float) -> None:
    if not (0 < alpha < 1 and 0 < power < 1):
        raise InputError("resolution", "alpha, power", f"{alpha}, {power}", "give both in (0, 1)")


def needed(
    calibration: Calibration,
    gap: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    items: int | None = None,
) -> Needed | Undefined:
    """Return the runs and readings that tell a difference of `gap` apart: the inverse of D.

    The design with the fewest calls is returned; of equal ones, that with the fewest runs.

    Parameters
    ----------
    calibration : Calibration
        The noise of a mean, from runs of one system.
    gap : float
        Difference of two systems' means, in scale units.
    alpha, power : float
        As in `distance`.
    items : int, optional
        Items behind each mean; the calibration's if left out.

    Returns
    -------
    Needed, or Undefined where no design up to 1,000 runs of 10,000 readings is enough.
    """
    _check(alpha, power)
    n = calibration.items if items is None else items
    if not gap > 0:
        return Undefined("a difference of 0 is never told apart")
    allowed, of_noise = (
        (gap / _factor(df, alpha, power)) ** 2 / 2
        for df in (calibration.df, calibration.residual_df)
    )
    run = calibration.total - calibration.noise
    fewest = max(1, math.floor(run / allowed * (1 - 1e-12)) + 1)
    if fewest > MOST_RUNS:
        return Undefined(f"{fewest:,} runs would be needed, however many readings each has")
    per_call = calibration.residual / n
    best: Needed | None = None
    for m in range(fewest, MOST_RUNS + 1):
        if best is not None and m >= best.calls:
            break
        share = min(m * allowed - run, m * of_noise)
        r = max(1, math.ceil(per_call / share * (1 - 1e-12)))
        if r <= MOST_READINGS and (best is None or m * r < best.calls):
            best = Needed(m, r, m * r, fewest)
    return best or Undefined(f"needs more than {MOST_READINGS:,} readings an item and run")


def needed_range(
    calibration: Calibration,
    gap: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    level: float = 0.95,
) -> tuple[Needed | Undefined, Needed | Undefined]:
    """Return `needed` at both ends of the interval of the variance of the run means.

    Parameters
    ----------
    calibration, gap, alpha, power : as in `needed`.
    level : float
        Confidence level of the interval.

    Returns
    -------
    (needed at the low end, needed at the high end).
    """
    low, high = calibration.ends(level)
    return needed(low, gap, alpha=alpha, power=power), needed(high, gap, alpha=alpha, power=power)


def resolution(
    calibration: Calibration | Undefined, *, alpha: float = 0.05, level: float = 0.95
) -> Resolution | Undefined:
    """Return the resolution between two runs of one system, with its interval.

    Parameters
    ----------
    calibration : Calibration
        From `sessions.calibrate`, or its reason.
    alpha : float
        Chance that two runs of one system lie further apart than the resolution.
    level : float
        Level of the interval.

    Returns
    -------
    Resolution, or Undefined with the reason.
    """
    if isinstance(calibration, Undefined):
        return calibration
    low, high = (distance(end, alpha=alpha) for end in calibration.ends(level))
    interval = Interval(low, high, level, "chi-square of both variances")
    value = distance(calibration, alpha=alpha)
    sized = calibration.runs >= SIZED_FROM_RUNS
    floor = value > distance(calibration, alpha=alpha, floor=False)
    return Resolution(value, interval, calibration, sized, floor, alpha)


@dataclass(frozen=True, slots=True)
class Movers:
    """Items whose reading ever moved, `moved` of `items`, and the interval of their share."""

    moved: int
    items: int
    interval: Interval

    @property
    def few(self) -> bool:
        """Whether too few moved for a resolution."""
        return self.moved < LEAST_MOVERS


def movers(scores: Floats, level: float = 0.95) -> Movers | Undefined:
    """Return how many items ever got another reading, with Clopper-Pearson's interval.

    Parameters
    ----------
    scores : array, shape (n items, k readings)
        Scores or category codes as numbers; nan where there is no reading.

    Returns
    -------
    Movers over the items with two readings or more, or Undefined.
    """
    kept = (~np.isnan(scores)).sum(axis=1) >= 2
    if not kept.any():
        return Undefined("no item was read twice")
    moved = int((np.nanmax(scores[kept], axis=1) > np.nanmin(scores[kept], axis=1)).sum())
    n = int(kept.sum())
    return Movers(moved, n, clopper_pearson(moved, n, level))
