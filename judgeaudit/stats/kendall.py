"""Kendall's tau-b between repeats, from the concordance count of each item.

Rules of this module:

* s_i = sum over l of sign(x_l - x_i) sign(y_l - y_i) is the number of items concordant with i less
  the number discordant; u_i counts the items that differ from i in x. Then
  tau_b = sum s / sqrt(sum u sum v), and without item i it is exactly
  (S - s_i) / sqrt((U - u_i)(V - v_i)), with S, U, V counted over unordered pairs.
* Mean over pairs of repeats, jackknife of atanh with t(n - 2), and the contract for constant
  columns, perfect agreement and few items, are those of `ranks`.
* tau-b is lower than Spearman's rho on the same replies (.80 against .945 for continuous scores):
  a threshold set for one says nothing about the other.
"""

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.dominance import dense_codes, joint_dominance, upper_sums
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import (
    ATANH,
    MIN_ITEMS,
    Estimated,
    influence_se,
    jackknife_influence,
    without_interval,
)

Floats = NDArray[np.float64]
_PERFECT = 1 - 1e-12


def kendall_within(scores: Floats) -> Estimated | Undefined:
    """Return the mean tau-b over pairs j < k of the repeats of one window, (n, m).

    Parameters
    ----------
    scores : array, shape (n items, m repeats)
        Scores of one window; items with a missing score are left out.

    Returns
    -------
    Estimated, or Undefined with the reason.

    References
    ----------
    Kendall (1945), Biometrika 33, 239-251.
    """
    m = scores.shape[1]
    if m < 2:
        return Undefined("needs >= 2 repeats")
    return _mean_tau(scores, [(j, k) for j in range(m) for k in range(j + 1, m)])


def kendall_between(first: Floats, second: Floats) -> Estimated | Undefined:
    """Return the mean tau-b over pairs of repeats across two windows, (n, mA) and (n, mB).

    Parameters
    ----------
    first, second : array, shape (n items, repeats)
        Scores of the same items in two windows.

    Returns
    -------
    Estimated, or Undefined with the reason.

    References
    ----------
    Kendall (1945), Biometrika 33, 239-251.
    """
    left, right = first.shape[1], second.shape[1]
    pairs = [(j, left + k) for j in range(left) for k in range(right)]
    return _mean_tau(np.hstack([first, second]), pairs)


def concordance_counts(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each item: concordant less discordant items, items untied in x, and in y.

    Parameters
    ----------
    x, y : array, shape (n,)
        Scores without nan.

    Returns
    -------
    Three arrays, shape (n,).
    """
    n = x.size
    codes_x, codes_y = dense_codes(x), dense_codes(y)
    ones = np.ones(n)
    above_x, above_y = upper_sums(codes_x, ones), upper_sums(codes_y, ones)
    # sign = 2h - 1, so the sum of products opens into the three sums of h
    signs = 4 * joint_dominance(codes_x, codes_y) - 2 * above_x - 2 * above_y + n
    untied = [(n - np.bincount(c)[c]).astype(np.float64) for c in (codes_x, codes_y)]
    return signs, untied[0], untied[1]


def _mean_tau(columns: Floats, pairs: list[tuple[int, int]]) -> Estimated | Undefined:
    present = ~np.isnan(columns)
    n = columns.shape[0]
    value, change, used = 0.0, np.zeros(n), np.zeros(n, dtype=bool)
    for j, k in pairs:
        both = present[:, j] & present[:, k]
        if both.sum() < 3:
            return Undefined("fewer than 3 items in common")
        x, y = columns[both, j], columns[both, k]
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return Undefined("constant")
        tau, deleted = _tau_and_deleted(x, y)
        value += tau / len(pairs)
        change[both] += (deleted - tau) / len(pairs)
        used |= both
    return _with_interval(value, change, used)


def _tau_and_deleted(x: Floats, y: Floats) -> tuple[float, Floats]:
    signs, untied_x, untied_y = concordance_counts(x, y)
    s, u, v = (float(counts.sum()) / 2 for counts in (signs, untied_x, untied_y))
    left_u, left_v = u - untied_x, v - untied_y
    with np.errstate(divide="ignore", invalid="ignore"):
        deleted = (s - signs) / np.sqrt(left_u * left_v)
    deleted[(left_u == 0) | (left_v == 0)] = np.nan
    return s / np.sqrt(u * v), deleted


def _with_interval(value: float, change: Floats, used: NDArray[np.bool_]) -> Estimated:
    n = int(used.sum())
    deleted = value + change[used]
    influence = np.zeros(used.size)
    if np.isnan(deleted).any():
        return without_interval(value, n, "constant once a single item is left out")
    influence[used] = jackknife_influence(deleted)
    if value >= _PERFECT:
        return without_interval(1.0, n, "perfect agreement", influence)
    if n < MIN_ITEMS:
        return without_interval(value, n, f"fewer than {MIN_ITEMS} items", influence)
    se, _ = influence_se(jackknife_influence(ATANH.to(deleted)))
    return Estimated(value, se, n - 2, n, "jackknife of atanh, t", ATANH, influence=influence)
