"""Ranking within groups: few candidates a task, where most coefficients take few values.

Rules of this module:

* A group is a small set of candidates scored twice, such as the candidates of one task.
* A pair of candidates is informative if at least one pass separates them by `least_gap` or more.
  Its concordance is 1 for the same order, 1/2 for a tie in one pass, 0 for the reverse. The mean is
  over groups, each with its own mean; groups without an informative pair are counted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.agreement import EffectiveProportion, effective_proportion
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Concordance:
    """Mean pairwise concordance over groups with their informative pairs."""

    share: EffectiveProportion
    informative_pairs: int
    pairs: int
    groups_without: int


def pairwise_concordance(
    first: Floats,
    second: Floats,
    groups: Ints,
    *,
    least_gap: float = 0.0,
    clusters: NDArray[np.int_] | None = None,
) -> Concordance | Undefined:
    """Return the mean concordance of candidate pairs between two passes; arrays (n,).

    `clusters` holds the task of each *group* if groups share tasks. With
    `least_gap` 0 every pair that a pass separates at all is informative.

    Parameters
    ----------
    first, second : array, shape (n,)
        Scores of the same candidates in two passes, nan for missing.
    groups : array of int, shape (n,)
        The group of each candidate, from 0.
    least_gap : float
        Smallest distance of a pair that counts, in scale units.
    clusters : array of int, shape (groups,), optional
        The task of each group.

    Returns
    -------
    Concordance, or Undefined if no pair counts.
    """
    found = [_concordance(first[r], second[r], least_gap) for r in _rows(groups)]
    sums, informative, pairs = (np.array(column) for column in zip(*found, strict=True))
    values = np.full(sums.size, np.nan)
    np.divide(sums, informative, out=values, where=informative > 0)
    share = effective_proportion(values, informative.astype(np.float64), clusters)
    if isinstance(share, Undefined):
        return Undefined("no informative pair")
    without = int((informative == 0).sum())
    return Concordance(share, int(informative.sum()), int(pairs.sum()), without)


def _rows(groups: Ints) -> list[Ints]:
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    return [rows.astype(np.int64) for rows in np.split(order, ends)]


def _concordance(x: Floats, y: Floats, least_gap: float) -> tuple[float, int, int]:
    both = ~(np.isnan(x) | np.isnan(y))
    i, j = np.triu_indices(int(both.sum()), 1)
    first, second = x[both][i] - x[both][j], y[both][i] - y[both][j]
    widest = np.maximum(np.abs(first), np.abs(second))
    informative = (widest > 0) & (widest >= least_gap)
    agreed = (1 + np.sign(first) * np.sign(second)) / 2
    return float(agreed[informative].sum()), int(informative.sum()), int(i.size)
