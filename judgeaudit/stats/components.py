"""Variance components of item x window x repeat: where a judge's noise comes from.

Rules of this module:

* Model y_iwr = mu + item + window + item:window + repeat. Method: Henderson's third (1953), the
  reductions in sums of squares with each component's exact coefficient. It is unbiased for any
  pattern of missing replies, and for complete data it is the ANOVA estimate, which is REML when no
  component is negative (Searle, Casella & McCulloch 1992).
* Negative components are legal and kept; coefficients and designs read them as zero.
* All sums are sums over items, so that leaving out one item, or drawing items with replacement,
  costs a matrix product. Intervals delete items: on the log scale where the component stays
  positive without any one item, else as it is (a switch at a multiple of its error covered less).
* The window component gets no interval: items do not tell how windows vary. Below five windows
  it is flagged "not estimable" (with two, a quarter of estimates are negative).
* With one reply a cell, item:window and repeat are one component, reported as repeat.
* Providers and endpoints are fixed: estimate for each, do not pool them into a variance.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.clustered import deletion_units
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import (
    IDENTITY,
    LOG,
    MIN_ITEMS,
    Estimated,
    influence_se,
    jackknife_influence,
    without_interval,
)

Floats = NDArray[np.float64]
ESTIMABLE_WINDOWS = 5
_ROWS_AT_ONCE = 5_000
_NAMES = ("items", "windows", "items_by_window", "repeats")


@dataclass(frozen=True, slots=True)
class Components:
    """Variances in squared scale units.

    `window_estimable` is False below five windows; `confounded` says that
    `repeats` holds item:window too; `dropped` counts items without any reply.
    """

    items: Estimated
    windows: Estimated
    items_by_window: Estimated
    repeats: Estimated
    n_items: int
    n_windows: int
    balanced: bool
    confounded: bool
    window_estimable: bool
    dropped: int

    def relative(self, windows: int, repeats: int) -> float:
        """Return the G coefficient s_i^2 / (s_i^2 + s_iw^2 / W + s_e^2 / (W R)), for rankings."""
        return self._coefficient(windows, repeats, 0.0)

    def absolute(self, windows: int, repeats: int) -> float:
        """Return Phi, which adds s_w^2 / W to the error, for scores against a fixed standard."""
        return self._coefficient(windows, repeats, max(self.windows.value, 0.0) / windows)

    def _coefficient(self, windows: int, repeats: int, shift: float) -> float:
        item = max(self.items.value, 0.0)
        crossed = max(self.items_by_window.value, 0.0) / windows
        noise = max(self.repeats.value, 0.0) / (windows * repeats)
        whole = item + crossed + noise + shift
        return item / whole if whole > 0 else float("nan")


@dataclass(frozen=True, slots=True)
class Design:
    """A design of a D-study: windows, repeats in each, calls an item, and both coefficients."""

    windows: int
    repeats: int
    calls: int
    relative: float
    absolute: float


def variance_components(scores: Floats) -> Components | Undefined:
    """Return the components of `scores` (n items, W windows, R repeats), nan for missing.

    Parameters
    ----------
    scores : array, shape (n items, W windows, R repeats)
        Scores in scale units, nan for missing.

    Returns
    -------
    Components in squared scale units, or Undefined with the reason.

    References
    ----------
    Henderson (1953), Biometrics 9, 226-252; Searle, Casella & McCulloch (1992), Variance
    Components.
    """
    kept = ~np.isnan(scores).all(axis=(1, 2))
    y = scores[kept]
    if y.shape[0] < 3:
        return Undefined("fewer than 3 items")
    if y.shape[1] < 2 or (~np.isnan(y)).any(axis=(0, 2)).sum() < 2:
        return Undefined("needs >= 2 windows")
    if np.nanmin(y) == np.nanmax(y):
        return Undefined("constant")
    sums = _Sums.of(y)
    seen = int((sums.counts.sum(axis=0) > 0).sum())
    if np.linalg.matrix_rank(sums.cross.sum(axis=0), hermitian=True) < seen - 1:
        return Undefined("some windows share no items")
    confounded = bool((sums.counts <= 1).all())
    value = _solve(sums.map(lambda each: each.sum(axis=0)[None]), confounded)[0]
    deleted = _solve(sums.map(lambda each: each.sum(axis=0) - each), confounded)
    found = [_estimate(float(value[c]), deleted[:, c], c, np.asarray(kept)) for c in range(4)]
    if confounded:
        found[2] = replace(found[2], no_interval="one reply a cell: contained in repeats")
    n, w = y.shape[:2]
    complete = not np.isnan(y).any()
    dropped = int((~kept).sum())
    return Components(
        found[0],
        found[1],
        found[2],
        found[3],
        n,
        w,
        complete,
        confounded,
        w >= ESTIMABLE_WINDOWS,
        dropped,
    )


def design_study(components: Components, most_calls: int) -> list[Design]:
    """Return every design of at most `most_calls` calls an item, the most reliable first.

    Ties go to fewer calls, then to fewer windows.

    Parameters
    ----------
    components : Components
        The variances.
    most_calls : int
        Most calls an item, windows times repeats.

    Returns
    -------
    list of Design
    """
    grid = [
        Design(w, r, w * r, components.relative(w, r), components.absolute(w, r))
        for w in range(1, most_calls + 1)
        for r in range(1, most_calls // w + 1)
    ]
    return sorted(grid, key=lambda d: (-round(d.relative, 12), d.calls, d.windows))


@dataclass(frozen=True, slots=True)
class _Sums:
    """What each item, or a set of items, adds to sums of squares and their coefficients.

    With n_c replies, total t_c and mean m_c in cell c of an item, and x_c the
    window's indicator less its mean within the item: `cross` is sum n x x',
    `weighted` sum n^2 x x', `products` sum n x m, `own` sum n^2 / sum n.
    """

    items: Floats
    cells: Floats
    counts: Floats
    counts_squared: Floats
    totals: Floats
    squares: Floats
    cell_squares: Floats
    item_squares: Floats
    own: Floats
    cross: Floats
    weighted: Floats
    products: Floats

    @classmethod
    def of(cls, y: Floats, centre: float | None = None) -> "_Sums":
        y = y - (np.nanmean(y) if centre is None else centre)
        counts = (~np.isnan(y)).sum(axis=2).astype(np.float64)
        totals, n_i = np.nansum(y, axis=2), counts.sum(axis=1)
        means = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
        apart = np.eye(y.shape[1])[None] - (counts / n_i[:, None])[:, None, :]
        weigh = apart * counts[:, :, None]
        return cls(
            np.ones(y.shape[0]),
            (counts > 0).sum(axis=1).astype(np.float64),
            counts,
            counts**2,
            totals,
            np.nansum(y**2, axis=(1, 2)),
            (totals * means).sum(axis=1),
            totals.sum(axis=1) ** 2 / n_i,
            (counts**2).sum(axis=1) / n_i,
            np.matmul(weigh.transpose(0, 2, 1), apart),
            np.matmul(weigh.transpose(0, 2, 1), weigh),
            np.einsum("icv,ic->iv", weigh, means),
        )

    def plus(self, other: "_Sums") -> "_Sums":
        """Add the sums of other items."""
        return _Sums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def map(self, combine: Callable[[Floats], Floats]) -> "_Sums":
        """Apply `combine` to each array: from items to sets of items."""
        return _Sums(*(combine(getattr(self, f.name)) for f in fields(self)))


def _solve(sums: _Sums, confounded: bool) -> Floats:
    """Return (sets, 4) components by Henderson's third method, solved from the last up."""
    n, cells, total = sums.items, sums.cells, sums.counts.sum(axis=1)
    seen = sums.counts > 0.5
    spare = cells - n - seen.sum(axis=1) + 1  # degrees of freedom of item:window
    inverse = np.linalg.pinv(sums.cross, hermitian=True)
    fitted = np.einsum("bv,bvw,bw->b", sums.products, inverse, sums.products)
    crossed = sums.own + np.einsum("bvw,bwv->b", inverse, sums.weighted)
    by_window = np.where(seen, sums.counts, 1.0)
    shared = (sums.counts_squared / by_window).sum(axis=1)
    main = sums.item_squares + fitted  # reduction by both main effects
    left = sums.cell_squares - main
    with np.errstate(divide="ignore", invalid="ignore"):
        if confounded:
            error, both = left / spare, np.zeros_like(left)
        else:
            error = (sums.squares - sums.cell_squares) / (total - cells)
            both = (left - error * spare) / (total - crossed)
        after_windows = main - (sums.totals**2 / by_window).sum(axis=1)
        item = (after_windows - both * (crossed - shared) - error * (n - 1)) / (total - shared)
        after_items = fitted - both * (crossed - sums.own) - error * (seen.sum(axis=1) - 1)
        window = after_items / (total - sums.own)
    return np.column_stack([item, window, both, error])


