"""Excess disagreement: what a condition adds to a judge's own noise.

Rules of this module:

* For two conditions (orders, label maps, windows, providers) with choice probabilities p, q of one
  item: P(disagree across) - mean of P(disagree within) = 1/2 sum_c (p_c - q_c)^2 >= 0, exactly.
  So inconsistency across orders is the order's own part plus the noise of repeats.
* Each part is an unbiased U-statistic within an item; the estimate is the mean over items, the
  interval t(n - 1) over items. An estimate may be negative; it is not clipped.
* For verdicts the variance counts two more items, at -1/2 and +1/2 beside the mean (the pseudo-
  observations of Agresti & Caffo 2000): most items differ by 0, and plain t then covered 80-93 %.
* With one call in either condition the two parts cannot be told apart: undefined, for that item
  and, if no item has two calls in both, for the study.
* Signed parts use p = P(candidate A chosen): content (p_AB + p_BA)/2 - 1/2, position
  (p_AB - p_BA)/2. Position parts of opposite sign cancel in the mean; the excess does not.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.agreement import category_counts
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import LEAST_TASKS, MIN_ITEMS, Estimated, mean_estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NOT_SEPARABLE = "one call a condition: the condition's part and noise cannot be told apart"


@dataclass(frozen=True, slots=True)
class Excess:
    """Disagreement across two conditions, its part within them, and the excess.

    All three are means over the same items; `across.value` equals the sum of
    the other two. `single` counts items without two replies in both conditions.
    For scores the unit is squared scale units.
    """

    across: Estimated
    within: Estimated
    excess: Estimated
    items: int
    single: int


@dataclass(frozen=True, slots=True)
class SignedParts:
    """Mean signed parts over items: `content` and `position`, each in [-1/2, 1/2]."""

    content: Estimated
    position: Estimated
    items: int


def excess_disagreement(
    first: Codes, second: Codes, categories: int, clusters: NDArray[np.int_] | None = None
) -> Excess | Undefined:
    """Return the excess for verdict codes (n, k1) and (n, k2) of two conditions; -1 is missing.

    Parameters
    ----------
    first, second : array of int, shape (n items, repeats)
        Categories 0..q-1 of the same items in two conditions, -1 for missing.
    categories : int
        Number q of declared categories.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Excess, or Undefined where noise and condition cannot be told apart.
    """
    one, two = category_counts(first, categories), category_counts(second, categories)
    k1, k2 = one.sum(axis=1), two.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        across = 1 - (one * two).sum(axis=1) / (k1 * k2)
        noise = [1 - (c * (c - 1)).sum(axis=1) / (k * (k - 1)) for c, k in ((one, k1), (two, k2))]
    found = _excess(across, (noise[0] + noise[1]) / 2, (k1 >= 2) & (k2 >= 2), clusters)
    if isinstance(found, Undefined):
        return found
    return replace(
        found, excess=_with_pseudo_items(found.excess, found.items, clusters is not None)
    )


def signed_parts(
    forward: Codes, backward: Codes, chosen: int = 0, clusters: NDArray[np.int_] | None = None
) -> SignedParts | Undefined:
    """Return content and position parts from verdicts in both orders, (n, k1) and (n, k2).

    Codes name the *candidate* chosen, not the place; `chosen` is candidate A's.
    One call an order is enough here: both parts are linear in p.

    Parameters
    ----------
    forward, backward : array of int, shape (n items, repeats)
        The candidate chosen in each order, -1 for missing.
    chosen : int
        Code of candidate A.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    SignedParts, or Undefined with the reason.
    """
    shares = []
    for verdicts in (forward, backward):
        k = (verdicts >= 0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares.append((verdicts == chosen).sum(axis=1) / k)
    parts = [(shares[0] + shares[1]) / 2 - 0.5, (shares[0] - shares[1]) / 2]
    content, position = (_mean(part, clusters) for part in parts)
    if isinstance(content, Undefined) or isinstance(position, Undefined):
        return Undefined("no item has a verdict in both orders")
    return SignedParts(content, position, int((~np.isnan(parts[0])).sum()))


def asked_later(
    first: Codes, again: Codes, clusters: NDArray[np.int_] | None = None
) -> Estimated | Undefined:
    """Return how much more often a later answer differs from the first than later ones do.

    For an item with first answer f and later answers a, b: (1[f != a] + 1[f != b]) / 2 - 1[a != b],
    of expectation q'(q - p) for answers drawn from p at first and from q later: 0 where lag, load
    and caching change nothing. The mean over items that have all three, t over items or clusters,
    with two pseudo-items at -1/2 and +1/2 in the variance, as above.

    Parameters
    ----------
    first : array of int, shape (n items,)
        Codes of the first answers, -1 for missing.
    again : array of int, shape (n items, 2)
        Codes of the two later answers.
    clusters : array of int, shape (n,), optional
        The body of each item.

    Returns
    -------
    Estimated, or Undefined where no item has three answers.
    """
    there = (first >= 0) & (again >= 0).all(axis=1)
    across = (again != first[:, None]).mean(axis=1)
    values = np.where(there, across - (again[:, 0] != again[:, 1]), np.nan)
    found = _mean(values, clusters)
    if isinstance(found, Undefined):
        return Undefined("no call has a first and two later answers")
    return _with_pseudo_items(found, int(there.sum()), clusters is not None)


def _excess(
    across: Floats,
    noise: Floats,
    usable: NDArray[np.bool_],
    clusters: NDArray[np.int_] | None,
) -> Excess | Undefined:
    across, noise = np.where(usable, across, np.nan), np.where(usable, noise, np.nan)
    parts = [_mean(values, clusters) for values in (across, noise, across - noise)]
    found = [part for part in parts if isinstance(part, Estimated)]
    if len(found) < len(parts):
        return Undefined(NOT_SEPARABLE)
    items = int(usable.sum())
    return Excess(found[0], found[1], found[2], items, usable.size - items)


def _with_pseudo_items(excess: Estimated, items: int, clustered: bool) -> Estimated:
    """Add the squares of two deviations of 1/2 to the variance of an excess in [-1, 1]."""
    if items < MIN_ITEMS or excess.n < 2 or (clustered and excess.n < LEAST_TASKS):
        return excess
    base = 0.0 if excess.no_interval else excess.se**2
    se = math.sqrt(base + 0.5 / (items * (items - 1)))
    method = (
        "t, two pseudo-items" if excess.method == "none" else excess.method + ", two pseudo-items"
    )
    freedom = excess.n - 1 if math.isnan(excess.df) else excess.df
    return replace(excess, se=se, df=freedom, method=method, no_interval="", clustered=clustered)


def _mean(values: Floats, clusters: NDArray[np.int_] | None) -> Estimated | Undefined:
    return mean_estimate(values, clusters=clusters, min_items=MIN_ITEMS)
