"""Item-cluster bootstrap of Spearman that never ranks again: weights move, order does not.

Rules of this module:

* A resample draws items with replacement and carries all their repeats: it only changes each
  item's weight w. The centred mid-rank of value group g is C_(g-1) + W_g/2 - n/2, with W_g its
  weight and C the running sum, and D = (n^3 - sum W_g^3)/12. The value is the one that ranking
  the resample again would give, ties included.
* Rows that are alike share a cell. With few cells one multinomial draws their counts and the
  cost does not grow with n; otherwise each item has its own weight. The kernel is the same:
  columns sorted once, then running sums of weights.
* With clusters, whole clusters are drawn; the number of items in a resample then varies.
* A resample in which a column is constant has no Spearman. Such resamples are counted; above 1 %
  there is no interval.
* Shown as a cross-check: `spearman_between` and `spearman_within` need no resampling.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from judgeaudit.stats.dominance import dense_codes
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import ATANH, MIN_ITEMS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BATCH_VALUES = 100_000  # weights held at once: about 1 MB, which stays in cache
_MAX_UNDEFINED = 0.01


@dataclass(frozen=True, slots=True)
class Resampled:
    """Bootstrap values of one statistic: `value` on the data, `draws` without undefined ones."""

    value: float
    draws: Floats
    undefined: int
    units: int

    def percentile(self, level: float = 0.95) -> Interval | Undefined:
        """Return the percentile interval, for display (it covers 90-97 %)."""
        reason = self._no_interval()
        if reason:
            return Undefined(reason)
        low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level, "item bootstrap, percentile")

    def standard_error_on_z(self, level: float = 0.95) -> Interval | Undefined:
        """Return atanh(r) -/+ t(n - 2) times the bootstrap SD of atanh(r), back-transformed."""
        reason = self._no_interval()
        if reason:
            return Undefined(reason)
        spread = float(ATANH.to(self.draws).std(ddof=1))
        centre = float(ATANH.to(np.asarray(self.value)))
        half = float(stdtrit(self.units - 2, (1 + level) / 2)) * spread
        method = "item bootstrap, SE on atanh"
        return Interval(float(np.tanh(centre - half)), float(np.tanh(centre + half)), level, method)

    def _no_interval(self) -> str:
        total = self.draws.size + self.undefined
        if self.undefined > _MAX_UNDEFINED * total:
            return f"{self.undefined} of {total} resamples have a constant column"
        if self.value >= 1 - 1e-12:
            return "perfect agreement"
        return "" if self.units >= MIN_ITEMS else f"fewer than {MIN_ITEMS} units to resample"


def bootstrap_spearman(
    first: Floats,
    second: Floats | None = None,
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
    clusters: NDArray[np.int_] | None = None,
) -> Resampled | Undefined:
    """Return bootstrap values of the mean mid-rank Spearman over pairs of repeats.

    `first` is (n, mA); with `second` (n, mB) the pairs run across, without it
    over j < k within `first`. Items with a missing score are left out. Draws
    items, or whole clusters if `clusters` (n,) is given.
    """
    columns = first if second is None else np.hstack([first, second])
    complete = ~np.isnan(columns).any(axis=1)
    columns = columns[complete]
    if columns.shape[0] < 3:
        return Undefined("fewer than 3 complete items")
    if columns.shape[1] < 2:
        return Undefined("needs >= 2 repeats")
    if (np.ptp(columns, axis=0) == 0).any():
        return Undefined("constant")
    left = 0 if second is None else first.shape[1]
    if clusters is None:
        return _resample_items(columns, left, rng, resamples)
    codes = dense_codes(clusters[complete].astype(np.float64))
    kernel, units = _Kernel(columns, left), int(codes.max()) + 1

    def draw(size: int) -> Floats:
        return kernel(_weights(rng, size, units)[codes])

    return _collect(draw, kernel(np.ones((codes.size, 1))), resamples, codes.size, units)


def _resample_items(
    columns: Floats, left: int, rng: np.random.Generator, resamples: int
) -> Resampled:
    n = columns.shape[0]
    cells, counts = np.unique(columns, axis=0, return_counts=True)
    if counts.size > n / 4:
        kernel = _Kernel(columns, left)
        value = kernel(np.ones((n, 1)))
        return _collect(lambda size: kernel(_weights(rng, size, n)), value, resamples, n, n)
    kernel = _Kernel(cells, left)

    def draw(size: int) -> Floats:
        return kernel(rng.multinomial(n, counts / n, size).T.astype(np.float64))

    value = kernel(counts[:, None].astype(np.float64))
    return _collect(draw, value, resamples, counts.size, n)


def _collect(
    draw: Callable[[int], Floats], value: Floats, resamples: int, rows: int, units: int
) -> Resampled:
    draws = np.concatenate([draw(size) for size in _batches(resamples, rows)])
    defined = np.isfinite(draws)
    return Resampled(float(value[0]), draws[defined], int((~defined).sum()), units)


def _batches(resamples: int, n: int) -> list[int]:
    size = max(8, min(resamples, _BATCH_VALUES // n))
    full, rest = divmod(resamples, size)
    return [size] * full + ([rest] if rest else [])


def _weights(rng: np.random.Generator, size: int, units: int) -> Floats:
    """How often each unit was drawn, (units, size)."""
    drawn = rng.integers(0, units, (units, size), dtype=np.int32)
    flat = np.bincount((drawn * size + np.arange(size)).ravel(), minlength=units * size)
    return flat.reshape(units, size).astype(np.float64)


class _Column:
    """One sorted column: from weights (n, B) to standardised mid-ranks in item order."""

    def __init__(self, column: Floats) -> None:
        self.codes = dense_codes(column)
        self.order = np.argsort(self.codes, kind="stable")
        self.starts = np.searchsorted(self.codes[self.order], np.arange(self.codes.max() + 1))
        self.untied = self.starts.size == column.size

    def standard(self, weights: Floats, totals: Floats) -> Floats:
        """Return centred mid-ranks over sqrt(D), shape (n, B)."""
        groups = weights[self.order]
        if not self.untied:
            groups = np.add.reduceat(groups, self.starts, axis=0)
        ranks = np.cumsum(groups, axis=0)
        ranks -= groups / 2
        ranks -= totals / 2
        cubes = np.einsum("gb,gb,gb->b", groups, groups, groups)
        spread = np.sqrt((totals**3 - cubes) / 12)
        with np.errstate(divide="ignore", invalid="ignore"):
            ranks /= np.where(spread > 0, spread, np.nan)
        return np.asarray(ranks[self.codes])


class _Kernel:
    """Mean Spearman over pairs from item weights (n, B); `left` columns form the first side."""

    def __init__(self, columns: Floats, left: int) -> None:
        self.columns = [_Column(columns[:, j]) for j in range(columns.shape[1])]
        self.left = left

    def __call__(self, weights: Floats) -> Floats:
        totals = weights.sum(axis=0)
        if not self.left:
            summed, m = self._sum(self.columns, weights, totals), len(self.columns)
            # each column has squared length 1 in the weights, so m is the diagonal
            return np.asarray((_weighted(weights, summed, summed) - m) / (m * (m - 1)))
        first = self._sum(self.columns[: self.left], weights, totals)
        second = self._sum(self.columns[self.left :], weights, totals)
        pairs = self.left * (len(self.columns) - self.left)
        return np.asarray(_weighted(weights, first, second) / pairs)

    @staticmethod
    def _sum(columns: list[_Column], weights: Floats, totals: Floats) -> Floats:
        total = columns[0].standard(weights, totals)
        for column in columns[1:]:
            total += column.standard(weights, totals)
        return total


def _weighted(weights: Floats, first: Floats, second: Floats) -> Floats:
    return np.asarray(np.einsum("nb,nb,nb->b", weights, first, second))