def _estimate(value: float, deleted: Floats, which: int, kept: NDArray[np.bool_]) -> Estimated:
    n = deleted.size
    if _NAMES[which] == "windows":
        return without_interval(value, n, "items do not tell how windows vary")
    if n < MIN_ITEMS:
        return without_interval(value, n, f"fewer than {MIN_ITEMS} items")
    if not np.isfinite(deleted).all():
        return without_interval(value, n, "rests on a single item")
    raw = jackknife_influence(deleted)
    se, _ = influence_se(raw)
    influence = np.zeros(kept.size)
    influence[kept] = raw
    if se == 0:
        return without_interval(value, n, "every item adds the same", influence)
    if value <= 0 or (deleted <= 0).any():
        method = "jackknife, t"
        return Estimated(value, se, n - 1, n, method, IDENTITY, influence=influence)
    se, _ = influence_se(jackknife_influence(np.log(deleted)))
    method = "jackknife of log variance, t"
    return Estimated(value, se, n - 1, n, method, LOG, influence=influence)


def two_way_deleted(y: Floats, tasks: NDArray[np.int_] | None, per_item: float) -> Floats:
    """Return the mean squares of items and of the residual with each item or task left out.

    Parameters
    ----------
    y : array, shape (n items, k runs)
        Scores, nan for an empty cell.
    tasks : array of int, shape (n,), optional
        The task of each item; whole tasks are then left out.
    per_item : float
        Readings an item, by which a variance between items becomes a mean square.

    Returns
    -------
    array, shape (units, 2): MSR and MSE in squared scale units.
    """
    units = deletion_units(y.shape[0], tasks)
    if not np.isnan(y).any():
        return _complete_deleted(y, units)
    sums = _by_unit(y, units)
    values = _solve(sums.map(lambda each: each.sum(axis=0) - each), confounded=True)
    return np.column_stack([values[:, 3] + per_item * values[:, 0], values[:, 3]])


