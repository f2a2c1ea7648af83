"""The noise floor: how far a judge's scores of one item lie apart, and what gap that hides.

Rules of this module:

* s_w = sqrt(mean over items of the within-item variance); items with fewer than two scores are
  left out and counted. It is the standard error of measurement (SEM) of one score.
* Two single scores of one item differ by less than 1.96 sqrt(2) s_w in 95 % of cases: the
  repeatability coefficient, also called smallest detectable change or MDC95 (Bland & Altman 1999).
* The interval deletes items on the log of the variance, t(n - 1). The chi-square interval assumes
  one noise for all items and covered 43-96 %.
* A number of repeats follows from s_w and a gap, or from an ICC, never from an agreement rate.
  A gap that would need more than `most` repeats is "unresolvable": a value, no number to buy.
* Averages of rounded scores do not converge to the score before rounding unless the noise
  dithers the rounding: below 0.3 steps of noise, half a step is the floor (quantisation floor).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import (
    MIN_ITEMS,
    Estimated,
    Scale,
    disagreement_bound,
    jackknife_influence,
    spread,
    too_few,
    without_interval,
)

Floats = NDArray[np.float64]
DITHER_STEPS = 0.3
_TWO_SCORES = float(special.ndtri(0.975)) * math.sqrt(2)
LOG_VARIANCE = Scale("log variance", lambda sd: 2 * np.log(sd), lambda x: np.exp(x / 2))


@dataclass(frozen=True, slots=True)
class Noise:
    """The within-item SD with what follows from it.

    `sd` is s_w in scale units; `repeatability` 1.96 sqrt(2) s_w, the smallest
    detectable change between two single scores; `single` counts items left out
    for having fewer than two scores; `agreement_bound` is set only when no item
    varied at all.
    """

    sd: Estimated
    repeatability: float
    items: int
    single: int
    agreement_bound: Interval | None = None

    def repeatability_interval(self, level: float = 0.95) -> Interval | Undefined:
        """Return the interval of `repeatability`: the ends of `sd` times the same factor."""
        found = self.sd.interval(level)
        if isinstance(found, Undefined):
            return found
        low, high = found.low * _TWO_SCORES, found.high * _TWO_SCORES
        return Interval(low, high, level, found.method)


def noise(scores: Floats, clusters: NDArray[np.int_] | None = None) -> Noise | Undefined:
    """Return the within-item SD of `scores` (n, m), nan for missing, with its interval.

    Parameters
    ----------
    scores : array, shape (n items, m repeats)
        Scores in scale units, nan for missing.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Noise, or Undefined if no item was read twice.

    References
    ----------
    Bland & Altman (1999), Statistical Methods in Medical Research 8, 135-160.
    """
    counts = (~np.isnan(scores)).sum(axis=1)
    kept = counts >= 2
    if not kept.any():
        return Undefined("needs >= 2 repeats")
    variances = np.nanvar(scores[kept], axis=1, ddof=1)
    n, single = int(kept.sum()), int((~kept).sum())
    sd = math.sqrt(float(variances.mean()))
    estimate = _estimate(sd, variances, kept, clusters)
    bound = disagreement_bound(n) if sd == 0 else None
    return Noise(estimate, _TWO_SCORES * sd, n, single, bound)


def _estimate(
    sd: float,
    variances: Floats,
    kept: NDArray[np.bool_],
    clusters: NDArray[np.int_] | None,
) -> Estimated:
    n = variances.size
    if sd == 0:
        return without_interval(0.0, n, "no item varied")
    influence = np.zeros(kept.size)
    influence[kept] = (variances - sd**2) / (2 * sd)
    if n < MIN_ITEMS:
        return without_interval(sd, n, f"fewer than {MIN_ITEMS} items", influence)
    deleted = (variances.sum() - variances) / (n - 1)
    if (deleted <= 1e-12 * sd**2).any():
        return without_interval(sd, n, "only one item varied", influence)
    scaled = jackknife_influence(np.log(deleted))
    codes = None if clusters is None else clusters[kept]
    se, units, freedom = spread(scaled, codes)
    if why := too_few(units, codes):
        return without_interval(sd, units, why, influence)
    method = "jackknife of log variance, t" + ("" if clusters is None else ", clustered")
    clustered = codes is not None
    return Estimated(
        sd, se, freedom, units, method, LOG_VARIANCE, influence=influence, clustered=clustered
    )


def detectable_change(sd: float, repeats: int = 1) -> float:
    """Return the smallest change of one item's m-mean beyond noise at 95 %: 1.96 sqrt(2/m) s_w.

    Parameters
    ----------
    sd : float
        Within-item SD of one score, in scale units.
    repeats : int
        Scores m behind each mean.

    Returns
    -------
    float in scale units.
    """
    return _TWO_SCORES * sd / math.sqrt(repeats)


def repeats_for_gap(
    sd: float, gap: float, *, alpha: float = 0.05, power: float = 0.8, most: int = 1_000
) -> int | Undefined:
    """Return the repeats that resolve a `gap` between two items: 2 s_w^2 (z_a + z_b)^2 / gap^2.

    Two-sided `alpha`. Undefined, with "unresolvable", for a zero gap and for
    one that needs more than `most` repeats.

    Parameters
    ----------
    sd : float
        Within-item SD of one score, in scale units.
    gap : float
        Difference of two items, in scale units.
    alpha : float
        Two-sided error.
    power : float
        Chance that the gap is told apart.
    most : int
        Largest number of repeats that is offered.

    Returns
    -------
    int, or Undefined with the reason.
    """
    if gap == 0:
        return Undefined("unresolvable: the gap is zero")
    z = float(special.ndtri(1 - alpha / 2) + special.ndtri(power))
    ratio = abs(sd * z / gap)
    if 2 * min(ratio, float(most) + 1) ** 2 - 1e-9 > most:  # bounded: a square may overflow
        return Undefined(f"unresolvable: a gap of {gap:.3g} against noise {sd:.3g} needs > {most}")
    return max(1, math.ceil(2 * ratio**2 - 1e-9))


def quantisation_floor(sd: float, step: float) -> float:
    """Return the gap that averaging cannot go below: half a `step` if s_w < 0.3 steps, else 0.

    Parameters
    ----------
    sd : float
        Within-item SD of one score, in scale units.
    step : float
        Distance of neighbouring scale points.

    Returns
    -------
    float in scale units.
    """
    return step / 2 if sd < DITHER_STEPS * step else 0.0
