"""Uncertainty of a day decomposition: resampled windows, resampled tasks, relabelled days.

* **Window bootstrap**, for *these probes*: windows are drawn with replacement within their day; a
  pair of a window with itself is dropped.
* **Task-and-window bootstrap**, for *probes like these*: clusters of probes are drawn as well. A
  95 % window interval covered the value for probes like these in 58 % of simulations with 25 task
  clusters, which is why both are shown.
* **Relabelling**: every assignment of the windows to days that keeps the days' sizes (252 for two
  days of five), or seeded random ones beyond a limit. A high share of assignments with |d| at least
  as large is no evidence of equivalence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLES = 10_000
MOST_EXACT = 20_000
CHUNK = 1_000
SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class Draws:
    """Bootstrap values of the medians, one a resample, nan where a resample has none."""

    within: Floats
    between: Floats

    @property
    def difference(self) -> Floats:
        """The difference within - between."""
        return np.asarray(self.within - self.between)


def medians(matrices: Floats, days: Ints) -> tuple[Floats, Floats]:
    """Return the medians of A within and between days for each of a stack of matrices (B, W, W)."""
    left, right = np.triu_indices(days.size, 1)
    same = days[left] == days[right]
    values = matrices[..., left, right]
    return _median(values[..., same]), _median(values[..., ~same])


def _median(values: Floats) -> Floats:
    """Median over the last axis with nan left out; numpy's own is far slower with many rows."""
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    ordered = np.sort(values, axis=-1)  # nan sorts last
    counts = (~np.isnan(ordered)).sum(axis=-1)
    low = np.take_along_axis(ordered, np.maximum(counts - 1, 0)[..., None] // 2, axis=-1)
    high = np.take_along_axis(
        ordered, np.minimum(counts // 2, ordered.shape[-1] - 1)[..., None], -1
    )
    found = (low[..., 0] + high[..., 0]) / 2
    return np.where(counts > 0, found, np.nan)


def bootstrap(
    sums: Floats,
    weights: Floats,
    days: Ints,
    *,
    rng: np.random.Generator,
    tasks: bool,
    resamples: int = RESAMPLES,
) -> Draws:
    """Return bootstrap medians; `tasks` also draws the clusters of probes.

    `sums` and `weights` are (clusters, W, W): summed shares and numbers of rows.
    """
    within, between = [], []
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        matrices = _drawn(sums, weights, days, rng, size, tasks)
        one, two = medians(matrices, np.sort(days))
        within.append(one)
        between.append(two)
    return Draws(np.concatenate(within), np.concatenate(between))


def _drawn(
    sums: Floats, weights: Floats, days: Ints, rng: np.random.Generator, size: int, tasks: bool
) -> Floats:
    clusters = sums.shape[0]
    if tasks:
        counts = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size).astype(float)
        top = np.einsum("bc,cij->bij", counts, sums)
        bottom = np.einsum("bc,cij->bij", counts, weights)
    else:
        top, bottom = sums.sum(axis=0)[None], weights.sum(axis=0)[None]
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = np.where(bottom > 0, top / bottom, np.nan)
    drawn = _windows(days, rng, size)
    rows = np.arange(size)[:, None, None] if tasks else np.zeros((1, 1, 1), dtype=np.int64)
    chosen = agreement[rows, drawn[:, :, None], drawn[:, None, :]]
    # A window drawn twice agrees with itself by construction: no evidence, so dropped.
    chosen[drawn[:, :, None] == drawn[:, None, :]] = np.nan
    return np.asarray(chosen)


def _windows(days: Ints, rng: np.random.Generator, size: int) -> Ints:
    parts = []
    for day in np.unique(days):
        members = np.flatnonzero(days == day)
        parts.append(members[rng.integers(0, members.size, (size, members.size))])
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True, slots=True)
class Relabelling:
    """Differences under assignments of windows to days; `exact` if they are all of them."""

    differences: Floats
    exact: bool
    observed: float

    @property
    def as_large(self) -> float:
        """Share of assignments with |d| at least the observed one, the observed one included."""
        return float((np.abs(self.differences) >= abs(self.observed) - SLACK).mean())

    @property
    def largest(self) -> float:
        """The greatest |d| of all assignments."""
        return float(np.abs(self.differences).max())


def relabel(
    agreement: Floats, days: Ints, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> Relabelling:
    """Return d under every balanced assignment, or beyond 20,000 under seeded random ones."""
    sizes = [int((days == day).sum()) for day in np.unique(days)]
    count = factorial(days.size) // prod(factorial(size) for size in sizes)
    if count <= MOST_EXACT:
        labels = np.array(list(_assignments(days.size, sizes)))
    else:
        fixed = np.repeat(np.arange(len(sizes)), sizes)
        labels = np.array([rng.permutation(fixed) for _ in range(resamples)])
    left, right = np.triu_indices(days.size, 1)
    values = agreement[left, right]
    same = labels[:, left] == labels[:, right]
    inside = _median(np.where(same, values, np.nan))
    across = _median(np.where(same, np.nan, values))
    found = inside - across
    one, two = medians(agreement[None], days)
    return Relabelling(found[~np.isnan(found)], count <= MOST_EXACT, float(one[0] - two[0]))


def _assignments(windows: int, sizes: list[int]) -> Iterator[list[int]]:
    """Yield every way to give `sizes[k]` windows to day k, as one label a window."""

    def fill(day: int, free: tuple[int, ...], labels: dict[int, int]) -> Iterator[list[int]]:
        if day == len(sizes):
            yield [labels[w] for w in range(windows)]
            return
        for chosen in combinations(free, sizes[day]):
            rest = tuple(w for w in free if w not in chosen)
            yield from fill(day + 1, rest, {**labels, **dict.fromkeys(chosen, day)})

    return fill(0, tuple(range(windows)), {})
