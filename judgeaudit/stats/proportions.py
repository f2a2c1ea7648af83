"""Shares and their intervals, for counts that may be fractional.

Rules of this module:

* A share is `successes / n`; both may be fractional, because correlated data
  enter with an effective number of draws (Korn & Graubard 1998).
* The default interval is Clopper-Pearson on the effective number; Wilson is the
  shorter one, for display and for replaying published tables.
* A one-sided bound at `alpha` is an end of the interval of level 1 - 2 alpha.
* A sample variance of zero is no evidence that the variance is zero: the
  effective number then falls back to the number of independent units.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import cluster_freedom


def check_level(level: float) -> None:
    """Raise `InputError` unless 0 < level < 1.

    Parameters
    ----------
    level : float
        Confidence level.
    """
    if not 0.0 < level < 1.0:
        raise InputError("interval", "level", f"{level!r}", "give a level between 0 and 1")


def normal_quantile(level: float) -> float:
    """Return z with two-sided coverage `level`, 1.96 at .95.

    Parameters
    ----------
    level : float
        Two-sided coverage in (0, 1).

    Returns
    -------
    float
    """
    check_level(level)
    return float(special.ndtri(0.5 + level / 2))


def two_sided(alpha: float) -> float:
    """Level of the two-sided interval whose ends are one-sided bounds at `alpha`: 1 - 2 alpha.

    Parameters
    ----------
    alpha : float
        One-sided error in (0, 1/2).

    Returns
    -------
    float
    """
    if not 0.0 < alpha < 0.5:
        raise InputError("bound", "alpha", f"{alpha!r}", "give an alpha between 0 and .5")
    return 1.0 - 2.0 * alpha


def _check_count(successes: float, n: float) -> None:
    if not (n > 0 and 0 <= successes <= n and math.isfinite(n)):
        raise InputError(
            "share", "counts", f"{successes!r} of {n!r}", "give 0 <= successes <= n with n > 0"
        )


def clopper_pearson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Exact interval of a share, from quantiles of the beta distribution.

    low = B(alpha/2; s, n - s + 1), high = B(1 - alpha/2; s + 1, n - s)
    (Clopper & Pearson 1934), with the ends 0 and 1 where s = 0 and s = n. With
    fractional arguments it is Korn & Graubard's (1998) interval for an effective
    number of draws. Raises `InputError` for impossible counts.

    Parameters
    ----------
    successes, n : float
        Successes of n draws; fractions are allowed.
    level : float
        Confidence level.

    Returns
    -------
    Interval in [0, 1].

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.
    """
    _check_count(successes, n)
    check_level(level)
    tail = (1.0 - level) / 2
    failures = n - successes
    low = 0.0 if successes <= 0 else float(special.betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures <= 0 else float(special.betaincinv(successes + 1, failures, 1 - tail))
    return Interval(low, high, level, "Clopper-Pearson")


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Score interval of a share (Wilson 1927), without continuity correction.

    Centre (s + z²/2)/(n + z²), half width z sqrt(s (n - s)/n + z²/4)/(n + z²).
    Raises `InputError` for impossible counts.

    Parameters
    ----------
    successes, n : float
        Successes of n draws; fractions are allowed.
    level : float
        Confidence level.

    Returns
    -------
    Interval in [0, 1].

    References
    ----------
    Wilson (1927), JASA 22, 209-212.
    """
    _check_count(successes, n)
    low, high = wilson_ends(np.asarray(successes, float), n, normal_quantile(level))
    return Interval(float(low), float(high), level, "Wilson")


def wilson_ends(
    successes: ArrayLike, n: ArrayLike, z: float | NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both ends of Wilson's interval, elementwise, for a normal quantile `z`.

    Parameters
    ----------
    successes, n : array, any shape
        Successes of n draws.
    z : float or array
        Normal quantile, 1.96 for 95 %.

    Returns
    -------
    (low, high), arrays of the common shape.
    """
    s, total = np.asarray(successes, float), np.asarray(n, float)
    centre = (s + z * z / 2) / (total + z * z)
    half = z * np.sqrt(s * (total - s) / total + z * z / 4) / (total + z * z)
    # At s = 0 and s = n the ends are 0 and 1 exactly; rounding would leave 1e-18.
    low = np.where(s <= 0, 0.0, np.maximum(centre - half, 0.0))
    return low, np.where(s >= total, 1.0, np.minimum(centre + half, 1.0))


def jeffreys_se(draws: float, p: float = 0.5) -> float:
    """Return the standard error of (m + 1/2)/(M + 1) over M draws: sqrt(p (1 - p) M)/(M + 1).

    It says how much a share read from M binary draws moves by sampling alone;
    more draws shrink it, and do not make a measurand exist.

    Parameters
    ----------
    draws : float
        Number M of binary draws.
    p : float
        True share.

    Returns
    -------
    float
    """
    _check_count(p * draws, draws)
    return math.sqrt(p * (1 - p) * draws) / (draws + 1.0)


def effective_n(p: float, variance_of_mean: float, lowest: float, highest: float) -> float:
    """Independent draws that would give a share `p` this variance (Korn & Graubard 1998).

    n_eff = p (1 - p)/Var(p), held within [lowest, highest]: the number of
    independent units (items) and the number of all draws (pairs). With a variance
    of zero, `lowest`.

    Parameters
    ----------
    p : float
        The share, in [0, 1].
    variance_of_mean : float
        Variance of its estimate.
    lowest, highest : float
        Number of independent units, and of all draws.

    Returns
    -------
    float in [lowest, highest].
    """
    if not (0 <= p <= 1 and variance_of_mean >= 0 and 0 < lowest <= highest):
        raise InputError(
            "effective_n",
            "arguments",
            f"p {p!r}, variance {variance_of_mean!r}, range [{lowest!r}, {highest!r}]",
            "give 0 <= p <= 1, a variance >= 0 and 0 < lowest <= highest",
        )
    if variance_of_mean == 0:
        return lowest
    return min(max(p * (1 - p) / variance_of_mean, lowest), highest)


def share_of_clusters(
    successes: ArrayLike, sizes: ArrayLike, level: float = 0.95
) -> tuple[float, Interval] | Undefined:
    """Share over all draws, with an interval whose independent unit is the cluster.

    `successes` and `sizes` hold one count a cluster (task, world). The share is
    sum s / sum m, its variance the ratio estimator's G/(G - 1) sum (s_g - p m_g)²/N²,
    and Clopper-Pearson is taken on the effective number, scaled by
    (t_{N-1}/t_v)² for the few degrees of freedom v (Korn & Graubard 1998;
    `scaled.cluster_freedom`). `agreement.effective_proportion` is the same from one value an
    item. The effective number lies between Kish's N²/sum m² (draws in a cluster all alike) and N.

    Parameters
    ----------
    successes, sizes : array, shape (G,)
        Successes and draws of each task or world.
    level : float
        Confidence level.

    Returns
    -------
    (share, Interval), or Undefined below two clusters.
    """
    s, m = np.asarray(successes, float), np.asarray(sizes, float)
    if s.shape != m.shape or s.ndim != 1:
        raise InputError("share_of_clusters", "", f"shapes {s.shape} and {m.shape}", "give vectors")
    s, m = s[m > 0], m[m > 0]
    groups, total = m.size, float(m.sum())
    if groups < 2:
        return Undefined("needs >= 2 clusters")
    p = float(s.sum()) / total
    variance = groups / (groups - 1) * float(((s - p * m) ** 2).sum()) / total**2
    weight = effective_n(p, variance, total**2 / float((m**2).sum()), total)
    weight *= _few_clusters(total, cluster_freedom(s - p * m), level)
    found = clopper_pearson(p * weight, weight, level)
    return p, Interval(found.low, found.high, level, "Clopper-Pearson, effective n over clusters")


def _few_clusters(draws: float, freedom: float, level: float) -> float:
    """Squared ratio of the t quantiles with `draws` - 1 and `freedom` degrees of freedom."""
    check_level(level)
    upper = 0.5 + level / 2
    narrow, wide = special.stdtrit([max(draws - 1, freedom), freedom], upper)
    return float((narrow / wide) ** 2)
