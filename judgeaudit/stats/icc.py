"""Intraclass correlations: the share of score variance that items, not the judge, account for.

Rules of this module:

* `one-way` is ICC(1,1): repeats of an item are exchangeable, the case of identical resends.
  `agreement` is ICC(A,1), once "2,1": columns are windows or raters drawn at random, and a shift
  of a whole column counts as error. `consistency` is ICC(C,1), "3,1": it does not
  (Shrout & Fleiss 1979; McGraw & Wong 1996). The k forms are reliabilities of the k-mean.
* The interval deletes items on the scale log((1 + (k-1) rho) / (1 - rho)), log F, with t(n - 1);
  with tasks it deletes whole tasks, t as `scaled.cluster_freedom` says.
  The F interval is given beside it as "normal theory": judges whose noise differs between items
  break it at any n (it covered 69-96 %).
* One-way takes unequal numbers of repeats, with k0 = (N - sum k_i^2 / N) / (n - 1) in the place of
  k. Two-way forms need all columns: incomplete items are left out and counted.
* A negative value is legal and is not clipped. All scores equal: undefined. No disagreement at
  all: 1, without an interval.

When not to report it: alone. It depends on the spread of these items; print `noise` beside it.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import (
    MIN_ITEMS,
    Estimated,
    Scale,
    cluster_freedom,
    jackknife_influence,
    log_f,
    spread,
    too_few,
    without_interval,
)

Floats = NDArray[np.float64]
Form = Literal["one-way", "agreement", "consistency"]
MOSTLY_AT_END = 0.5
AT_AN_END = (
    "half of the scores or more lie at one end of the scale: over tasks the interval of an ICC "
    "covered as little as 88% in simulations"
)


@dataclass(frozen=True, slots=True)
class Icc:
    """An ICC of a single score (`single`) and of the k-mean (`mean_of_k`).

    `k` is the number of columns (k0 if unequal); `incomplete` counts items left
    out; `normal_theory` gives the F interval of the single form at a level;
    `warning` says why the interval may cover less than it claims.
    """

    single: Estimated
    mean_of_k: Estimated
    form: Form
    k: float
    items: int
    incomplete: int
    squares: "Squares"
    warning: str = ""

    def normal_theory(self, level: float = 0.95) -> Interval | Undefined:
        """Return the F interval (Shrout & Fleiss 1979; McGraw & Wong 1996 for agreement)."""
        if self.single.value >= 1:
            return Undefined("perfect agreement")
        build = _f_agreement if self.form == "agreement" else _f_simple
        ends = build(self.squares, self.form, self.items, self.k, (1 + level) / 2)
        if ends is None:
            return Undefined("neither items nor residuals vary")
        low, high = ends
        return Interval(low, high, level, "F, normal theory")


@dataclass(frozen=True, slots=True)
class Squares:
    """Mean squares: between items, within items, between columns, residual (nan if one-way)."""

    items: Floats
    within: Floats
    columns: Floats
    residual: Floats


def icc(
    scores: Floats, form: Form = "one-way", tasks: NDArray[np.int_] | None = None
) -> Icc | Undefined:
    """Return the intraclass correlation of scores.

    Parameters
    ----------
    scores : array, shape (n items, k columns)
        Scores in scale units, nan for missing.
    form : "one-way", "agreement" or "consistency"
        ICC(1), ICC(A) or ICC(C). The interval of "agreement" does not know how few columns there
        are: where they are runs that may shift, use `icc_runs.agreement_icc`.
    tasks : array of int, shape (n,), optional
        The task of each item: the interval then rests on tasks, six or more.

    Returns
    -------
    Icc, or Undefined with the reason.

    References
    ----------
    Shrout & Fleiss (1979), Psychological Bulletin 86, 420-428; McGraw & Wong (1996),
    Psychological Methods 1, 30-46.
    """
    counts = (~np.isnan(scores)).sum(axis=1)
    kept = counts >= 1 if form == "one-way" else counts == scores.shape[1]
    data, incomplete = scores[kept], int((~kept).sum())
    if scores.shape[1] < 2 or (counts[kept] < 2).all():
        return Undefined("needs >= 2 repeats")
    if data.shape[0] < 3:
        return Undefined("fewer than 3 items")
    if np.nanmin(data) == np.nanmax(data):
        return Undefined("constant")
    centred = data - np.nanmean(data)
    squares, k = _one_way(centred) if form == "one-way" else _two_way(centred)
    whole, deleted = _take(squares, slice(0, 1)), _take(squares, slice(1, None))
    n = data.shape[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = float(_ratio(whole, form, n, k[:1])[0])
    if not math.isfinite(rho):
        return Undefined("neither items nor their readings differ")
    influences = _influences(squares, deleted, rho, form, n, k)
    place = np.flatnonzero(kept), scores.shape[0]
    whole_tasks = None if tasks is None else _without_tasks(centred, form, tasks[kept])
    single = _estimate(rho, influences, n, log_f(float(k[0])), place, whole_tasks)
    averaged = _estimate(rho, influences, n, log_f(float(k[0])), place, whole_tasks, float(k[0]))
    warning = "" if tasks is None else at_an_end(data)
    return Icc(single, averaged, form, float(k[0]), n, incomplete, whole, warning)


def at_an_end(scores: Floats) -> str:
    """Return the warning over tasks where half of the scores or more lie at one end, else "".

    Parameters
    ----------
    scores : array, any shape
        Scores in scale units, nan where there is none.

    Returns
    -------
    str
    """
    seen = scores[~np.isnan(scores)]
    share = max(float((seen == end).mean()) for end in (seen.min(), seen.max()))
    return AT_AN_END if share >= MOSTLY_AT_END else ""


def _take(squares: Squares, rows: slice) -> Squares:
    parts = (squares.items, squares.within, squares.columns, squares.residual)
    return Squares(*(part[rows] for part in parts))


def _without_tasks(y: Floats, form: Form, tasks: NDArray[np.int_]) -> Floats:
    """Return the ICC without each task; nan where there is none."""
    _, units = np.unique(tasks, return_inverse=True)
    squares, k = _one_way(y, units) if form == "one-way" else _two_way(y, units)
    left = y.shape[0] - np.bincount(units)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ratio(_take(squares, slice(1, None)), form, left, k[1:])


def _ratio(squares: Squares, form: Form, n: int | NDArray[np.int_], k: Floats) -> Floats:
    error = squares.within if form == "one-way" else squares.residual
    shift = k * (squares.columns - squares.residual) / n if form == "agreement" else 0.0
    return np.asarray((squares.items - error) / (squares.items + (k - 1) * error + shift))


def _influences(
    squares: Squares, deleted: Squares, rho: float, form: Form, n: int, k: Floats
) -> tuple[Floats, Floats] | str:
    """Raw and log F influences, or why there are none."""
    error = squares.within if form == "one-way" else squares.residual
    if rho >= 1 - 1e-12:
        return "perfect agreement"
    if n < MIN_ITEMS:
        return f"fewer than {MIN_ITEMS} items"
    if (squares.items <= 1e-12 * error[0]).any():
        return "the item means do not differ"
    if (error[1:] <= 1e-12 * error[0]).any():
        return "no disagreement once a single item is left out"
    values = _ratio(deleted, form, n - 1, k[1:])
    if not np.isfinite(values).all():
        return "constant once a single item is left out"
    return jackknife_influence(values), jackknife_influence(log_f(float(k[0])).to(values))


def _estimate(
    rho: float,
    influences: tuple[Floats, Floats] | str,
    n: int,
    scale: Scale,
    place: tuple[NDArray[np.int_], int],
    without: Floats | None,
    steps: float = 1.0,
) -> Estimated:
    """Estimate the single form, or with `steps` = k the k form, which is monotone in it."""
    bottom = 1 + (steps - 1) * rho
    value = steps * rho / bottom if bottom else -math.inf
    if isinstance(influences, str):
        return without_interval(value, n, influences)
    raw, scaled = influences
    if without is None:
        se, units, freedom = spread(scaled)
    else:
        units = without.size
        if why := too_few(units, without):
            return without_interval(value, units, why)
        if not ((without > -1 / max(steps, 2)) & (without < 1)).all():
            return without_interval(value, units, "no value, or no disagreement, without one task")
        change = scale.to(without)
        change = change - change.mean()
        se = math.sqrt((units - 1) / units * float(change @ change))
        freedom = cluster_freedom(change)
    own = scale if steps == 1 else _stepped(scale, steps)
    method = "jackknife of log F, t" + ("" if without is None else ", clustered")
    influence = np.zeros(place[1])
    influence[place[0]] = raw * steps / bottom**2
    clustered = without is not None
    return Estimated(
        value, se, freedom, units, method, own, influence=influence, clustered=clustered
    )


def _stepped(scale: Scale, steps: float) -> Scale:
    """Undo Spearman-Brown, then log F: the scale of a k-mean's reliability."""

    def to(value: Floats) -> Floats:
        return scale.to(np.asarray(value / (steps - (steps - 1) * value)))

    def back(scaled: Floats) -> Floats:
        rho = scale.back(scaled)
        return np.asarray(steps * rho / (1 + (steps - 1) * rho))

    return Scale(scale.name, to, back)


