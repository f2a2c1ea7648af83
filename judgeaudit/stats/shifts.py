"""Shifts: whether runs (or windows, orders, judges) differ in level by more than item noise.

The levels of one facet are compared on the same items. Columns of one level (the runs of a window)
are averaged first, so the table tested is items x levels.

Rules of this module:

* Scores: F = MSC/MSE with (k - 1, df of the residual) degrees of freedom. Scores of few levels, and
  items in tasks, take a permutation test: the levels' labels are drawn anew within each item, or
  for whole tasks at once, since items of a task move together.
* Friedman's rank test is given beside it for complete tables: it does not assume equal noise.
* Categories: the same permutation test, on the shares of every category in every level. A category
  has no mean; pairwise shares need no latent scale, and no assumption that there is one.
* Which levels are shifted: the level furthest from the median leaves, until those left do not
  differ (F at alpha). Each level's mean less the mean of those others, over its standard error,
  gives a p value, Holm over the levels; named are those that left and hold. Two shifted runs of six
  so do not make the other four look shifted. Of two levels that differ neither is named.
* More than 1,000 items are dealt into 1,000 groups (fixed seed), whose labels are drawn anew
  together: fewer permutations of the same kind, so the test stays exact.
* Under 20 tasks the number of permutations bounds how small a p value can be; it is never 0.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.agreement import category_counts
from judgeaudit.stats.facets import RunModel, run_means, run_model, usable
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.multiplicity import holm

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
PERMUTATIONS = 999
FEW_LEVELS = 12
LARGEST_PERMUTED = 20_000
MOST_UNITS = 1_000
LARGEST_RANKED = 2_000_000


@dataclass(frozen=True, slots=True)
class Deviation:
    """One level of a facet against the steady ones.

    `level` is its index, `mean` its mean over the same items, `value` that less the mean of the
    other steady levels, `se` its standard error, `p` two-sided and adjusted by Holm, `steady`
    whether it is one of those that do not differ.
    """

    level: int
    mean: float
    value: float
    se: float
    p: float
    steady: bool


@dataclass(frozen=True, slots=True)
class Shift:
    """The test of one facet.

    Attributes
    ----------
    means : array, shape (k,)
        Mean of each level over the same items, in scale units.
    f, df1, df2, f_p : float
        The F test.
    p : float
        The p value to report; `test` names it ("F" or "permutation").
    friedman_p : float
        Friedman's, nan with empty cells.
    deviations : tuple of Deviation
        Every level; empty with two.
    named : tuple of int
        Levels whose adjusted p is at most alpha, if the whole test rejects too.
    """

    means: Floats
    f: float
    df1: float
    df2: float
    f_p: float
    p: float
    test: str
    friedman_p: float
    deviations: tuple[Deviation, ...]
    named: tuple[int, ...]


def by_level(scores: Floats, levels: Codes) -> Floats:
    """Return the mean of each item over the columns of each level, (n, number of levels).

    Parameters
    ----------
    scores : array, shape (n items, columns)
        Scores, nan where there is none.
    levels : array of int, shape (columns,)
        The level of each column.

    Returns
    -------
    array, shape (n, levels), levels in increasing order.
    """
    kinds = np.unique(levels)
    means = np.full((scores.shape[0], kinds.size), np.nan)
    for place, kind in enumerate(kinds):
        part = scores[:, levels == kind]
        count = (~np.isnan(part)).sum(axis=1)
        np.divide(np.nansum(part, axis=1), count, out=means[:, place], where=count > 0)
    return means


def level_shift(
    scores: Floats,
    tasks: Codes | None = None,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    permutations: int = PERMUTATIONS,
) -> Shift | Undefined:
    """Test whether the columns of `scores` differ in level, and name those that do.

    Parameters
    ----------
    scores : array, shape (n items, k levels)
        Scores in scale units, nan where there is none; `by_level` makes it from single runs.
    tasks : array of int, shape (n,), optional
        The task of each item, if items of one task are not independent.
    rng : numpy Generator
        Draws the permutations.
    alpha : float
        Familywise error for naming levels.
    permutations : int
        Number of permutations.

    Returns
    -------
    Shift, or Undefined with the reason.

    References
    ----------
    Friedman (1937), JASA 32, 675-701; Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    model = run_model(scores)
    if isinstance(model, Undefined):
        return model
    kept = ~np.isnan(scores).all(axis=1)
    y, _ = usable(scores)
    codes = None if tasks is None else np.unique(tasks[kept], return_inverse=True)[1]
    f_p, f = _f_test(model)
    p, test = f_p, "F"
    few = np.unique(y[~np.isnan(y)]).size <= FEW_LEVELS
    if codes is not None or (few and y.size <= LARGEST_PERMUTED):
        p, test = _permuted(y, codes, rng, permutations), "permutation"
    deviations = _deviations(y, model, codes, alpha)
    named = (
        tuple(d.level for d in deviations if d.p <= alpha and not d.steady) if p <= alpha else ()
    )
    return Shift(
        model.means,
        f,
        model.runs - 1,
        model.residual_df,
        f_p,
        p,
        test,
        friedman(y) if y.size <= LARGEST_RANKED else math.nan,
        deviations,
        named,
    )


