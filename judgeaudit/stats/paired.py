"""Differences of two shares on the same units, and differences of such differences.

The unit is the world (or item). A pair of answers falls into one of four cells:

    a  both 1      b  first 1, second 0      c  first 0, second 1      d  both 0

Rules of this module:

* Two-sided intervals of b/n - c/n are Tango's (1998); a one-sided claim about the
  lower end takes Newcombe's (1998), because Tango misses low more often than it says.
* A difference of two differences, one call a cell, takes MOVER of their intervals, with
  the halves' correlation over worlds where it is negative (`opposing_correlation`). With
  several calls a cell it takes t on one number a world.
* No Wald and no bootstrap: near zero events they have width zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.proportions import wilson_ends

Floats = NDArray[np.float64]
Base = Literal["tango", "newcombe"]
Alternative = Literal["greater", "less", "two-sided"]

BISECTIONS = 60  # 2 * 2^-60: the ends are exact to rounding


def _check_discordant(b: Floats, c: Floats, n: Floats) -> None:
    if not (np.all(b >= 0) and np.all(c >= 0) and np.all(n > 0) and np.all(b + c <= n)):
        raise InputError(
            "paired difference", "counts", f"b {b}, c {c}, n {n}", "give b, c >= 0 and b + c <= n"
        )


def _score_sd(delta: Floats, b: Floats, c: Floats, n: Floats) -> Floats:
    """SD of b - c at the most likely table whose difference is `delta` (Tango 1998)."""
    linear = (2 * n + c - b) * delta - b - c
    constant = -c * delta * (1 - delta)
    # The positive root of 2n q² + linear q + constant = 0 is the chance of cell c.
    root = np.sqrt(np.maximum(linear * linear - 8 * n * constant, 0.0))
    q = np.maximum((root - linear) / (4 * n), np.maximum(0.0, -delta))
    return np.sqrt(np.maximum(n * (2 * q + delta * (1 - delta)), 0.0))


def tango_ends(
    b: ArrayLike, c: ArrayLike, n: ArrayLike, z: float | Floats
) -> tuple[Floats, Floats]:
    """Both ends of Tango's interval, elementwise, by bisection of the score.

    The lower end solves b - c - n delta = z sd(delta) on [-1, (b - c)/n], the upper
    one b - c - n delta = -z sd(delta) on [(b - c)/n, 1]; the score falls in delta, so
    each has one root. No division by sd, which is 0 at delta = -1 and 1.

    Parameters
    ----------
    b, c : array, any shape
        Pairs of which only the first, or only the second, answer is 1.
    n : array
        All pairs.
    z : float or array
        Normal quantile, 1.96 for 95 %.

    Returns
    -------
    (low, high), arrays of the common shape, in [-1, 1].

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.
    """
    b_, c_, n_ = np.broadcast_arrays(*(np.asarray(v, float) for v in (b, c, n)))
    _check_discordant(b_, c_, n_)
    estimate = (b_ - c_) / n_

    def solve(end: float) -> Floats:
        inside, outside = estimate.copy(), np.full_like(estimate, end)
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            distance = np.abs(b_ - c_ - n_ * middle)
            within = distance <= z * _score_sd(middle, b_, c_, n_)
            inside = np.where(within, middle, inside)
            outside = np.where(within, outside, middle)
        return np.asarray((inside + outside) / 2)

    return solve(-1.0), solve(1.0)


def _phi(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Correlation of the two answers with Newcombe's continuity correction; 0 where undefined."""
    cross = a * d - b * c
    n = a + b + c + d
    corrected = np.where(cross > 0, np.maximum(cross - n / 2, 0.0), cross)
    scale = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    found = np.where(scale > 0, corrected / np.where(scale > 0, scale, 1.0), 0.0)
    return np.asarray(found, float)


def newcombe_ends(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, z: float | Floats
) -> tuple[Floats, Floats]:
    """Both ends of Newcombe's paired interval, elementwise.

    Parameters
    ----------
    a, b, c, d : array, any shape
        Counts of the four cells: both 1, first only, second only, both 0.
    z : float or array
        Normal quantile, 1.96 for 95 %.

    Returns
    -------
    (low, high), arrays of the common shape, in [-1, 1].

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10.
    """
    a_, b_, c_, d_ = np.broadcast_arrays(*(np.asarray(v, float) for v in (a, b, c, d)))
    n = a_ + b_ + c_ + d_
    _check_discordant(b_, c_, n)
    p1, p2 = (a_ + b_) / n, (a_ + c_) / n
    l1, u1 = wilson_ends(a_ + b_, n, z)
    l2, u2 = wilson_ends(a_ + c_, n, z)
    phi = _phi(a_, b_, c_, d_)

    def reach(x: Floats, y: Floats) -> Floats:
        return np.sqrt(np.maximum(x * x - 2 * phi * x * y + y * y, 0.0))

    return p1 - p2 - reach(p1 - l1, u2 - p2), p1 - p2 + reach(u1 - p1, p2 - l2)


