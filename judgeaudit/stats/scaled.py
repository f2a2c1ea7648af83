"""Estimates that carry their standard error on the scale where it is nearly normal.

Rules of this module:

* An interval is `back(to(value) -/+ t * se)`; the scale is `to`, the standard error belongs to it.
* The standard error comes from one number an item (or a cluster), its influence: either the
  delete-one jackknife, `(n - 1)(mean of deleted - deleted_i)`, or the analytic influence value.
  Both give `se^2 = sum(influence^2) / (n (n - 1))`.
* Clusters (tasks) add the influences of their items first; their number replaces the number of
  items. Fewer than `LEAST_TASKS` of them give no interval: one rule for every statistic. Where a
  few clusters carry most of the variance it has fewer degrees of freedom than G - 1: those of its
  own fourth moment are used (`cluster_freedom`).
* An estimate with no trustworthy interval keeps its value and says why it has none.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.stats.interval import Interval, Undefined

Floats = NDArray[np.float64]
MIN_ITEMS = 10
LEAST_TASKS = 6
FEW_TASKS = 12
_ATANH_LIMIT = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Scale:
    """A monotone map `to` a scale of nearly constant variance, and the way `back`."""

    name: str
    to: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]


def _atanh(value: Floats) -> Floats:
    return np.arctanh(np.clip(value, -_ATANH_LIMIT, _ATANH_LIMIT))


def _same(value: Floats) -> Floats:
    return value


IDENTITY = Scale("raw", _same, _same)
ATANH = Scale("atanh", _atanh, np.tanh)
LOG = Scale("log", np.log, np.exp)


def log_f(k: float) -> Scale:
    """Return the scale log((1 + (k - 1) rho) / (1 - rho)): log F for an ICC of k columns.

    Parameters
    ----------
    k : float
        Number of columns.

    Returns
    -------
    Scale
    """

    def to(rho: Floats) -> Floats:
        inside = np.clip(rho, -1 / (k - 1) + 1e-9, 1 - 1e-12)
        return np.log1p((k - 1) * inside) - np.log1p(-inside)

    def back(scaled: Floats) -> Floats:
        return np.expm1(scaled) / (np.exp(scaled) + k - 1)

    return Scale("log F", to, back)


@dataclass(frozen=True, slots=True)
class Estimated:
    """A value with what is needed for its interval at any level.

    `se` and `df` belong to `scale`; `n` counts the independent units (items, or
    clusters); `method` names the construction. `no_interval` is empty, or the
    reason why an interval would mislead, and then `se` is nan. `influence` has
    one raw-scale value an item, for differences and ratios of estimates on the
    same items. `clustered` says that `n` counts clusters that the caller named.
    """

    value: float
    se: float
    df: float
    n: int
    method: str
    scale: Scale = IDENTITY
    no_interval: str = ""
    influence: Floats | None = field(default=None, repr=False, compare=False)
    clustered: bool = False

    def interval(self, level: float = 0.95) -> Interval | Undefined:
        """Return the two-sided t interval on `scale`, or why there is none."""
        if self.no_interval:
            return Undefined(self.no_interval)
        half = float(special.stdtrit(self.df, (1 + level) / 2)) * self.se
        centre = float(self.scale.to(np.asarray(self.value)))
        low, high = (float(self.scale.back(np.asarray(centre + s * half))) for s in (-1, 1))
        return Interval(low, high, level, self.method)

    def p_below(self, threshold: float) -> float | Undefined:
        """Return the one-sided p of "the truth is below `threshold`": small supports PASS."""
        z0 = self._distance(threshold)
        return z0 if isinstance(z0, Undefined) else float(special.stdtr(self.df, -z0))

    def p_above(self, threshold: float) -> float | Undefined:
        """Return the one-sided p of "the truth is at least `threshold`": small supports FAIL."""
        z0 = self._distance(threshold)
        return z0 if isinstance(z0, Undefined) else float(special.stdtr(self.df, z0))

    def _distance(self, threshold: float) -> float | Undefined:
        if self.no_interval:
            return Undefined(self.no_interval)
        there, here = (float(self.scale.to(np.asarray(v))) for v in (threshold, self.value))
        if self.se == 0:
            return math.copysign(math.inf, here - there) if here != there else 0.0
        return (here - there) / self.se


def jackknife_influence(deleted: Floats) -> Floats:
    """Return (n - 1)(mean - deleted_i) from the n delete-one values of a statistic.

    Parameters
    ----------
    deleted : array, shape (n, ...)
        The statistic without each unit.

    Returns
    -------
    array of the same shape.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 11.
    """
    n = deleted.shape[0]
    return np.asarray((n - 1) * (deleted.mean(axis=0) - deleted))


def influence_se(influence: Floats, clusters: NDArray[np.int_] | None = None) -> tuple[float, int]:
    """Return the standard error of the mean influence and the number of independent units.

    `clusters` holds one code an item; with clusters the influences are summed
    within each (Cameron & Miller 2015, sandwich with the G/(G - 1) factor).

    Parameters
    ----------
    influence : array, shape (n,)
        One influence value an item.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    (standard error, number of independent units).

    References
    ----------
    Cameron & Miller (2015), Journal of Human Resources 50, 317-372.
    """
    n = influence.size
    if clusters is None:
        return math.sqrt(float(influence @ influence) / (n * (n - 1))), n
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.bincount(codes, weights=influence)
    units = sums.size
    if units < 2:
        return math.nan, units
    return math.sqrt(units / (units - 1) * float(sums @ sums)) / n, units


def spread(influence: Floats, clusters: NDArray[np.int_] | None = None) -> tuple[float, int, float]:
    """Return the standard error of the mean influence, the independent units and their freedom.

    Parameters
    ----------
    influence : array, shape (n,)
        One influence value an item.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    (standard error, number of independent units, degrees of freedom of the t: units - 1, over
    clusters those of `cluster_freedom`).
    """
    se, units = influence_se(influence, clusters)
    if clusters is None or units < 2:
        return se, units, units - 1
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.bincount(codes, weights=influence - influence.mean())
    return se, units, cluster_freedom(np.asarray(sums, dtype=np.float64))


def cluster_freedom(changes: Floats) -> float:
    """Return the degrees of freedom of a variance that is a sum of G clusters' squares.

    With kurtosis b of the clusters' changes that sum has the relative variance
    (b - 1 + 2/(G - 1))/G; a chi-square with as much has 2 G/(b - 1 + 2/(G - 1)) degrees of freedom
    (Satterthwaite 1946). Clusters that change alike give G - 1, the most that is returned; where
    one cluster carries the variance there are few, but never fewer than 2.

    Parameters
    ----------
    changes : array, shape (G,)
        How far each cluster moves the statistic, centred: sums of influences, or deleted values
        less their mean.

    Returns
    -------
    float in [2, G - 1].

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
    """
    square, fourth = (changes**2).mean(), (changes**4).mean()
    return float(freedom_of_moments(square, fourth, changes.size))


def freedom_of_moments(square: ArrayLike, fourth: ArrayLike, groups: ArrayLike) -> Floats:
    """Return the degrees of freedom of `cluster_freedom`, for many sets of clusters at once.

    Parameters
    ----------
    square, fourth : array, shape (runs,)
        Mean second and fourth powers of the clusters' changes.
    groups : array, shape (runs,)
        G, the number of clusters.

    Returns
    -------
    array, shape (runs,), in [2, G - 1], or G - 1 (at least 1) below three clusters and where none
    changes.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
    """
    second, g = np.asarray(square, np.float64), np.asarray(groups, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = np.asarray(fourth, np.float64) / second**2
        found = 2 * g / (kurtosis - 1 + 2 / (g - 1))
    alike = (g < 3) | (second == 0)
    return np.where(alike, np.maximum(g - 1, 1.0), np.minimum(np.maximum(found, 2.0), g - 1))


def too_few(units: int, clusters: object) -> str:
    """Return why clusters give no interval, "" where there are enough or none were named.

    Parameters
    ----------
    units : int
        Number of independent units.
    clusters : object
        The clusters, None where items are the units.

    Returns
    -------
    str
    """
    return f"fewer than {LEAST_TASKS} tasks" if clusters is not None and units < LEAST_TASKS else ""


def few_tasks(tasks: int | None) -> str:
    """Return the sentence to print beside an interval over 6 to 12 tasks, else "".

    Parameters
    ----------
    tasks : int or None
        Number of tasks that an interval rests on; None if it rests on items.

    Returns
    -------
    str
    """
    if tasks is None or tasks > FEW_TASKS:
        return ""
    return (
        f"{tasks} tasks: intervals over {LEAST_TASKS} to {FEW_TASKS} tasks may cover less than 95%"
    )


def mean_estimate(
    values: Floats,
    *,
    clusters: NDArray[np.int_] | None = None,
    method: str = "t over items",
    min_items: int = 2,
) -> Estimated | Undefined:
    """Return the mean of one value an item with a t interval; nan items are left out.

    With `clusters` the standard error sums within clusters (`spread`). All values equal: the mean
    stands, without an interval.

    Parameters
    ----------
    values : array, shape (n,)
        One value an item, nan for none.
    clusters : array of int, shape (n,), optional
        The task of each item.
    method : str
        Name of the method, for the report.
    min_items : int
        Items below which there is no interval.

    Returns
    -------
    Estimated, or Undefined if no item has a value.
    """
    kept = ~np.isnan(values)
    x = values[kept]
    if x.size == 0:
        return Undefined("no item has a value")
    mean = float(x.mean())
    influence = np.where(kept, values - mean, 0.0)
    codes = None if clusters is None else clusters[kept]
    if x.size < min_items:
        return without_interval(mean, x.size, f"fewer than {min_items} items", influence)
    se, units, freedom = spread(x - mean, codes)
    if why := too_few(units, codes):
        return without_interval(mean, units, why, influence)
    if np.ptp(x) == 0:
        return without_interval(mean, units, "every item has the same value", influence)
    named = method if clusters is None else "t over clusters"
    clustered = clusters is not None
    return Estimated(mean, se, freedom, units, named, influence=influence, clustered=clustered)


def without_interval(
    value: float, n: int, reason: str, influence: Floats | None = None
) -> Estimated:
    """Return an estimate that stands without an interval, for `reason`.

    Parameters
    ----------
    value : float
        The estimate.
    n : int
        Number of independent units.
    reason : str
        Why there is no interval.
    influence : array, shape (n,), optional
        Influence values of the estimate.

    Returns
    -------
    Estimated
    """
    return Estimated(value, math.nan, math.nan, n, "none", no_interval=reason, influence=influence)


def disagreement_bound(n: int, level: float = 0.95) -> Interval:
    """Return the exact interval for per-item disagreement when n items showed none.

    The upper end is 1 - alpha^(1/n), one-sided (Louis 1981): 59 items without a
    disagreement put the rate below 5 % at level .95.

    Parameters
    ----------
    n : int
        Items without a disagreement.
    level : float
        One-sided confidence level.

    Returns
    -------
    Interval from 0.

    References
    ----------
    Louis (1981), The American Statistician 35, 154.
    """
    high = -math.expm1(math.log(1 - level) / n)
    return Interval(0.0, high, level, "exact, no disagreement seen")
