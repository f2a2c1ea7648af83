"""Replays of rankings: the same bytes again, read at three granularities (gate I-5R of CE).

* `ranking_exact`: the two permutations are the same.
* `ranking_top1`: the first candidate is the same.
* `ranking_pairwise`: the share of pairs of candidates in the same order, 1 - normalised Kendall
  distance. CE's 100 replays read .780, .950 and 4436/4500 = .985778.

The spectrum of Kendall distances stands in the details of `ranking_exact` and `ranking_pairwise`:
it says whether a few rankings fell apart or many moved by one place. Freeze the metric at the
granularity of the claim; the other two are sensitivity, never verdicts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, Ints, column_pairs, layout
from judgeaudit.analysis.pairing import (
    Comparer,
    concordance_comparer,
    exact_comparer,
    pair_counts,
    row_clusters,
    share,
    top1,
)
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import ORDERS, PAIRS, Answer, Example, Statistic, words


def ranking_exact(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of replays whose permutation is the same; Kendall spectrum in details."""
    grid = _grid(part, question)
    spectrum = kendall_spectrum(grid, column_pairs(grid.columns, question.over))
    comparer = exact_comparer(grid, grid.part["ranking"])
    return [_share("ranking_exact", grid, comparer, question, spectrum=spectrum)]


def ranking_top1(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of replays whose first candidate is the same."""
    grid = _grid(part, question)
    comparer = exact_comparer(grid, top1(grid.part["ranking"]))
    return [_share("ranking_top1", grid, comparer, question)]


def ranking_pairwise(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of candidates in one order: 1 - normalised Kendall distance."""
    grid = _grid(part, question)
    spectrum = kendall_spectrum(grid, column_pairs(grid.columns, question.over))
    comparer = concordance_comparer(grid)
    return [_share("ranking_pairwise", grid, comparer, question, spectrum=spectrum)]


def _grid(part: pd.DataFrame, question: Question) -> Grid:
    return layout(part, arms_in_columns=question.over == "orders")


def _share(
    name: str, grid: Grid, comparer: Comparer, question: Question, **details: Any
) -> Estimate:
    sizes = grid.part["ranking"].dropna().map(len)
    told = {"candidates": int(sizes.max()) if len(sizes) else 0, **details}
    said = context(name, grid.part, question, **told)
    return share(
        pair_counts(grid, comparer, question), said, question, row_clusters(grid, question)
    )


def kendall_spectrum(grid: Grid, pairs: list[tuple[int, int]]) -> dict[str, int]:
    """Return how many compared pairs of rankings lie at each Kendall distance."""
    distances = kendall_distances(grid, pairs)
    values, counts = np.unique(distances, return_counts=True)
    return {str(int(value)): int(count) for value, count in zip(values, counts, strict=True)}


def kendall_distances(grid: Grid, pairs: list[tuple[int, int]]) -> Ints:
    """Return the Kendall distance (discordant pairs) of every compared pair of rankings."""
    comparer = concordance_comparer(grid)
    valid = grid.valid
    found: list[Ints] = []
    for a, b in pairs:
        both = valid[:, a] & valid[:, b]
        alike = comparer.alike(grid.index[both, a], grid.index[both, b])
        found.append(comparer.of[both] - alike)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


_replay = partial(
    Statistic,
    reads=("ranking",),
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    over=(*PAIRS, *ORDERS),
    needs=words("repeats"),
    better="high",
    unit="share",
    subject="precision",
    defaults=words("ranking"),
    floor=True,
    covered=None,
    params=(),
    whole_table=False,
    kappa=None,
    greatest=False,
    why_no_gate="",
)

STATISTICS = (
    _replay(
        name="ranking_exact",
        compute=ranking_exact,
        told=words("ranking"),
        claims=words("ranking"),
        label="same ranking, whole",
        answers=(Answer("ranking", "right", "ranking"),),
        example=Example(words("ranking"), "at_least = 0.95", "0.99", "0.90"),
        per_pair=False,
        redesigns=words("aggregate continuous"),
    ),
    _replay(
        name="ranking_top1",
        compute=ranking_top1,
        told=words("ranking"),
        claims=words("top1"),
        label="same first candidate",
        answers=(Answer("ranking", "right", "top1"), Answer("best_of_n", "right", "")),
        example=None,
        per_pair=False,
        redesigns=frozenset(),
    ),
    _replay(
        name="ranking_pairwise",
        compute=ranking_pairwise,
        told=words("ranking"),
        claims=words("pairwise"),
        label="pairs of candidates in the same order",
        answers=(Answer("ranking", "right", "pairwise"),),
        example=None,
        per_pair=True,
        redesigns=frozenset(),
    ),
)
