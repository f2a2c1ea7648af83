"""Ranking within groups: few candidates a task, where most coefficients take few values.

Rules of this module:

* A group is a small set of candidates scored twice, such as the candidates of one task. Its
  Spearman is undefined if either pass is constant; such groups are counted, never imputed, and
  the median is bounded by giving them -1 and +1.
* The interval of a share of groups treats tasks as the units: Clopper-Pearson with n_eff.
* With 4 untied candidates Spearman is one of 11 values, so that ">= .90" means the same order.
  `attainable` prints them.
* A pair of candidates is informative if at least one pass separates them by `least_gap` or more.
  Its concordance is 1 for the same order, 1/2 for a tie in one pass, 0 for the reverse. The mean is
  over groups, each with its own mean; groups without an informative pair are counted.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.agreement import EffectiveProportion, effective_proportion
from judgeaudit.stats.dominance import dense_codes, mid_ranks
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LARGEST_LISTED = 7


@dataclass(frozen=True, slots=True)
class GroupRanks:
    """Spearman of each group with its median over defined groups.

    `values` (groups,) holds nan where undefined; `median_if_low` and
    `median_if_high` give the undefined groups -1 and +1.
    """

    values: Floats
    median: float
    median_if_low: float
    median_if_high: float
    undefined: int

    def share_at_least(
        self, threshold: float, clusters: NDArray[np.int_] | None = None
    ) -> EffectiveProportion | Undefined:
        """Return the share of defined groups at or above `threshold`; `clusters` one a group.

        Compared after rounding to 12 digits: .8 computes as .7999999999999999.
        """
        passed = (np.round(self.values, 12) >= threshold).astype(np.float64)
        return effective_proportion(
            np.where(np.isnan(self.values), np.nan, passed), clusters=clusters
        )


@dataclass(frozen=True, slots=True)
class Concordance:
    """Mean pairwise concordance over groups with their informative pairs."""

    share: EffectiveProportion
    informative_pairs: int
    pairs: int
    groups_without: int


def group_spearman(first: Floats, second: Floats, groups: Ints) -> GroupRanks | Undefined:
    """Return each group's mid-rank Spearman between two passes; all arrays (n,).

    Groups are numbered 0.. in `groups`; candidates missing (nan) in a pass are
    left out of their group.
    """
    values = np.array([_spearman(first[rows], second[rows]) for rows in _rows(groups)])
    lost = np.isnan(values)
    if lost.all():
        return Undefined("no group has an order in both passes")
    low, high = (float(np.median(np.where(lost, v, values))) for v in (-1.0, 1.0))
    return GroupRanks(values, float(np.nanmedian(values)), low, high, int(lost.sum()))


def attainable(candidates: int) -> tuple[float, ...]:
    """Return the values that Spearman can take with up to 7 untied candidates, in order."""
    if not 2 <= candidates <= _LARGEST_LISTED:
        raise ValueError(f"attainable values are listed for 2 to 7 candidates, not {candidates}")
    base = np.arange(candidates)
    orders = np.array(list(permutations(range(candidates))))
    squared = ((orders - base) ** 2).sum(axis=1)
    values = 1 - 6 * np.unique(squared) / (candidates * (candidates**2 - 1))
    return tuple(float(v) for v in np.round(values[::-1], 12))


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


def clustered_share(
    outcomes: Floats, clusters: NDArray[np.int_] | None = None
) -> EffectiveProportion | Undefined:
    """Return the share of 1 among outcomes (units, passes) of 0, 1 or nan, with units as rows.

    For separations: 1 if the correct candidate strictly outranks a slip. Passes
    of one judgment are no new evidence, nor are judgments of one task:
    `clusters` (units,) names the task.
    """
    present = ~np.isnan(outcomes)
    trials = present.sum(axis=1).astype(np.float64)
    values = np.full(outcomes.shape[0], np.nan)
    np.divide(np.where(present, outcomes, 0.0).sum(axis=1), trials, out=values, where=trials > 0)
    return effective_proportion(values, trials, clusters)


def separations(correct: Floats, slips: Floats) -> Floats:
    """Return 1 where the correct candidate strictly outscores a slip, else 0; nan if either is nan.

    `correct` is (variants, passes), `slips` (variants, slips, passes); the
    result has one row a judgment, (variants * slips, passes).
    """
    above = (correct[:, None, :] > slips).astype(np.float64)
    above[np.isnan(correct[:, None, :]) | np.isnan(slips)] = np.nan
    return np.asarray(above.reshape(-1, correct.shape[1]))


def kendall_distance(first: Floats, second: Floats) -> Ints:
    """Return for each row the number of candidate pairs in opposite order, (n, candidates)."""
    one = np.sign(first[:, :, None] - first[:, None, :])
    two = np.sign(second[:, :, None] - second[:, None, :])
    return np.asarray((one * two < 0).sum(axis=(1, 2)) // 2, dtype=np.int64)


def _rows(groups: Ints) -> list[Ints]:
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    return [rows.astype(np.int64) for rows in np.split(order, ends)]


def _spearman(x: Floats, y: Floats) -> float:
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    a, b = (mid_ranks(dense_codes(v)) - (v.size + 1) / 2 for v in (x, y))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _concordance(x: Floats, y: Floats, least_gap: float) -> tuple[float, int, int]:
    both = ~(np.isnan(x) | np.isnan(y))
    i, j = np.triu_indices(int(both.sum()), 1)
    first, second = x[both][i] - x[both][j], y[both][i] - y[both][j]
    widest = np.maximum(np.abs(first), np.abs(second))
    informative = (widest > 0) & (widest >= least_gap)
    agreed = (1 + np.sign(first) * np.sign(second)) / 2
    return float(agreed[informative].sum()), int(informative.sum()), int(i.size)