def _complete_deleted(y: Floats, units: NDArray[np.int64]) -> Floats:
    """Return MSR and MSE of a complete table without each unit, from sums over items."""
    y = y - y.mean()
    n, k = y.shape
    means = y.mean(axis=1)
    count = np.bincount(units).astype(np.float64)
    left = n - count
    columns = np.stack([np.bincount(units, weights=column) for column in y.T], axis=1)
    columns = columns.sum(axis=0) - columns
    squares, item_squares = (
        each.sum() - np.bincount(units, weights=each) for each in ((y**2).sum(axis=1), k * means**2)
    )
    grand = columns.sum(axis=1) ** 2 / (left * k)
    between = item_squares - grand
    rest = squares - item_squares - (columns**2).sum(axis=1) / left + grand
    return np.column_stack([between / (left - 1), rest / ((left - 1) * (k - 1))])


def _by_unit(y: Floats, units: NDArray[np.int64]) -> _Sums:
    """Return the sums of each unit, a slice of items at a time: they hold k x k numbers an item."""
    centre, found = float(np.nanmean(y)), None
    for first in range(0, y.shape[0], _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        part = _Sums.of(y[rows, :, None], centre).map(
            partial(_summed, units=units[rows], total=int(units.max()) + 1)
        )
        found = part if found is None else found.plus(part)
    assert found is not None
    return found


def _summed(each: Floats, units: NDArray[np.int64], total: int) -> Floats:
    sums = np.zeros((total, *each.shape[1:]))
    np.add.at(sums, units, each)
    return sums
