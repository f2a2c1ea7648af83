"""Drift between windows: whether the judge's level, spread or order has moved.

Rules of this module:

* Level: mean over items of (item mean in the later window - in the earlier), t(n - 1).
* "No drift" needs a margin set beforehand: equivalence (TOST; Schuirmann 1987) holds if the
  interval of level 1 - 2 alpha lies inside (-margin, margin). A shift not found is no absence.
* Reliability: difference of the two within-window Spearmans by their influence values.
* Trend needs four windows. `these_windows` has one slope common to the items and an item-clustered
  error: a claim about these windows. `windows_like_these` fits the window means, t(W - 2): there
  the windows are the sample, and W is its size.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.ranks import difference, spearman_within
from judgeaudit.stats.scaled import (
    MIN_ITEMS,
    Estimated,
    influence_se,
    mean_estimate,
    without_interval,
)

Floats = NDArray[np.float64]
LEAST_WINDOWS = 4


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A TOST: `holds` if the interval of level 1 - 2 alpha lies inside the margin.

    `p` is the larger of the two one-sided p-values.
    """

    holds: bool
    p: float
    margin: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Trend:
    """Slope of the mean score in scale units per unit of time, for two targets."""

    these_windows: Estimated
    windows_like_these: Estimated
    windows: int
    items: int


def mean_shift(
    first: Floats, second: Floats, clusters: NDArray[np.int_] | None = None
) -> Estimated | Undefined:
    """Return later less earlier mean score over items with a reply in both, (n, m1) and (n, m2).

    Parameters
    ----------
    first, second : array, shape (n items, repeats)
        Scores of the same items in two windows, nan for missing.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated in scale units, or Undefined if no item has both.
    """
    shift = _item_means(second) - _item_means(first)
    return mean_estimate(
        shift, clusters=clusters, method="paired t over items", min_items=MIN_ITEMS
    )


def equivalence(shift: Estimated, margin: float, alpha: float = 0.05) -> Equivalence | Undefined:
    """Return the two one-sided tests of `shift` against -margin and +margin.

    Parameters
    ----------
    shift : Estimated
        A difference, as `mean_shift` gives it.
    margin : float
        Largest difference that does not matter, in scale units, set beforehand.
    alpha : float
        Level of each one-sided test.

    Returns
    -------
    Equivalence, or Undefined without an interval.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
    """
    found = shift.interval(1 - 2 * alpha)
    above, below = shift.p_below(-margin), shift.p_above(margin)
    if isinstance(found, Undefined) or isinstance(above, Undefined) or isinstance(below, Undefined):
        return Undefined(shift.no_interval)
    return Equivalence(
        -margin < found.low and found.high < margin, max(above, below), margin, found
    )


def reliability_change(
    first: Floats, second: Floats, clusters: NDArray[np.int_] | None = None
) -> Estimated | Undefined:
    """Return later less earlier within-window Spearman on the same items, (n, m1) and (n, m2).

    Parameters
    ----------
    first, second : array, shape (n items, repeats)
        Scores of the same items in two windows, nan for missing.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated difference of two Spearman coefficients, or Undefined with the reason.
    """
    earlier, later = spearman_within(first), spearman_within(second)
    if isinstance(earlier, Undefined):
        return earlier
    return later if isinstance(later, Undefined) else difference(later, earlier, clusters)


def trend(scores: Floats, times: Floats) -> Trend | Undefined:
    """Return the slope of mean scores over `times` (W,), for scores (n, W, repeats) or (n, W).

    Parameters
    ----------
    scores : array, shape (n items, W windows) or (n, W, repeats)
        Scores in scale units, nan for missing.
    times : array, shape (W,)
        Time of each window, e.g. in days.

    Returns
    -------
    Trend in scale units per unit of time, or Undefined below four windows.
    """
    cells = (
        scores
        if scores.ndim == 2
        else np.stack([_item_means(scores[:, w]) for w in range(scores.shape[1])], axis=1)
    )
    present = ~np.isnan(cells)
    kept = present.sum(axis=1) >= 2
    seen = present[kept].any(axis=0)
    if seen.sum() < LEAST_WINDOWS:
        return Undefined(f"needs >= {LEAST_WINDOWS} windows")
    y, there, t = cells[kept][:, seen], present[kept][:, seen], times[seen]
    n = y.shape[0]
    centred_t = np.where(there, t - _row_mean(np.broadcast_to(t, y.shape), there), 0.0)
    centred_y = np.where(there, y - _row_mean(y, there), 0.0)
    spread = float((centred_t**2).sum())
    slope = float((centred_t * centred_y).sum()) / spread
    residual = centred_y - slope * centred_t
    influence = n * (centred_t * residual).sum(axis=1) / spread
    if n < MIN_ITEMS:
        common = without_interval(slope, n, f"fewer than {MIN_ITEMS} items")
    elif not np.any(influence):
        common = without_interval(slope, n, "every item has the same slope")
    else:
        se, _ = influence_se(influence)
        method = "common slope, item-clustered t"
        common = Estimated(slope, se, n - 1, n, method, influence=influence)
    return Trend(common, _window_slope(centred_y, there, t), int(seen.sum()), n)


def _window_slope(centred: Floats, there: NDArray[np.bool_], t: Floats) -> Estimated:
    """Least squares through the window means of scores less their item's mean."""
    means = centred.sum(axis=0) / there.sum(axis=0)
    x = t - t.mean()
    spread = float(x @ x)
    slope = float(x @ means) / spread
    residual = means - means.mean() - slope * x
    freedom = t.size - 2
    se = float(np.sqrt(residual @ residual / freedom / spread))
    if se == 0:
        return without_interval(slope, t.size, "the window means lie on a line")
    return Estimated(slope, se, freedom, t.size, "slope of window means, t(W - 2)")


def _item_means(scores: Floats) -> Floats:
    present = ~np.isnan(scores)
    means = np.full(scores.shape[0], np.nan)
    np.divide(
        np.where(present, scores, 0.0).sum(axis=1),
        present.sum(axis=1),
        out=means,
        where=present.any(axis=1),
    )
    return means


def _row_mean(values: Floats, present: NDArray[np.bool_]) -> Floats:
    total = np.where(present, values, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(total / present.sum(axis=1, keepdims=True))
