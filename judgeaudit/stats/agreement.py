"""Agreement of categorical verdicts: flip rate, Krippendorff's alpha, Gwet's AC1, Cohen's kappa.

Rules of this module:

* `verdicts` is (n items, m repeats) of codes 0..q-1, with -1 for missing; q is the declared
  number of categories, also of those that never occurred. An unparseable verdict is a category of
  its own where the caller gives it a code.
* An item's disagreement is d_i = 1 - sum_c n_c (n_c - 1) / (k (k - 1)), the share of its pairs of
  repeats that differ; the flip rate is the mean of d_i. Items with k < 2 are left out, counted.
* The flip rate's interval is Clopper-Pearson with n_eff = p (1 - p) / var(mean), clipped to
  [n items, all pairs] (Korn & Graubard 1998). It covered 95.4 % or more; t covered 27-96 %.
* AC1 has an interval (jackknife of log(1 - AC1), t) from 100 items; alpha and kappa have none:
  with rare flips or one dominant verdict nothing covers.

When not to report alpha alone: it collapses when one verdict dominates. Print all three.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.proportions import clopper_pearson
from judgeaudit.stats.scaled import (
    Estimated,
    Scale,
    jackknife_influence,
    spread,
    too_few,
    without_interval,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Metric = Literal["nominal", "ordinal", "interval"]
AC1_FROM_ITEMS = 100
_COMPLEMENT = Scale("-log(1 - AC1)", lambda ac: -np.log1p(-ac), lambda x: -np.expm1(-x))


@dataclass(frozen=True, slots=True)
class EffectiveProportion:
    """A mean of values in [0, 1] with the sample size that its variance is worth.

    `units` counts what is independent, `items` what was averaged, `single` the
    items left out for having fewer than two repeats, `pairs` all pairs of
    repeats; `effective_n` lies between the first and the last. `clustered` says
    that the units are clusters that the caller named, `freedom` how well they
    tell the variance.
    """

    value: float
    effective_n: float
    units: int
    items: int
    single: int
    pairs: float
    clustered: bool = False
    freedom: float = 1.0

    @property
    def n(self) -> int:
        """Number of independent units."""
        return self.units

    def interval(self, level: float = 0.95) -> Interval | Undefined:
        """Return Clopper-Pearson on value * n_eff of n_eff (Korn & Graubard 1998).

        With clusters n_eff shrinks by (t(n - 1) / t(v))^2, which pays for a variance that G
        clusters tell with v degrees of freedom (`scaled.cluster_freedom`).
        """
        if self.units < 2:
            return Undefined("fewer than two independent units")
        size = self.effective_n
        if self.units < self.items:
            if why := too_few(self.units, self.clustered or None):
                return Undefined(why)
            wide, narrow = special.stdtrit([self.freedom, self.items - 1], (1 + level) / 2)
            size *= float((narrow / wide) ** 2)
        found = clopper_pearson(self.value * size, size, level)
        return Interval(found.low, found.high, level, "Clopper-Pearson, effective n")


def category_counts(verdicts: Codes, categories: int) -> Floats:
    """Return how often each item received each category, (n, q); missing is not counted.

    Parameters
    ----------
    verdicts : array of int, shape (n items, m repeats)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.

    Returns
    -------
    array, shape (n, q).
    """
    return np.stack([(verdicts == c).sum(axis=1) for c in range(categories)], axis=1).astype(
        np.float64
    )


def item_disagreement(verdicts: Codes, categories: int) -> Floats:
    """Return d_i for each item, nan where fewer than two verdicts came back.

    Parameters
    ----------
    verdicts : array of int, shape (n items, m repeats)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.

    Returns
    -------
    array, shape (n,), in [0, 1].
    """
    counts = category_counts(verdicts, categories)
    k = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = (counts * (counts - 1)).sum(axis=1) / (k * (k - 1))
    return np.where(k >= 2, 1 - alike, np.nan)


def effective_proportion(
    values: Floats, trials: Floats | None = None, clusters: NDArray[np.int_] | None = None
) -> EffectiveProportion | Undefined:
    """Return the mean of `values` in [0, 1], one an item, with its effective n.

    `trials` counts the 0/1 trials behind each value (1 if None) and bounds n_eff
    from above; the number of items, or of clusters, bounds it from below. nan
    values are left out and counted as `single`.

    Parameters
    ----------
    values : array, shape (n,)
        One value in [0, 1] an item; nan for an item that has none.
    trials : array, shape (n,), optional
        Number of 0/1 trials behind each value.
    clusters : array of int, shape (n,), optional
        The task of each item, if items of one task are not independent.

    Returns
    -------
    EffectiveProportion, or Undefined if no item has a value.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201.
    """
    kept = ~np.isnan(values)
    x = values[kept]
    if x.size == 0:
        return Undefined("needs >= 2 repeats")
    most = float(x.size if trials is None else trials[kept].sum())
    mean = float(x.mean())
    codes = None if clusters is None else clusters[kept]
    units = x.size if codes is None else int(np.unique(codes).size)
    single = int((~kept).sum())
    clustered = codes is not None
    if x.size < 2 or units < 2:
        return EffectiveProportion(mean, float(units), units, x.size, single, most, clustered)
    se, _, freedom = spread(x - mean, codes)
    variance = se**2
    worth = mean * (1 - mean) / variance if variance > 0 else float(units)
    least = float(min(units, most))
    size = min(max(worth, least), most)
    return EffectiveProportion(mean, size, units, x.size, single, most, clustered, freedom)


def flip_rate(
    verdicts: Codes, categories: int, clusters: NDArray[np.int_] | None = None
) -> EffectiveProportion | Undefined:
    """Return the chance that two repeats of one item receive different verdicts.

    Parameters
    ----------
    verdicts : array of int, shape (n items, m repeats)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    EffectiveProportion, or Undefined if no item has two verdicts.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201.
    """
    k = (verdicts >= 0).sum(axis=1).astype(np.float64)
    return effective_proportion(item_disagreement(verdicts, categories), k * (k - 1) / 2, clusters)


def krippendorff_alpha(
    verdicts: Codes, categories: int, metric: Metric = "nominal", values: Floats | None = None
) -> float | Undefined:
    """Return alpha = 1 - Do/De with Krippendorff's N - 1 (Hayes & Krippendorff 2007); no interval.

    `values` are the numbers behind the codes for the interval metric (the codes
    themselves if None). Undefined when all verdicts are one category.

    Parameters
    ----------
    verdicts : array of int, shape (n items, m repeats)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.
    metric : "nominal", "ordinal" or "interval"
        Distance of two categories.
    values : array, shape (q,), optional
        The number behind each category, for "interval".

    Returns
    -------
    float of at most 1, or Undefined.

    References
    ----------
    Hayes & Krippendorff (2007), Communication Methods and Measures 1, 77-89.
    """
    counts = category_counts(verdicts, categories)
    counts = counts[counts.sum(axis=1) >= 2]
    if counts.size == 0:
        return Undefined("needs >= 2 repeats")
    k = counts.sum(axis=1)
    together = (counts.T / (k - 1)) @ counts - np.diag((counts / (k - 1)[:, None]).sum(axis=0))
    totals = counts.sum(axis=0)
    apart = _squared_differences(totals, metric, values)
    expected = float(totals @ apart @ totals) / float(totals.sum() - 1)
    if expected == 0:
        return Undefined("constant")
    return 1 - float((together * apart).sum()) / expected


def _squared_differences(totals: Floats, metric: Metric, values: Floats | None) -> Floats:
    q = totals.size
    if metric == "nominal":
        return 1 - np.eye(q)
    if metric == "interval":
        numbers = np.arange(q, dtype=np.float64) if values is None else values
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    # ordinal: everything ranked between the two, with half of each end
    middle = np.cumsum(totals) - totals / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def gwet_ac1(
    verdicts: Codes, categories: int, tasks: NDArray[np.int_] | None = None
) -> Estimated | Undefined:
    """Return Gwet's AC1 with pe = sum pi (1 - pi) / (q - 1).

    Parameters
    ----------
    verdicts : array of int, shape (n items, m repeats)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.
    tasks : array of int, shape (n,), optional
        The task of each item: the interval then rests on tasks, six or more.

    Returns
    -------
    Estimated, with an interval from 100 items on, or Undefined. Its `n` counts the items with two
    verdicts or more, or tasks.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48.
    """
    counts = category_counts(verdicts, categories)
    k = counts.sum(axis=1)
    paired = k >= 2
    if categories < 2 or not paired.any():
        return Undefined("needs >= 2 repeats" if categories > 1 else "needs >= 2 categories")
    shares = np.divide(counts, k[:, None], out=np.zeros_like(counts), where=k[:, None] > 0)
    alike = np.where(paired, 1 - item_disagreement(verdicts, categories), 0.0)
    present = k > 0
    sums = [np.atleast_1d(v.sum(axis=0)) for v in (alike, paired, shares, present)]
    value = float(_ac1(*(v[None] for v in sums))[0])
    n = int(paired.sum())
    if value >= 1:
        return without_interval(1.0, n, "perfect agreement")
    if n < AC1_FROM_ITEMS:
        return without_interval(value, n, f"fewer than {AC1_FROM_ITEMS} items")
    rows = [v.reshape(k.size, -1) for v in (alike, paired, shares, present)]
    deleted = _ac1(*(v - row for v, row in zip(sums, rows, strict=True)))[present]
    if (deleted >= 1).any():
        return without_interval(value, n, "no disagreement once a single item is left out")
    codes = None if tasks is None else tasks[present]
    se, units, freedom = spread(jackknife_influence(_COMPLEMENT.to(deleted)), codes)
    if why := too_few(units, codes):
        return without_interval(value, units, why)
    influence = np.zeros(k.size)
    influence[present] = jackknife_influence(deleted)
    if codes is None:
        units, freedom = n, n - 1
    method = "jackknife of log(1 - AC1), t" + ("" if codes is None else ", clustered")
    clustered = codes is not None
    return Estimated(
        value, se, freedom, units, method, _COMPLEMENT, influence=influence, clustered=clustered
    )


def _ac1(alike: Floats, paired: Floats, shares: Floats, present: Floats) -> Floats:
    """AC1 from sums over items, one row a set of items."""
    observed = (alike / paired)[:, 0]
    category = shares / present
    expected = (category * (1 - category)).sum(axis=1) / (category.shape[1] - 1)
    return np.asarray((observed - expected) / (1 - expected))