def mcnemar_midp(b: int, c: int, alternative: Alternative = "two-sided") -> float:
    """Mid-p value of McNemar's test that both answers are equally often 1.

    Binomial(b + c, 1/2) with half the probability of the observed table
    (Fagerland, Lydersen & Laake 2013). "greater" means that the first is 1 more often.

    Parameters
    ----------
    b, c : int
        Pairs of which only the first, or only the second, answer is 1.
    alternative : "greater", "less" or "two-sided"
        What the first share is, if they differ.

    Returns
    -------
    float in [0, 1].

    References
    ----------
    Fagerland, Lydersen & Laake (2013), BMC Medical Research Methodology 13, 91.
    """
    _check_discordant(np.asarray(b), np.asarray(c), np.asarray(max(b + c, 1)))
    n = b + c
    point = math.exp(
        special.gammaln(n + 1) - special.gammaln(b + 1) - special.gammaln(c + 1) - n * math.log(2.0)
    )
    if alternative == "greater":
        return float(special.bdtr(c, n, 0.5)) - point / 2
    if alternative == "less":
        return float(special.bdtr(b, n, 0.5)) - point / 2
    return min(1.0, 2 * (float(special.bdtr(min(b, c), n, 0.5)) - point / 2))


def mover_ends(
    d1: ArrayLike,
    ends1: tuple[ArrayLike, ArrayLike],
    d2: ArrayLike,
    ends2: tuple[ArrayLike, ArrayLike],
    correlation: ArrayLike = 0.0,
) -> tuple[Floats, Floats]:
    """Both ends of MOVER for d1 - d2, elementwise.

    Parameters
    ----------
    d1, d2 : array
        Two estimates.
    ends1, ends2 : (array, array)
        Low and high end of each one's interval.
    correlation : array
        Correlation of the two estimates.

    Returns
    -------
    (low, high), arrays of the common shape.

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702.
    """
    x, y, r = np.asarray(d1, float), np.asarray(d2, float), np.asarray(correlation, float)
    (l1, u1), (l2, u2) = (tuple(np.asarray(v, float) for v in ends) for ends in (ends1, ends2))

    def reach(one: Floats, other: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(one**2 + other**2 - 2 * r * one * other, 0.0)))

    return x - y - reach(x - l1, u2 - y), x - y + reach(u1 - x, y - l2)


def opposing_correlation(first: ArrayLike, second: ArrayLike) -> Floats:
    """Correlation of two per-world differences over the last axis, where it is negative, else 0.

    Only the part that would make independence too narrow is used; 0 where a half is constant.

    Parameters
    ----------
    first, second : array, shape (..., worlds)
        Differences of each world in two halves of a design.

    Returns
    -------
    array, shape (...), in [-1, 0].
    """
    x, y = np.asarray(first, float), np.asarray(second, float)
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    scale = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    found = np.where(scale > 0, (x * y).sum(axis=-1) / np.where(scale > 0, scale, 1.0), 0.0)
    return np.minimum(found, 0.0)


def pseudo_world_t(
    values: ArrayLike, level: float = 0.95, *, rare: int = 10
) -> tuple[float, Interval] | Undefined:
    """Mean of one number a world with t(W - 1); for several calls a cell.

    `values` are per-world contrasts of cell means, e.g. (y11 - y10) - (y01 - y00). With
    fewer than `rare` worlds unlike 0, two pseudo-worlds at +1 and -1 enter the interval
    (not the estimate), so that a run of zeros does not claim certainty.

    Parameters
    ----------
    values : array, shape (W,)
        One contrast a world, no nan.
    level : float
        Confidence level.
    rare : int
        Worlds unlike 0 below which two pseudo-worlds are added.

    Returns
    -------
    (mean, Interval), or Undefined below two worlds.
    """
    d = np.asarray(values, float)
    worlds = d.size
    if worlds < 2:
        return Undefined("needs >= 2 worlds")
    pseudo = int(np.count_nonzero(d)) < rare
    used = np.concatenate([d, (1.0, -1.0)]) if pseudo else d
    t = float(special.stdtrit(worlds - 1, 0.5 + level / 2))
    centre, half = float(used.mean()), t * float(used.std(ddof=1)) / math.sqrt(used.size)
    method = "t over worlds, two pseudo-worlds" if pseudo else "t over worlds"
    return float(d.mean()), Interval(centre - half, centre + half, level, method)


def supporting_correlations(differences: Sequence[ArrayLike]) -> Floats:
    """Correlations of per-world differences, where they are positive, else 0.

    For a *sum* of differences a positive correlation makes independence too narrow; only
    that part is used. 0 where a difference is constant, and on the diagonal.

    Parameters
    ----------
    differences : sequence of k arrays, shape (worlds,)
        One difference of a pair of cells a world.

    Returns
    -------
    array, shape (k, k), in [0, 1].
    """
    found = np.zeros((len(differences), len(differences)))
    for i, one in enumerate(differences):
        for j, other in enumerate(differences[:i]):
            # The correlation with the mirrored difference is the negative of theirs.
            found[i, j] = found[j, i] = -opposing_correlation(one, -np.asarray(other, float))
    return found


def mover_sum_ends(
    values: ArrayLike, lows: ArrayLike, highs: ArrayLike, correlations: ArrayLike
) -> tuple[Floats, Floats]:
    """Both ends of MOVER for a sum of k estimates, elementwise.

    low = sum v - sqrt(sum_ij r_ij (v_i - l_i)(v_j - l_j)) with r_ii = 1, high alike.

    Parameters
    ----------
    values, lows, highs : array, shape (k, n)
        Estimates and both ends of each one's interval.
    correlations : array, shape (k, k, n)
        Correlation of each two estimates; the diagonal is not read.

    Returns
    -------
    (low, high), arrays of shape (n,).

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702.
    """
    v, low, high = (np.asarray(part, float) for part in (values, lows, highs))
    r = np.asarray(correlations, float)

    def reach(x: Floats) -> Floats:
        square = (x**2).sum(axis=0)
        for i in range(len(x)):
            for j in range(i):
                square = square + 2 * r[i, j] * x[i] * x[j]
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    total = v.sum(axis=0)
    return total - reach(v - low), total + reach(high - v)
