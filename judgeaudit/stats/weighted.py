"""Agreement with partial credit: weighted kappa and Gwet's AC2, for ordered or given weights.

Two letter grades one step apart disagree less than A and F. Weights say how much two categories
agree, from 1 (equal) down to 0.

Rules of this module:

* Weights: "identity", "linear" 1 - |a - b|/(q - 1), "quadratic" 1 - ((a - b)/(q - 1))^2, or a
  symmetric (q, q) table with 1 on its diagonal. Categories stand in the order declared.
* Weighted kappa (Cohen 1968): (po - pe)/(1 - pe) with pe from both columns' shares.
* AC2 (Gwet 2014): items with two readings or more give the observed part; pe is T/(q (q - 1)) sum
  pi (1 - pi), T the sum of weights and pi from all items.
* Krippendorff's alpha, kappa and AC2 get intervals by leaving out items or tasks on the scale
  -log(1 - x). With fewer than ten items whose readings differ there is no interval: too little
  disagreement to see its spread.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import (
    Metric,
    category_counts,
    item_disagreement,
    krippendorff_alpha,
)
from judgeaudit.stats.clustered import jackknife
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.resolution import LEAST_MOVERS
from judgeaudit.stats.scaled import Estimated, Scale, without_interval

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Weights = Literal["identity", "linear", "quadratic"] | Floats
_COMPLEMENT = Scale("-log(1 - x)", lambda x: -np.log1p(-x), lambda y: -np.expm1(-y))


def weight_table(weights: Weights, categories: int) -> Floats:
    """Return the (q, q) weights of a name, or a given table after a check.

    Parameters
    ----------
    weights : "identity", "linear", "quadratic" or array, shape (q, q)
        How much two categories agree.
    categories : int
        Number q of categories.

    Returns
    -------
    array, shape (q, q), in [0, 1].

    Raises
    ------
    InputError
        For an unknown name, or a table that is not symmetric with 1 on its diagonal.
    """
    steps = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories)))
    most = max(categories - 1, 1)
    if isinstance(weights, str):
        known: dict[str, Floats] = {
            "identity": (steps == 0).astype(float),
            "linear": 1 - steps / most,
            "quadratic": 1 - (steps / most) ** 2,
        }
        if weights in known:
            return known[weights]
        raise InputError("agreement", "weights", weights, f"use one of {sorted(known)}, or a table")
    table = np.asarray(weights, float)
    good = table.shape == (categories, categories) and np.allclose(table, table.T)
    if not (good and np.allclose(np.diag(table), 1) and (table >= 0).all() and (table <= 1).all()):
        raise InputError(
            "agreement",
            "weights",
            f"a {table.shape} table",
            f"give a symmetric {categories} x {categories} table in [0, 1], 1 on the diagonal",
        )
    return table


def weighted_kappa(
    first: Codes,
    second: Codes,
    categories: int,
    weights: Weights = "identity",
    tasks: Codes | None = None,
) -> Estimated | Undefined:
    """Return Cohen's kappa of two columns with weights.

    Parameters
    ----------
    first, second : array of int, shape (n,)
        Categories 0..q-1, -1 for missing. Items missing in either are left out.
    categories : int
        Number q of declared categories.
    weights : "identity", "linear", "quadratic" or array, shape (q, q)
        How much two categories agree.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated, or Undefined if no item has both or both columns are one and the same category.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70, 213-220.
    """
    both = (first >= 0) & (second >= 0)
    if not both.any():
        return Undefined("no item has both readings")
    a, b, table = first[both], second[both], weight_table(weights, categories)

    def value(kept: NDArray[np.bool_]) -> float:
        return _kappa(a[kept], b[kept], table)

    return _with_interval(value, a != b, None if tasks is None else tasks[both])


def _kappa(a: Codes, b: Codes, weights: Floats) -> float:
    q = weights.shape[0]
    shares = np.bincount(a * q + b, minlength=q * q).reshape(q, q) / a.size
    expected = float(shares.sum(axis=1) @ weights @ shares.sum(axis=0))
    if math.isclose(expected, 1.0):
        return math.nan
    return (float((weights * shares).sum()) - expected) / (1 - expected)


def gwet_ac2(
    codes: Codes, categories: int, weights: Weights = "linear", tasks: Codes | None = None
) -> Estimated | Undefined:
    """Return Gwet's AC2 of any number of readings; with identity weights it is AC1.

    Parameters
    ----------
    codes : array of int, shape (n items, m readings)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.
    weights : as in `weighted_kappa`.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated, or Undefined without an item that was read twice.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 5.
    """
    counts = category_counts(codes, categories)
    size = counts.sum(axis=1)
    if categories < 2:
        return Undefined("needs >= 2 categories")
    if not (size >= 2).any():
        return Undefined("needs >= 2 repeats")
    table = weight_table(weights, categories)

    def value(kept: NDArray[np.bool_]) -> float:
        return _ac2(counts[kept], table)

    return _with_interval(value, item_disagreement(codes, categories) > 0, tasks)


def _ac2(counts: Floats, weights: Floats) -> float:
    size = counts.sum(axis=1)
    counts, size = counts[size > 0], size[size > 0]
    paired = size >= 2
    if not paired.any():
        return math.nan
    c, k = counts[paired], size[paired]
    observed = float(((c * (c @ weights - 1)).sum(axis=1) / (k * (k - 1))).mean())
    share = (counts / size[:, None]).mean(axis=0)
    q = share.size
    expected = float(weights.sum() / (q * (q - 1)) * (share * (1 - share)).sum())
    return (observed - expected) / (1 - expected)


def alpha_estimate(
    codes: Codes,
    categories: int,
    metric: Metric = "nominal",
    values: Floats | None = None,
    tasks: Codes | None = None,
) -> Estimated | Undefined:
    """Return Krippendorff's alpha with an interval by leaving out items or tasks.

    Parameters
    ----------
    codes : array of int, shape (n items, m readings)
        Categories 0..q-1, -1 for missing.
    categories : int
        Number q of declared categories.
    metric : "nominal", "ordinal" or "interval"
        Distance of two categories.
    values : array, shape (q,), optional
        The number behind each category, for "interval".
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Estimated, or Undefined.

    References
    ----------
    Hayes & Krippendorff (2007), Communication Methods and Measures 1, 77-89.
    """
    whole = krippendorff_alpha(codes, categories, metric, values)
    if isinstance(whole, Undefined):
        return whole

    def value(kept: NDArray[np.bool_]) -> float:
        found = krippendorff_alpha(codes[kept], categories, metric, values)
        return math.nan if isinstance(found, Undefined) else found

    return _with_interval(value, item_disagreement(codes, categories) > 0, tasks)


def _with_interval(
    value: Callable[[NDArray[np.bool_]], float], differ: NDArray[np.bool_], tasks: Codes | None
) -> Estimated | Undefined:
    n, moved = differ.size, int(differ.sum())
    if moved < LEAST_MOVERS:
        whole = value(np.ones(n, dtype=bool))
        if math.isnan(whole):
            return Undefined("constant")
        reason = f"fewer than {LEAST_MOVERS} items whose readings differ"
        return without_interval(whole, n, reason)
    return jackknife(value, n, tasks, scale=_COMPLEMENT)
