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
MOST_MARKS = 200


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: the share of item pairs that pass once and fail once, and the share passing."""

    mark: float
    flips: EffectiveProportion
    passing: float


@dataclass(frozen=True, slots=True)
class Curve:
    """All marks from the lowest to the highest, and the worst with its interval."""

    marks: tuple[Mark, ...]
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
    found = [at_mark(scores, mark, tasks) for mark in candidate_marks(scores)]
    marks = tuple(m for m in found if isinstance(m, Mark))
    if not marks:
        return found[0] if found and isinstance(found[0], Undefined) else Undefined("constant")
    worst = max(marks, key=lambda m: (m.flips.value, -abs(m.passing - 0.5)))
    found_ends = worst.flips.interval(1 - (1 - level) / len(marks))
    if isinstance(found_ends, Interval):
        method = f"{found_ends.method}, Bonferroni over {len(marks)} marks"
        found_ends = Interval(found_ends.low, found_ends.high, level, method)
    return Curve(marks, worst, found_ends)


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