def _one_way(y: Floats, units: NDArray[np.int_] | None = None) -> tuple[Squares, Floats]:
    """Mean squares and k0 on all items (entry 0) and without each item, or unit (entries 1..)."""
    counts = (~np.isnan(y)).sum(axis=1).astype(np.float64)
    means = np.nanmean(y, axis=1)
    within = np.nansum((y - means[:, None]) ** 2, axis=1)

    def less(each: Floats) -> Floats:
        total = each.sum()
        own = each if units is None else np.bincount(units, weights=each)
        return np.concatenate([[total], total - own])

    n = less(np.ones(y.shape[0]))
    total, squared = less(counts), less(counts**2)
    between = less(counts * means**2) - less(counts * means) ** 2 / total
    missing = np.full(n.size, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = Squares(between / (n - 1), less(within) / (total - n), missing, missing)
    return squares, (total - squared / total) / (n - 1)


def _two_way(y: Floats, units: NDArray[np.int_] | None = None) -> tuple[Squares, Floats]:
    """Mean squares on all items (entry 0) and without each item, or unit (entries 1..)."""
    n, k = y.shape

    def less(each: Floats) -> Floats:
        own = each
        if units is not None:
            own = np.zeros((int(units.max()) + 1, *each.shape[1:]))
            np.add.at(own, units, each)
        return np.concatenate([each.sum(axis=0)[None], each.sum(axis=0) - own])

    items = less(np.ones(n))

    means = y.mean(axis=1)
    grand = less(means) / items
    between = k * (less(means**2) - items * grand**2)
    columns = items * ((less(y) / items[:, None] - grand[:, None]) ** 2).sum(axis=1)
    within = less(((y - means[:, None]) ** 2).sum(axis=1))
    residual = np.maximum(within - columns, 0.0)
    squares = Squares(
        between / (items - 1),
        within / (items * (k - 1)),
        columns / (k - 1),
        residual / ((items - 1) * (k - 1)),
    )
    return squares, np.full(items.size, float(k))


def _f_simple(squares: Squares, form: Form, n: int, k: float, p: float) -> tuple[float, float]:
    within = form == "one-way"
    ratio = float((squares.items / (squares.within if within else squares.residual))[0])
    df1, df2 = n - 1, n * (k - 1) if within else (n - 1) * (k - 1)
    low = ratio / float(special.fdtri(df1, df2, p))
    high = ratio * float(special.fdtri(df2, df1, p))
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _f_agreement(
    squares: Squares, form: Form, n: int, k: float, p: float
) -> tuple[float, float] | None:
    """McGraw & Wong (1996), with Satterthwaite degrees of freedom for the error."""
    msr, msc, mse = (float(v[0]) for v in (squares.items, squares.columns, squares.residual))
    rho = float(_ratio(squares, form, n, np.array([k]))[0])
    a = k * rho / (n * (1 - rho))
    b = 1 + k * rho * (n - 1) / (n * (1 - rho))
    parts = (a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1))
    if not parts:  # whole runs differ, and nothing else does
        return None
    v = (a * msc + b * mse) ** 2 / parts
    lower, upper = special.fdtri([n - 1, v], [v, n - 1], p)
    error = k * msc + (k * n - k - n) * mse
    low = n * (msr - lower * mse) / (lower * error + n * msr)
    high = n * (upper * msr - mse) / (error + n * upper * msr)
    return low, high
