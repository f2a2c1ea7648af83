"""Repeatability: whether the same request gets the same reading, order, number.

* `category_exact`, `flip_rate`: pairs of readings of one item with equal, with unequal verdicts.
* `number_exact`: pairs with the very same number. `text_exact`: with the same text.
* `spearman`: order of the items, mean over pairs of readings (reliability of one reading).
* `icc`: ICC(1,1), or by `params.form` agreement or consistency.
* `noise`: within-item SD; `repeatability_coefficient`: 1.96 sqrt(2) s_w.
* `alpha`, `ac1`: chance-corrected agreement, for display; never gates.

Which pairs, the question's `over` says. Names that speak of an order or of noise need a number; an
r of two arms is symmetrised first.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import symmetrised
from judgeaudit.analysis.build import Context, category_use, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.analysis.measures import icc_of, noise_of, spearman_estimate
from judgeaudit.analysis.pairing import (
    PHRASES,
    exact_comparer,
    pair_counts,
    row_clusters,
    share,
)
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import gwet_ac1, krippendorff_alpha
from judgeaudit.stats.icc import Form
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import spearman_pairs
from judgeaudit.stats.scaled import disagreement_bound

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FORMS: dict[str, Form] = {
    "one-way": "one-way",
    "agreement": "agreement",
    "consistency": "consistency",
}
NEVER_GATES = "for display: no interval of it can be trusted when flips are rare"


def category_exact(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings with the same category."""
    return [_equal("category_exact", "category", part, question)]


def flip_rate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings with different categories."""
    return [_equal("flip_rate", "category", part, question, flips=True)]


def number_exact(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings with the very same number."""
    return [_equal("number_exact", "number", part, question)]


def text_exact(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings with the same text."""
    return [_equal("text_exact", "text", part, question)]


def _equal(
    name: str, column: str, part: pd.DataFrame, question: Question, *, flips: bool = False
) -> Estimate:
    grid = layout(part, arms_in_columns=question.over == "orders")
    use = scale_use(grid.numbers().ravel()) if column == "number" else category_use(part[column])
    said = context(name, part, question, **use)
    counts = pair_counts(grid, exact_comparer(grid, part[column]), question)
    chosen = counts.flipped(question.counts_invalid) if flips else counts
    return share(chosen, said, question, row_clusters(grid, question))


def numbers(part: pd.DataFrame) -> Grid:
    """Return the grid of numbers, the two arms of a label pair joined into r_sym."""
    return layout(symmetrised(part))


def number_clusters(grid: Grid, question: Question) -> Ints | None:
    """Return task codes where the task is the cluster, None where the row is."""
    return row_clusters(grid, question)


def spearman(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean mid-rank Spearman over the question's pairs of readings."""
    grid = numbers(part)
    pairs = column_pairs(grid.columns, question.over)
    said = context("spearman", part, question)
    if not pairs:
        return [said.none(f"no planned pair of readings {PHRASES[question.over]}")]
    scores = grid.numbers()
    found = spearman_pairs(scores, pairs, clusters=row_clusters(grid, question))
    return [spearman_estimate(said, found, scores, grid.planned, pairs)]


def icc_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the ICC of a single reading; form one-way unless `params.form` says otherwise."""
    form = str(question.params.get("form", "one-way"))
    if form not in FORMS:
        raise InputError("params", "form", f"{form!r}", f"one of {', '.join(FORMS)}")
    grid = numbers(part)
    said = context("icc", part, question, form=form)
    return [icc_of(said, grid.numbers(), FORMS[form])]


def noise_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the within-item SD over the readings of each item."""
    grid = numbers(part)
    return [
        noise_of(context("noise", part, question), grid.numbers(), row_clusters(grid, question))
    ]


def repeatability_coefficient(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return 1.96 sqrt(2) s_w: two readings of one item differ by less in 95 % of cases."""
    grid = numbers(part)
    said = context("repeatability_coefficient", part, question, **scale_use(grid.numbers().ravel()))
    found = noise(grid.numbers(), row_clusters(grid, question))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    return [said.bounded(found.repeatability, found.repeatability_interval(question.level))]


def alpha(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Krippendorff's nominal alpha over all readings of each item; never an interval."""
    codes, said = _coded("alpha", part, question)
    found = krippendorff_alpha(codes, _declared(codes, question))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    return [said.plain(found, NEVER_GATES)]


def ac1(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Gwet's AC1 over all readings of each item; `params.categories` declares how many."""
    codes, said = _coded("ac1", part, question)
    return [said.of(gwet_ac1(codes, _declared(codes, question)))]


def _coded(name: str, part: pd.DataFrame, question: Question) -> tuple[Ints, Context]:
    grid = layout(part)
    codes, _ = grid.codes(part["category"])
    return codes, context(name, part, question, **category_use(part["category"]))


def _declared(codes: Ints, question: Question) -> int:
    seen = int(codes.max(initial=-1)) + 1
    return max(seen, question.whole("categories", max(seen, 1)))


def no_disagreement(items: int, level: float = 0.95) -> float:
    """Return the exact upper bound on per-item disagreement when `items` showed none."""
    return disagreement_bound(items, level).high
