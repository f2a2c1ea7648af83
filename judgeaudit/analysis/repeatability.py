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

from judgeaudit.analysis.build import Context, category_use, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.analysis.labels import symmetrised
from judgeaudit.analysis.pairing import (
    PHRASES,
    exact_comparer,
    pair_counts,
    row_clusters,
    share,
)
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.stats.agreement import gwet_ac1, krippendorff_alpha
from judgeaudit.analysis.stats.icc import Form, icc
from judgeaudit.analysis.stats.interval import Undefined
from judgeaudit.analysis.stats.noise import noise
from judgeaudit.analysis.stats.ranks import RankReliability, spearman_pairs
from judgeaudit.analysis.stats.scaled import disagreement_bound
from judgeaudit.errors import InputError

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


def spearman_estimate(
    said: Context,
    found: RankReliability | Undefined,
    scores: Floats,
    planned: NDArray[np.bool_] | None = None,
    pairs: list[tuple[int, int]] | None = None,
) -> Estimate:
    """Return the estimate of a rank reliability with its counts, levels and bound if perfect."""
    details = {**said.details, **scale_use(scores.ravel())}
    missing = _missing_pairs(scores, planned, pairs)
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details, missing=missing)
    if found.agreement_bound is not None:
        details["disagreement_at_most"] = found.agreement_bound.high
    n = {
        **said.n,
        "pairs": found.pairs,
        "items": found.items,
        "items_per_pair": found.items_per_pair,
    }
    return said.of(found.estimate, n=n, details=details, unit=found.unit, missing=missing)


def _missing_pairs(
    scores: Floats,
    planned: NDArray[np.bool_] | None,
    pairs: list[tuple[int, int]] | None,
) -> float | None:
    if pairs is None or planned is None:
        return None
    wanted = sum(int((planned[:, a] & planned[:, b]).sum()) for a, b in pairs)
    seen = ~np.isnan(scores)
    return (
        1 - sum(int((seen[:, a] & seen[:, b]).sum()) for a, b in pairs) / wanted if wanted else None
    )


def icc_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the ICC of a single reading; form one-way unless `params.form` says otherwise."""
    form = str(question.params.get("form", "one-way"))
    if form not in FORMS:
        raise InputError("params", "form", f"{form!r}", f"one of {', '.join(FORMS)}")
    grid = numbers(part)
    said = context("icc", part, question, form=form)
    return [icc_of(said, grid.numbers(), FORMS[form])]


def icc_of(said: Context, scores: Floats, form: Form) -> Estimate:
    """Return the ICC of `scores` (items x readings) with its k form and normal-theory interval."""
    found = icc(scores, form)
    details = {**said.details, **scale_use(scores.ravel())}
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details)
    theory = found.normal_theory(said.question.level)
    details["mean_of_k"] = found.mean_of_k.value
    details["k"] = found.k
    if not isinstance(theory, Undefined):
        details["normal_theory"] = [theory.low, theory.high]
    n = {**said.n, "items": found.items}
    excluded = {**said.excluded}
    if found.incomplete:
        excluded["incomplete_item"] = found.incomplete
    return said.of(found.single, n=n, excluded=excluded, details=details)


def noise_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the within-item SD over the readings of each item."""
    grid = numbers(part)
    return [
        noise_of(context("noise", part, question), grid.numbers(), row_clusters(grid, question))
    ]


def noise_of(said: Context, scores: Floats, clusters: Ints | None = None) -> Estimate:
    """Return the within-item SD of `scores`; where nothing varied, the bound on disagreement."""
    found = noise(scores, clusters)
    details = {**said.details, **scale_use(scores.ravel())}
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details)
    details["repeatability_coefficient"] = found.repeatability
    if found.agreement_bound is not None:
        details["disagreement_at_most"] = found.agreement_bound.high
    excluded = {**said.excluded, **({"single_reading": found.single} if found.single else {})}
    return said.of(found.sd, n={**said.n, "items": found.items}, excluded=excluded, details=details)


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