def _f_test(model: RunModel) -> tuple[float, float]:
    """P value and F of the runs; exact where no cell is empty."""
    if model.mse <= 0:
        return (0.0, math.inf) if np.ptp(model.means) > 0 else (1.0, 0.0)
    f = model.msc / model.mse
    return float(special.fdtrc(model.runs - 1, model.residual_df, f)), f


def _permuted(y: Floats, codes: Codes | None, rng: np.random.Generator, permutations: int) -> float:
    """Share of relabellings, within items or whole tasks, at least as far apart as seen."""
    sums = _centred_sums(y, codes)
    seen = float((sums.sum(axis=0) ** 2).sum())
    least = seen * (1 - 1e-9)
    hits = sum(
        float((rng.permuted(sums, axis=1).sum(axis=0) ** 2).sum()) >= least
        for _ in range(permutations)
    )
    return (hits + 1) / (permutations + 1)


def _dealt(codes: Codes) -> Codes:
    """Return units 0, 1, ... as they are, or dealt at random into `MOST_UNITS` groups."""
    count = int(codes.max()) + 1
    if count <= MOST_UNITS:
        return codes
    return np.asarray(np.random.default_rng(0).permutation(count) % MOST_UNITS)[codes]


def _centred_sums(y: Floats, codes: Codes | None) -> Floats:
    """Scores less their item's mean, empty cells 0, summed over tasks if there are any."""
    there = ~np.isnan(y)
    centred = np.where(there, y - np.nanmean(y, axis=1, keepdims=True), 0.0)
    if codes is None:
        return centred
    sums = np.zeros((int(codes.max()) + 1, y.shape[1]))
    np.add.at(sums, codes, centred)
    return sums


def friedman(y: Floats) -> float:
    """Return the p value of Friedman's test of complete items x levels, nan with empty cells.

    Ties share their mean rank; the statistic is corrected for them (Conover 1999, section 5.8).

    Parameters
    ----------
    y : array, shape (n items, k levels)
        Scores.

    Returns
    -------
    float in [0, 1].

    References
    ----------
    Friedman (1937), JASA 32, 675-701; Conover (1999), Practical Nonparametric Statistics.
    """
    n, k = y.shape
    if np.isnan(y).any() or k < 2:
        return math.nan
    ranks = np.empty_like(y)
    for j in range(k):
        own = y[:, j : j + 1]
        ranks[:, j] = (y < own).sum(axis=1) + ((y == own).sum(axis=1) + 1) / 2
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    if spread <= 0:
        return 1.0
    apart = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    return float(special.chdtrc(k - 1, (k - 1) * apart / spread))


