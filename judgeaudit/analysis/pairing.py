"""Agreement over pairs of readings, counted in whole numbers.

Rules of this module:

* A row (one item in one arm) has some planned pairs of readings; a pair is compared when both are
  valid. Each compared pair is worth `of` comparisons (1, or m(m - 1)/2 for rankings taken pairwise)
  of which `alike` agree.
* A row's share is alike / (of * pairs); the estimate is the mean over rows, exact as a rational.
* Rows without a compared pair are left out and counted. Where the question counts invalid readings
  as disagreements, all planned pairs are in the denominator.
* `worst` is the range that the missing pairs leave open: all of them unlike, all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exact import exact_mean
from judgeaudit.analysis.grid import Grid, Ints, column_pairs
from judgeaudit.analysis.question import Over, Question
from judgeaudit.stats.agreement import effective_proportion

Alike = Callable[[Ints, Ints], Ints]
"""From two vectors of table positions to the number of agreeing comparisons of each pair."""


@dataclass(frozen=True, slots=True)
class Comparer:
    """How two readings are compared: `alike` counts agreeing comparisons, out of `of` a row."""

    of: Ints
    alike: Alike


def exact_comparer(grid: Grid, values: pd.Series) -> Comparer:
    """Compare whole values: 1 if equal, of 1."""
    codes = pd.factorize(values, sort=False)[0].astype(np.int64)

    def alike(first: Ints, second: Ints) -> Ints:
        return np.asarray(codes[first] == codes[second], dtype=np.int64)

    return Comparer(np.ones(len(grid.rows), dtype=np.int64), alike)


def top1(rankings: pd.Series) -> pd.Series:
    """Return the candidate ranked first, null where there is no ranking."""
    return rankings.map(lambda ranking: ranking[0] if ranking else None, na_action="ignore")


def concordance_comparer(grid: Grid) -> Comparer:
    """Compare rankings pair by pair: concordant pairs of candidates, of m(m - 1)/2."""
    rankings = grid.part["ranking"].tolist()
    signs = _signs(rankings)
    sizes = np.array([len(r) if isinstance(r, tuple) else 0 for r in rankings] + [0])
    row_sizes = sizes[grid.index].max(axis=1)

    def alike(first: Ints, second: Ints) -> Ints:
        return np.asarray(((signs[first] == signs[second]) & (signs[first] != 0)).sum(axis=1))

    return Comparer((row_sizes * (row_sizes - 1) // 2).astype(np.int64), alike)


def _signs(rankings: list[Any]) -> np.ndarray[Any, np.dtype[np.int8]]:
    """For each ranking the order of each pair of its candidates (in sorted order of ids)."""
    most = max((len(r) for r in rankings if isinstance(r, tuple)), default=0)
    left, right = np.triu_indices(most, 1)
    signs = np.zeros((len(rankings) + 1, left.size), dtype=np.int8)
    for row, ranking in enumerate(rankings):
        if isinstance(ranking, tuple):
            at = np.argsort(np.array(ranking))  # place in the ranking, by candidate id
            inside = right < len(ranking)
            signs[row, inside] = np.sign(at[right[inside]] - at[left[inside]])
    return signs


@dataclass(frozen=True, slots=True)
class Counts:
    """Per row: agreeing comparisons, comparisons a pair, compared and planned pairs, its item.

    `missing_alike`: whether `alike` holds the missing pairs, as flips do where they count invalid
    readings.
    """

    alike: Ints
    of: Ints
    compared: Ints
    planned: Ints
    items: Ints
    missing_alike: bool = False

    @property
    def missing(self) -> float | None:
        """Share of planned pairs that could not be compared."""
        planned = int(self.planned.sum())
        return None if not planned else 1 - int(self.compared.sum()) / planned

    def denominators(self, counts_invalid: bool) -> Ints:
        """Return the comparisons that each row's share is taken of."""
        return self.of * (self.planned if counts_invalid else self.compared)

    def flipped(self, counts_invalid: bool) -> Counts:
        """Return the counts of disagreement: among compared pairs, or among all planned ones."""
        among = self.planned if counts_invalid else self.compared
        flips = self.of * among - self.alike
        return Counts(flips, self.of, self.compared, self.planned, self.items, counts_invalid)


def count_pairs(grid: Grid, comparer: Comparer, pairs: list[tuple[int, int]]) -> Counts:
    """Return the counts over `pairs` of columns."""
    rows = len(grid.rows)
    alike, compared, planned = (np.zeros(rows, dtype=np.int64) for _ in range(3))
    is_planned, is_valid = grid.planned, grid.valid
    for a, b in pairs:
        both = is_valid[:, a] & is_valid[:, b]
        planned += is_planned[:, a] & is_planned[:, b]
        compared += both
        if both.any():
            alike[both] += comparer.alike(grid.index[both, a], grid.index[both, b])
    return Counts(alike, comparer.of, compared, planned, grid.clusters("item"))


def share(
    found: Counts, context: Context, question: Question, clusters: Ints | None, **fields: Any
) -> Estimate:
    """Return the mean share over rows with its interval, bounds and counts."""
    if not found.planned.any():
        return context.none(f"no planned pair of readings {PHRASES[question.over]}", **fields)
    denominators = found.denominators(question.counts_invalid)
    exact = exact_mean(found.alike, denominators)
    used = denominators > 0
    n = {**context.n, "rows": int(used.sum()), "pairs": int(found.compared.sum())}
    n["items"] = int(np.unique(found.items[used]).size)
    n["planned_pairs"] = int(found.planned.sum())
    n["comparisons"] = int(denominators.sum())
    n["alike"] = int(found.alike.sum())
    missing = found.missing
    if exact is None:
        lacking = (
            "no valid reading" if question.over == "gold" else "no pair has two valid readings"
        )
        return context.none(lacking, n=n, missing=missing, **fields)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(denominators > 0, found.alike / denominators, np.nan)
    proportion = effective_proportion(values, denominators.astype(float), clusters)
    return context.of(
        proportion, exact=exact, n=n, missing=missing, worst=worst_case(found), **fields
    )


def worst_case(found: Counts) -> tuple[float, float] | None:
    """Return the mean share with all missing pairs unlike, and with all of them alike."""
    planned, lacking = found.of * found.planned, found.of * (found.planned - found.compared)
    least = found.alike - lacking if found.missing_alike else found.alike
    low = exact_mean(least, planned)
    high = exact_mean(least + lacking, planned)
    return None if low is None or high is None else (float(low), float(high))


PHRASES: dict[Over, str] = {
    "all": "of one item",
    "same_window": "within a window",
    "windows": "in two windows",
    "windows_same_day": "in two windows of a day",
    "next_day": "on two days in a row",
    "other_day": "on two different days",
    "orders": "in two orders",
    "conditions": "in two conditions",
    "gold": "and gold",
}
"""What `over` compares, as the end of "pairs of readings ..."."""


def row_clusters(grid: Grid, question: Question) -> Ints | None:
    """Return one code a row for the question's cluster, or None where each row is its own."""
    codes = grid.clusters(question.cluster)
    return None if np.unique(codes).size == codes.size else codes


def pair_counts(grid: Grid, comparer: Comparer, question: Question) -> Counts:
    """Return the counts over the question's pairs of columns."""
    return count_pairs(grid, comparer, column_pairs(grid.columns, question.over))
