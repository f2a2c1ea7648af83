"""Test-retest Spearman: whether a judge orders the items the same way when asked again.

Rules of this module:

* The unit is the item. An interval comes from deleting items, each with all its repeats.
* `mean-of-pairs` (default) is the reliability of one reply, averaged over all pairs of repeats;
  `pair` uses the first repeat of each side; `mean-score` ranks the means over repeats, which is
  the reliability of an m-average and no other quantity's.
* The interval is the delete-one jackknife of atanh with t(n - 2); above 5,000 items, or when
  exact deletion would be slow, atanh with the analytic influence values. It was measured to
  cover 94-98 % where the textbook errors (Fisher; Bonett & Wright 2000) cover 63-98 %.
* A constant column is undefined. Perfect agreement is 1 without an interval; the exact bound on
  per-item disagreement stands in. Fewer than 10 items get no interval.
* A missing score leaves out its item from the pairs that need it, and only from those.

When not to report it: as agreement on values (use an ICC), or against a threshold set for another
scale; with ties the attainable value is lower.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.dominance import distinct
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.rank_pairs import (
    Pairs,
    RankedColumns,
    deleted_values,
    deletion_cost,
    influence_values,
    mean_correlation,
)
from judgeaudit.stats.scaled import (
    ATANH,
    MIN_ITEMS,
    Estimated,
    disagreement_bound,
    jackknife_influence,
    spread,
    too_few,
    without_interval,
)

Floats = NDArray[np.float64]
Version = Literal["pair", "mean-of-pairs", "mean-score"]
JACKKNIFE_UP_TO = 5_000
_SLOW_STEPS = 5e6  # sorting steps, about a quarter of a second
_PERFECT = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class RankReliability:
    """A test-retest Spearman with its counts.

    `estimate` holds value, standard error and interval; `unit` says whose
    reliability it is; `pairs` counts pairs of repeats and `items_per_pair` the
    fewest items that a pair had; `levels` is the number of distinct scores and
    `top_share` the share at the highest; `agreement_bound` is set only when the
    agreement was perfect.
    """

    estimate: Estimated
    unit: str
    pairs: int
    items: int
    items_per_pair: int
    levels: int
    top_share: float
    agreement_bound: Interval | None = None


def spearman_within(
    scores: Floats, *, version: Version = "mean-of-pairs", clusters: NDArray[np.int_] | None = None
) -> RankReliability | Undefined:
    """Return the mean mid-rank Spearman over pairs of repeats of one window.

    `scores` is (n, m) with nan for missing. `mean-score` needs two windows and
    is undefined here. `clusters` (n,) makes the standard error sum within
    clusters, for "items like these" when items share tasks.

    Parameters
    ----------
    scores : array, shape (n items, m repeats)
        Scores of one window, nan for missing.
    version : "mean-of-pairs", "pair" or "mean-score"
        Whose reliability it is.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    RankReliability, or Undefined with the reason.

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101.
    """
    if version == "mean-score":
        return Undefined("mean-score needs two windows")
    m = 2 if version == "pair" else scores.shape[1]
    if scores.shape[1] < 2:
        return Undefined("needs >= 2 repeats")
    pairs = [(j, k) for j in range(m) for k in range(j + 1, m)]
    return _reliability(scores[:, :m], pairs, "single", clusters)


def spearman_between(
    first: Floats,
    second: Floats,
    *,
    version: Version = "mean-of-pairs",
    clusters: NDArray[np.int_] | None = None,
) -> RankReliability | Undefined:
    """Return the mean mid-rank Spearman over pairs of repeats across two windows.

    `first` is (n, mA), `second` (n, mB), rows the same items, nan for missing.
    `mean-score` correlates the two means over the repeats that came back.

    Parameters
    ----------
    first, second : array, shape (n items, repeats)
        Scores of the same items in two windows, nan for missing.
    version : "mean-of-pairs", "pair" or "mean-score"
        Whose reliability it is.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    RankReliability, or Undefined with the reason.

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101.
    """
    unit = "single"
    if version == "mean-score":
        unit = f"mean of {min(first.shape[1], second.shape[1])}"
        first, second = _row_means(first), _row_means(second)
    elif version == "pair":
        first, second = first[:, :1], second[:, :1]
    left, right = first.shape[1], second.shape[1]
    pairs = [(j, left + k) for j in range(left) for k in range(right)]
    return _reliability(np.hstack([first, second]), pairs, unit, clusters)


def spearman_pairs(
    scores: Floats, pairs: Pairs, *, clusters: NDArray[np.int_] | None = None
) -> RankReliability | Undefined:
    """Return the mean mid-rank Spearman over the named pairs of columns of `scores` (n, m).

    Parameters
    ----------
    scores : array, shape (n items, m columns)
        Scores, nan for missing.
    pairs : list of (int, int)
        Pairs of columns.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    RankReliability, or Undefined with the reason.
    """
    return _reliability(scores, pairs, "single", clusters)


def difference(
    first: RankReliability, second: RankReliability, clusters: NDArray[np.int_] | None = None
) -> Estimated | Undefined:
    """Return r1 - r2 for two reliabilities on the same items, rows in the same order.

    The standard error is that of the difference of the influence values, so
    that what both share cancels. Undefined if either has no influence values.

    Parameters
    ----------
    first, second : RankReliability
        Two reliabilities on the same items.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated, or Undefined with the reason.
    """
    one, two = first.estimate, second.estimate
    if one.influence is None or two.influence is None:
        return Undefined("one of the two reliabilities has no influence values")
    if one.influence.size != two.influence.size:
        return Undefined("the two reliabilities are not on the same items")
    influence = one.influence - two.influence
    value = one.value - two.value
    if not np.any(influence):
        return without_interval(value, one.n, "the two reliabilities do not differ on any item")
    se, units, freedom = spread(influence, clusters)
    if why := too_few(units, clusters):
        return without_interval(value, units, why, influence)
    if units < MIN_ITEMS and clusters is None:
        return without_interval(value, units, f"fewer than {MIN_ITEMS} items", influence)
    clustered = clusters is not None
    freedom = freedom if clustered else units - 2
    named = "influence difference, t" + (", clustered" if clustered else "")
    return Estimated(value, se, freedom, units, named, influence=influence, clustered=clustered)


def _row_means(scores: Floats) -> Floats:
    present = ~np.isnan(scores)
    counts = present.sum(axis=1)
    sums = np.where(present, scores, 0.0).sum(axis=1)
    means = np.full(scores.shape[0], np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    # Equal replies must tie: sums of the same decimals in another order differ in the last bit.
    return np.round(means, 12)[:, None]


def _reliability(
    columns: Floats, pairs: Pairs, unit: str, clusters: NDArray[np.int_] | None
) -> RankReliability | Undefined:
    present = ~np.isnan(columns)
    common = _common(columns, present, pairs)
    if isinstance(common, Undefined):
        return common
    used, fewest = common
    estimate = _estimate(columns, present, pairs, used, clusters)
    seen = columns[present]
    perfect = estimate.value >= _PERFECT
    return RankReliability(
        estimate,
        unit,
        len(pairs),
        int(used.sum()),
        fewest,
        int(distinct(seen).size),
        float((seen == seen.max()).mean()),
        disagreement_bound(int(used.sum())) if perfect else None,
    )


def _common(
    columns: Floats, present: NDArray[np.bool_], pairs: Pairs
) -> tuple[NDArray[np.bool_], int] | Undefined:
    """Which items are in a pair, and the fewest of any; undefined where a pair has no order."""
    if present.all():  # every pair has the same items: each column is looked at once
        named = sorted({column for pair in pairs for column in pair})
        pairs = list(pairwise(named))
    used = np.zeros(columns.shape[0], dtype=bool)
    fewest = columns.shape[0]
    for j, k in pairs:
        both = present[:, j] & present[:, k]
        used |= both
        fewest = min(fewest, int(both.sum()))
        if fewest < 3:
            return Undefined("fewer than 3 items in common")
        if np.ptp(columns[both, j]) == 0 or np.ptp(columns[both, k]) == 0:
            return Undefined("constant")
    return used, fewest


def _estimate(
    columns: Floats,
    present: NDArray[np.bool_],
    pairs: Pairs,
    used: NDArray[np.bool_],
    clusters: NDArray[np.int_] | None,
) -> Estimated:
    n = int(used.sum())
    value, raw, scaled, how = _influences(columns, present, pairs, used)
    if value >= _PERFECT:
        return without_interval(1.0, n, "perfect agreement", raw)
    if n < MIN_ITEMS:
        return without_interval(value, n, f"fewer than {MIN_ITEMS} items", raw)
    if scaled is None:
        return without_interval(value, n, "constant once a single item is left out", raw)
    codes = None if clusters is None else clusters[used]
    se, units, freedom = spread(scaled[used], codes)
    if why := too_few(units, codes):
        return without_interval(value, units, why, raw)
    freedom = units - 2 if codes is None else freedom
    named = f"{how} of atanh, t" + ("" if clusters is None else ", clustered")
    clustered = codes is not None
    return Estimated(value, se, freedom, units, named, ATANH, influence=raw, clustered=clustered)


def _influences(
    columns: Floats, present: NDArray[np.bool_], pairs: Pairs, used: NDArray[np.bool_]
) -> tuple[float, Floats, Floats | None, str]:
    """Mean over pairs, its raw and atanh influences (0 for unused items), and how they came."""
    parts = [(columns, pairs, used)] if present[used].all() else _pairwise(columns, present, pairs)
    n, total = columns.shape[0], sum(len(p) for _, p, _ in parts)
    ranked = [(RankedColumns.of(c[rows]), p, rows) for c, p, rows in parts]
    values = [mean_correlation(r, p) for r, p, _ in ranked]
    weights = [len(p) / total for _, p, _ in parts]
    value = float(np.dot(values, weights))
    exact = n <= JACKKNIFE_UP_TO and sum(deletion_cost(r, p) for r, p, _ in ranked) <= _SLOW_STEPS
    gathered = np.zeros(n)
    for (r, p, rows), own, weight in zip(ranked, values, weights, strict=True):
        if exact:
            gathered[rows] += weight * (deleted_values(r, p) - own)
        else:  # an item's influence is per item of its pair; rescale to the items of the mean
            gathered[rows] += weight * influence_values(r, p) * (used.sum() / rows.sum())
    if not exact:
        return value, gathered, gathered / max(1 - value**2, 1e-12), "influence"
    return value, *_jackknifed(value, gathered, used), "jackknife"


def _jackknifed(
    value: float, change: Floats, used: NDArray[np.bool_]
) -> tuple[Floats, Floats | None]:
    raw, scaled = np.zeros(used.size), np.zeros(used.size)
    deleted = value + change[used]
    if np.isnan(deleted).any():
        return raw, None
    raw[used] = jackknife_influence(deleted)
    scaled[used] = jackknife_influence(ATANH.to(deleted))
    return raw, scaled


def _pairwise(
    columns: Floats, present: NDArray[np.bool_], pairs: Pairs
) -> list[tuple[Floats, Pairs, NDArray[np.bool_]]]:
    """Each pair on its own, with the items that have both scores."""
    return [(columns[:, [j, k]], [(0, 1)], present[:, j] & present[:, k]) for j, k in pairs]
