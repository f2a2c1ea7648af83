"""Pass or fail at a mark: how often an item passes in one run and fails in another.

The mark belongs to whoever uses the scores. Without one, every mark that the data can tell apart is
tried, and the worst is named; a mark that all readings pass, or all fail, tells nothing.

Rules of this module:

* An item passes at mark t if its score is at least t. The marks tried are the midpoints between
  neighbouring distinct scores (at most `MOST_MARKS`, spread over the readings), so that a scale and
  its mirror image have the same marks, and the same worst.
* The value is the mean over items of the share of pairs of readings that disagree, with
  Clopper-Pearson at the effective n; over tasks if there are any.
* A mark is vacuous if all readings lie on one side. A given vacuous mark is told, not computed.
* The worst mark is chosen by looking: its interval uses Bonferroni over the marks tried.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.agreement import EffectiveProportion, effective_proportion
from judgeaudit.stats.interval import Interval, Undefined

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MOST_MARKS = 100
ROWS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: the share of item pairs that pass once and fail once, and the share passing."""

    mark: float
    flips: EffectiveProportion
    passing: float


@dataclass(frozen=True, slots=True)
class Point:
    """One mark of the curve: the share of pairs that disagree, and the share passing."""

    mark: float
    flips: float
    passing: float


@dataclass(frozen=True, slots=True)
class Curve:
    """All marks from the lowest to the highest, and the worst with its interval."""

    marks: tuple[Point, ...]
    worst: Mark
    worst_interval: Interval | Undefined


def at_mark(scores: Floats, mark: float, tasks: Codes | None = None) -> Mark | Undefined:
    """Return how often items pass in one reading and fail in another at one mark.

    Parameters
    ----------
    scores : array, shape (n items, k readings)
        Scores in scale units, nan where there is none.
    mark : float
        Scores of at least this pass.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Mark, or Undefined if all readings are on one side of the mark, or no item was read twice.
    """
    there = ~np.isnan(scores)
    passes = np.where(there, scores >= mark, False)
    passing = float(passes.sum() / there.sum()) if there.any() else 0.0
    if passing in (0, 1):
        what = "every reading passes" if passing else "no reading passes"
        return Undefined(f"{what} at {mark:g}: the mark tells nothing")
    k, s = there.sum(axis=1).astype(float), passes.sum(axis=1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        flips = np.where(k >= 2, 2 * s * (k - s) / (k * (k - 1)), np.nan)
    found = effective_proportion(flips, k * (k - 1) / 2, tasks)
    return found if isinstance(found, Undefined) else Mark(mark, found, passing)


def mark_curve(
    scores: Floats, tasks: Codes | None = None, level: float = 0.95
) -> Curve | Undefined:
    """Return the flips at every mark that the data can tell apart, and the worst mark.

    Parameters
    ----------
    scores : array, shape (n items, k readings)
        Scores in scale units, nan where there is none.
    tasks : array of int, shape (n,), optional
        The task of each item.
    level : float
        Level of the worst mark's interval, over all marks tried together.

    Returns
    -------
    Curve, or Undefined for constant scores or items read once.
    """
    marks = candidate_marks(scores)
    if not marks.size:
        return Undefined("constant")
    points = _points(scores, marks)
    if not points:
        return Undefined("needs >= 2 repeats")
    hardest = max(points, key=lambda m: (round(m.flips, 12), -round(abs(m.passing - 0.5), 12)))
    worst = at_mark(scores, hardest.mark, tasks)
    if isinstance(worst, Undefined):
        return worst
    found_ends = worst.flips.interval(1 - (1 - level) / len(points))
    if isinstance(found_ends, Interval):
        method = f"{found_ends.method}, Bonferroni over {len(points)} marks"
        found_ends = Interval(found_ends.low, found_ends.high, level, method)
    return Curve(points, worst, found_ends)


def _points(scores: Floats, marks: Floats) -> tuple[Point, ...]:
    """Return the curve's points, from the place of each score among the marks."""
    there = ~np.isnan(scores)
    kept = there.sum(axis=1) >= 2
    if not kept.any():
        return ()
    size = marks.size
    flips, passing = np.zeros(size), np.zeros(size)
    for first in range(0, scores.shape[0], ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        passed = _passed(scores[rows], there[rows], marks)
        passing += passed.sum(axis=0)
        count = there[rows].sum(axis=1).astype(float)
        twice = count >= 2
        s, k = passed[twice], count[twice, None]
        flips += (2 * s * (k - s) / (k * (k - 1))).sum(axis=0)
    points = zip(marks, flips / kept.sum(), passing / there.sum(), strict=True)
    return tuple(Point(float(m), float(f), float(p)) for m, f, p in points)


def _passed(scores: Floats, there: NDArray[np.bool_], marks: Floats) -> Floats:
    """Return how many readings of each item pass each mark, (n, marks)."""
    size = marks.size
    place = np.searchsorted(marks, scores[there], side="right")
    item = np.nonzero(there)[0]
    counts = np.bincount(item * (size + 1) + place, minlength=scores.shape[0] * (size + 1))
    table = counts.reshape(-1, size + 1)[:, 1:]
    return np.asarray(np.flip(np.cumsum(np.flip(table, axis=1), axis=1), axis=1), dtype=np.float64)


def candidate_marks(scores: Floats) -> Floats:
    """Return the midpoints between neighbouring distinct scores, thinned to `MOST_MARKS`.

    Parameters
    ----------
    scores : array, any shape
        Scores in scale units, nan where there is none.

    Returns
    -------
    array, shape (marks,), increasing.
    """
    values = np.unique(scores[~np.isnan(scores)])
    middles = (values[1:] + values[:-1]) / 2
    if middles.size <= MOST_MARKS:
        return np.asarray(middles)
    places = np.unique(np.linspace(0, middles.size - 1, MOST_MARKS).round().astype(int))
    return np.asarray(middles[places])
