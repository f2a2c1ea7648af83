"""Agreement of every two windows over the probes: the matrix that a day decomposition reads.

A(w, w') is the mean over probes (rows) of the share of agreeing pairs of readings, one from each
window. Counts are kept by cluster of probes, so that clusters can be weighted anew in a bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.exact import exact_mean
from judgeaudit.analysis.grid import Grid, Ints, layout
from judgeaudit.analysis.pairing import (
    Comparer,
    concordance_comparer,
    count_pairs,
    exact_comparer,
    top1,
)
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.statistic import choice

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WindowAgreement:
    """Agreement between windows.

    `names` and `days` (W,) are in order of time; `exact[w, w']` are rationals (None undefined);
    `sums` and `weights` (clusters, W, W) hold per cluster of probes the summed row shares and the
    number of rows. `compared` and `planned` count pairs of readings.
    """

    names: tuple[str, ...]
    days: Ints
    exact: dict[tuple[int, int], Fraction]
    sums: Floats
    weights: Floats
    compared: int
    planned: int
    probes: int

    def values(self) -> Floats:
        """Return A as floats, W x W, symmetric, nan on the diagonal and where undefined."""
        matrix = np.full((len(self.names),) * 2, np.nan)
        for (a, b), value in self.exact.items():
            matrix[a, b] = matrix[b, a] = float(value)
        return matrix

    def pairs(self, *, same_day: bool) -> list[tuple[int, int]]:
        """Return the defined pairs of windows within a day, or between days."""
        return [
            (a, b) for a, b in self.exact if (self.days[a] == self.days[b]) is np.bool_(same_day)
        ]


def window_agreement(part: pd.DataFrame, question: Question) -> WindowAgreement:
    """Return the agreement matrix of one endpoint and condition.

    `params.metric` is `exact` (default), `top1` or `pairwise`; with the question's rule for invalid
    readings. Raises `InputError` where readings of several conditions would mix.
    """
    if part["condition"].nunique() > 1:
        there = ", ".join(sorted(part["condition"].unique()))
        raise InputError(
            "where", "condition", f"several conditions ({there})", "name one in `where`"
        )
    grid = layout(part)
    comparer = comparer_of(grid, question)
    windows = pd.unique(grid.columns["window"])
    cells = {w: np.flatnonzero(grid.columns["window"].eq(w)) for w in windows}
    days = np.array([int(grid.columns["day"].iloc[cells[w][0]]) for w in windows])
    clusters = grid.clusters("task")
    return _assemble(grid, comparer, question, (windows, cells, days), clusters)


METRIC = choice("metric", "how rankings are compared", "exact", "top1", "pairwise")
"""The parameter that `comparer_of` reads."""


def comparer_of(grid: Grid, question: Question) -> Comparer:
    """Return how readings are compared by `params.metric`, exact on the value that there is."""
    part, metric = grid.part, str(question.params.get("metric", "exact"))
    if metric == "pairwise":
        return concordance_comparer(grid)
    if metric == "top1":
        return exact_comparer(grid, top1(part["ranking"]))
    if metric != "exact":
        raise InputError("params", "metric", f"{metric!r}", "one of exact, top1, pairwise")
    for name in ("ranking", "category", "number", "label", "text"):
        if part[name].notna().any():
            return exact_comparer(grid, part[name])
    return exact_comparer(grid, part["ranking"])


def _assemble(
    grid: Grid, comparer: Comparer, question: Question, when: tuple[Any, Any, Ints], clusters: Ints
) -> WindowAgreement:
    windows, cells, days = when
    count, groups = len(windows), int(clusters.max()) + 1
    sums, weights = np.zeros((groups, count, count)), np.zeros((groups, count, count))
    exact, compared, planned = {}, 0, 0
    for a, b in combinations(range(count), 2):
        between = [(i, j) for i in cells[windows[a]] for j in cells[windows[b]]]
        found = count_pairs(grid, comparer, between)
        denominators = found.denominators(question.counts_invalid)
        compared += int(found.compared.sum())
        planned += int(found.planned.sum())
        value = exact_mean(found.alike, denominators)
        if value is None:
            continue
        exact[a, b] = value
        used = denominators > 0
        shares = found.alike[used] / denominators[used]
        sums[:, a, b] = sums[:, b, a] = np.bincount(clusters[used], shares, groups)
        weights[:, a, b] = weights[:, b, a] = np.bincount(clusters[used], minlength=groups)
    names = tuple(str(w) for w in windows)
    return WindowAgreement(names, days, exact, sums, weights, compared, planned, len(grid.rows))