def _deviations(
    y: Floats, model: RunModel, codes: Codes | None, alpha: float
) -> tuple[Deviation, ...]:
    if model.runs < 3:
        return ()
    errors, df = _errors(y, model, codes)
    steady = _steady(model.means, errors, df, alpha)
    values, se = np.empty(model.runs), np.empty(model.runs)
    for j in range(model.runs):
        others = [r for r in steady if r != j]
        values[j] = model.means[j] - model.means[others].mean()
        se[j] = math.sqrt(errors[j] ** 2 + float((errors[others] ** 2).sum()) / len(others) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(values == 0, 0.0, np.abs(values) / se)
    p = holm(2 * special.stdtr(df, -t))
    return tuple(
        Deviation(j, float(m), float(v), float(e), float(each), j in steady)
        for j, (m, v, e, each) in enumerate(zip(model.means, values, se, p, strict=True))
    )


def _steady(means: Floats, errors: Floats, df: float, alpha: float) -> list[int]:
    """Return the levels that share one level: the furthest from the median leaves in turn.

    It ends once those left do not differ at `alpha`. Two that still differ both stay: nothing
    tells which of them moved.
    """
    left = list(range(means.size))
    while len(left) > 2:
        m, e = means[left], errors[left]
        with np.errstate(divide="ignore", invalid="ignore"):
            f = float((((m - m.mean()) / e) ** 2).sum()) / (len(left) - 1)
        if math.isnan(f) or special.fdtrc(len(left) - 1, df, f) > alpha:
            break
        left.pop(int(np.abs(m - np.median(m)).argmax()))
    return left


def _errors(y: Floats, model: RunModel, codes: Codes | None) -> tuple[Floats, float]:
    """Return the standard error of each level's mean by item noise, and its degrees of freedom."""
    if codes is None:
        return np.sqrt(model.mse / model.counts), model.residual_df
    there = ~np.isnan(y)
    effects = np.where(there, run_means(y), 0.0)
    left = np.where(there, y - effects, 0.0)
    left = np.where(there, left - left.sum(axis=1, keepdims=True) / there.sum(1, keepdims=True), 0)
    sums = np.zeros((int(codes.max()) + 1, y.shape[1]))
    np.add.at(sums, codes, left)
    groups = sums.shape[0]
    inflate = groups / (groups - 1) * model.runs / (model.runs - 1)
    return np.sqrt(inflate * (sums**2).sum(axis=0)) / model.counts, groups - 1


@dataclass(frozen=True, slots=True)
class CategoryShift:
    """The test of a facet for categories: `shares` (k levels, q), and the permutation p value.

    `largest` is the level and category whose share lies furthest from that category's median.
    """

    shares: Floats
    p: float
    largest: tuple[int, int]
    items: int


def category_shift(
    codes: Codes,
    categories: int,
    tasks: Codes | None = None,
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> CategoryShift | Undefined:
    """Test whether the columns of category codes differ in their shares.

    Parameters
    ----------
    codes : array of int, shape (n items, k levels)
        Categories 0..q-1, -1 where there is none. Items with an empty cell are left out.
    categories : int
        Number q of declared categories.
    tasks : array of int, shape (n,), optional
        The task of each item.
    rng : numpy Generator
        Draws the permutations.
    permutations : int
        Number of permutations.

    Returns
    -------
    CategoryShift, or Undefined with fewer than two columns or three complete items.
    """
    kept = (codes >= 0).all(axis=1)
    x = codes[kept]
    if x.shape[1] < 2:
        return Undefined("one level: nothing to compare")
    if x.shape[0] < 3:
        return Undefined("fewer than 3 complete items")
    units = np.arange(x.shape[0])
    if tasks is not None:
        units = np.unique(tasks[kept], return_inverse=True)[1]
    units = _dealt(units)
    table = np.zeros((int(units.max()) + 1, x.shape[1], categories))
    for j in range(x.shape[1]):
        flat = np.bincount(units * categories + x[:, j], minlength=table[:, j].size)
        table[:, j] = flat.reshape(-1, categories)
    p = _permuted_table(table, rng, permutations)
    shares = category_counts(x.T, categories) / x.shape[0]
    apart = np.abs(shares - np.median(shares, axis=0))
    place = np.unravel_index(int(apart.argmax()), apart.shape)
    return CategoryShift(shares, p, (int(place[0]), int(place[1])), x.shape[0])


def _permuted_table(table: Floats, rng: np.random.Generator, permutations: int) -> float:
    centred = table - table.mean(axis=1, keepdims=True)
    least = float((centred.sum(axis=0) ** 2).sum()) * (1 - 1e-9)
    rows = np.arange(table.shape[0])[:, None]
    moving = (centred != 0).any(axis=(1, 2))
    centred, rows = centred[moving], rows[: int(moving.sum())]
    columns = np.broadcast_to(np.arange(table.shape[1]), (rows.shape[0], table.shape[1]))
    hits = 0
    for _ in range(permutations):
        drawn = centred[rows, rng.permuted(columns, axis=1)]
        hits += float((drawn.sum(axis=0) ** 2).sum()) >= least
    return (hits + 1) / (permutations + 1)


@dataclass(frozen=True, slots=True)
class Trail:
    """Drift over windows in time: every step between neighbours and the largest change.

    Attributes
    ----------
    steps : tuple of Interval
        Later less earlier mean of each neighbouring pair, simultaneous at `level` (Bonferroni).
    change_after : int
        Index of the window after which the means before and after differ most.
    change : float
        Mean after less mean before it, in scale units.
    change_p : float
        Permutation p value of the largest standardised change over all places.
    """

    steps: tuple[Interval, ...]
    change_after: int
    change: float
    change_p: float


def change_point(
    scores: Floats,
    tasks: Codes | None = None,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
) -> Trail | Undefined:
    """Return the steps between neighbouring windows and the place of the largest change.

    Parameters
    ----------
    scores : array, shape (n items, W windows)
        Means of each item in each window, in order of time; nan where there is none. Items with an
        empty window are left out.
    tasks : array of int, shape (n,), optional
        The task of each item.
    rng : numpy Generator
        Draws the permutations.
    level : float
        Joint level of the steps' intervals.
    permutations : int
        Number of permutations.

    Returns
    -------
    Trail, or Undefined with fewer than two windows or three complete items.
    """
    kept = ~np.isnan(scores).any(axis=1)
    y = scores[kept]
    if y.shape[1] < 2:
        return Undefined("one window: nothing to compare")
    if y.shape[0] < 3:
        return Undefined("fewer than 3 items that every window has")
    codes = np.arange(y.shape[0])
    if tasks is not None:
        codes = np.unique(tasks[kept], return_inverse=True)[1]
    sums = _centred_sums(y, _dealt(codes))
    place, value, statistic = _largest_change(sums.sum(axis=0) / y.shape[0])
    hits = sum(
        _largest_change(rng.permuted(sums, axis=1).sum(axis=0) / y.shape[0])[2]
        >= statistic * (1 - 1e-9)
        for _ in range(permutations)
    )
    inner = 1 - (1 - level) / (y.shape[1] - 1)
    steps = tuple(_step(y[:, b] - y[:, a], codes, inner) for a, b in pairwise(range(y.shape[1])))
    return Trail(steps, place, value, (hits + 1) / (permutations + 1))


def _largest_change(means: Floats) -> tuple[int, float, float]:
    """Place, size and standardised size of the largest change of level in a series."""
    k = means.size
    before = np.cumsum(means)[:-1] / np.arange(1, k)
    after = (means.sum() - np.cumsum(means)[:-1]) / np.arange(k - 1, 0, -1)
    size = after - before
    standard = np.abs(size) * np.sqrt(np.arange(1, k) * np.arange(k - 1, 0, -1) / k)
    place = int(standard.argmax())
    return place, float(size[place]), float(standard[place])


def _step(difference: Floats, codes: Codes, level: float) -> Interval:
    sums = np.bincount(codes, weights=difference - difference.mean())
    groups, n = sums.size, difference.size
    se = math.sqrt(groups / (groups - 1) * float(sums @ sums)) / n
    half = float(special.stdtrit(groups - 1, (1 + level) / 2)) * se
    mean = float(difference.mean())
    return Interval(mean - half, mean + half, level, "paired t")
