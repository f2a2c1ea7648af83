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

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import symmetrised
from judgeaudit.analysis.build import Context, category_use, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.analysis.measures import agreement_of, icc_of, noise_of, spearman_estimate
from judgeaudit.analysis.pairing import (
    PHRASES,
    Counts,
    exact_comparer,
    pair_counts,
    row_clusters,
    share,
)
from judgeaudit.analysis.proven import mostly_below_top, never, three_repeats
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.statistic import (
    ORDERS,
    PAIRS,
    WHOLE,
    Answer,
    Coverage,
    Example,
    Statistic,
    choice,
    whole,
    words,
)
from judgeaudit.stats.agreement import AC1_FROM_ITEMS, gwet_ac1
from judgeaudit.stats.icc import Form
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import spearman_pairs
from judgeaudit.stats.scaled import MIN_ITEMS, disagreement_bound
from judgeaudit.stats.weighted import alpha_estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FORMS: dict[str, Form] = {
    "one-way": "one-way",
    "agreement": "agreement",
    "consistency": "consistency",
}
ASSUMED_KAPPA = 1.2
"""sqrt(n) times the SE of atanh Spearman for continuous scores (measured 1.03 to 1.18; up to 3 on
coarse scales), where no pilot told it."""


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
    if not flips:
        return share(counts, said, question, row_clusters(grid, question))
    chosen = counts.flipped(question.counts_invalid)
    return _with_flips(share(chosen, said, question, row_clusters(grid, question)), chosen)


def _with_flips(found: Estimate, counts: Counts) -> Estimate:
    """Return a flip rate with the items that flipped, or the bound where none did."""
    if found.value is None:
        return found
    items = int(np.unique(counts.items[counts.alike > 0]).size)
    told = replace(found, n={**found.n, "items_that_flipped": items})
    if found.value > 0:
        return told
    bound = disagreement_bound(found.n["items"], found.level).high
    return told.with_details(disagreement_at_most=bound)


def numbers(part: pd.DataFrame) -> Grid:
    """Return the grid of numbers, the two arms of a label pair joined into r_sym."""
    return layout(symmetrised(part))


def spearman(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean mid-rank Spearman over the question's pairs of readings."""
    grid = numbers(part)
    pairs = column_pairs(grid.columns, question.over)
    said = context("spearman", part, question)
    if not pairs:
        return [said.none(f"no planned pair of readings {PHRASES[question.over]}")]
    scores = grid.numbers()
    found = spearman_pairs(scores, pairs, clusters=row_clusters(grid, question))
    return [spearman_estimate(said, found, scores, grid.rows["item"], grid.planned, pairs)]


def icc_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the ICC of a single reading; form one-way unless `params.form` says otherwise."""
    form = str(question.params.get("form", "one-way"))
    if form not in FORMS:
        raise InputError("params", "form", f"{form!r}", f"one of {', '.join(FORMS)}")
    grid = numbers(part)
    said = context("icc", part, question, form=form)
    scores, tasks = grid.numbers(), row_clusters(grid, question)
    if FORMS[form] == "agreement":
        return [agreement_of(said, scores, grid.rows["item"], tasks)]
    return [icc_of(said, scores, grid.rows["item"], FORMS[form], tasks)]


def noise_estimate(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the within-item SD over the readings of each item."""
    grid = numbers(part)
    said, tasks = context("noise", part, question), row_clusters(grid, question)
    return [noise_of(said, grid.numbers(), grid.rows["item"], tasks)]


def repeatability_coefficient(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return 1.96 sqrt(2) s_w: two readings of one item differ by less in 95 % of cases."""
    grid = numbers(part)
    said = context("repeatability_coefficient", part, question, **scale_use(grid.numbers().ravel()))
    found = noise(grid.numbers(), row_clusters(grid, question))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    return [said.bounded(found.repeatability, found.repeatability_interval(question.level))]


def alpha(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Krippendorff's nominal alpha over all readings of each item."""
    codes, tasks, said = _coded("alpha", part, question)
    return [said.of(alpha_estimate(codes, _declared(codes, question), tasks=tasks))]


def ac1(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Gwet's AC1 over all readings of each item; `params.categories` declares how many."""
    codes, tasks, said = _coded("ac1", part, question)
    return [said.of(gwet_ac1(codes, _declared(codes, question), tasks))]


def _coded(name: str, part: pd.DataFrame, question: Question) -> tuple[Ints, Ints | None, Context]:
    grid = layout(part)
    codes, _ = grid.codes(part["category"])
    said = context(name, part, question, **category_use(part["category"]))
    # What these coefficients rest on are items with two readings or more.
    twice = grid.rows["item"][(codes >= 0).sum(axis=1) >= 2]
    said = replace(said, n={**said.n, "items": int(twice.nunique())})
    return codes, row_clusters(grid, question), said


def _declared(codes: Ints, question: Question) -> int:
    seen = int(codes.max(initial=-1)) + 1
    return max(seen, question.whole("categories", max(seen, 1)))


_fact = partial(
    Statistic,
    subject="precision",
    per_pair=False,
    whole_table=False,
    greatest=False,
)

SD_ANSWERS = tuple(
    Answer(decision, "sd", "") for decision in ("best_of_n", "leaderboard_order", "reward_sign")
)

_same = partial(
    _fact,
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    needs=words("repeats"),
    better="high",
    unit="share",
    covered=None,
    floor=True,
    kappa=None,
    redesigns=words("continuous"),
    why_no_gate="",
    params=(),
)
_score = partial(
    _fact,
    reads=("number",),
    least_units=MIN_ITEMS,
    claims=words("score probability"),
    needs=words("repeats"),
    example=None,
    why_no_gate="",
)
_chance = partial(
    _fact,
    reads=("category",),
    kind="plain",
    bounds=(-1.0, 1.0),
    claims=words("verdict choice"),
    over=WHOLE,
    needs=words("repeats"),
    better="high",
    unit="coefficient",
    answers=(),
    defaults=frozenset(),
    example=None,
    floor=False,
    kappa=None,
    redesigns=frozenset(),
    why_no_gate="no interval of it can be trusted when flips are rare",
)

STATISTICS = (
    _same(
        name="category_exact",
        compute=category_exact,
        told=frozenset(),
        reads=("category",),
        claims=words("verdict choice"),
        over=(*PAIRS, *ORDERS),
        label="same verdict",
        answers=(Answer("pass_fail_filter", "same", ""), Answer("reward_sign", "same", "")),
        defaults=words("verdict choice"),
        example=None,
    ),
    _fact(
        name="flip_rate",
        compute=flip_rate,
        told=words("verdict"),
        reads=("category",),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        claims=words("verdict choice"),
        over=(*PAIRS, *ORDERS),
        needs=words("repeats"),
        better="low",
        label="verdict changes between two runs",
        unit="share",
        covered=Coverage("flip rate", never),
        answers=(Answer("pass_fail_filter", "flips", ""), Answer("reward_sign", "flips", "")),
        defaults=words("verdict choice"),
        example=Example(words("verdict choice"), "at_most = 0.05", "0.01", "0.10"),
        params=(),
        floor=False,
        kappa=None,
        redesigns=frozenset(),
        why_no_gate="",
    ),
    _same(
        name="number_exact",
        compute=number_exact,
        told=frozenset(),
        reads=("number",),
        claims=words("score probability"),
        over=PAIRS,
        label="the very same number",
        answers=(),
        defaults=words("score"),
        example=Example(words("score"), "at_least = 0.90", "0.97", "0.80"),
    ),
    _same(
        name="text_exact",
        compute=text_exact,
        told=frozenset(),
        reads=("text",),
        claims=frozenset(),
        over=PAIRS,
        label="the very same text",
        answers=(),
        defaults=words("text"),
        example=Example(words("text"), "at_least = 0.95", "0.99", "0.90"),
    ),
    _score(
        name="spearman",
        compute=spearman,
        told=words("score probability"),
        kind="correlation",
        bounds=(-1.0, 1.0),
        over=PAIRS,
        better="high",
        label="same order of items (Spearman, two single readings)",
        unit="coefficient",
        covered=Coverage("spearman", never),
        answers=(),
        defaults=frozenset(),
        params=(),
        floor=True,
        kappa=ASSUMED_KAPPA,
        redesigns=frozenset(),
    ),
    _score(
        name="icc",
        compute=icc_estimate,
        told=words("score probability"),
        kind="correlation",
        bounds=(-1.0, 1.0),
        over=WHOLE,
        better="high",
        label="reliability of one reading, ICC(1,1)",
        unit="coefficient",
        covered=Coverage("icc", mostly_below_top),
        answers=(Answer("reward_sign", "reliability", ""),),
        defaults=frozenset(),
        params=(choice("form", "form of the ICC", *FORMS),),
        floor=False,
        kappa=None,
        redesigns=frozenset(),
    ),
    _score(
        name="noise",
        compute=noise_estimate,
        told=words("score probability"),
        kind="positive",
        bounds=(0.0, math.inf),
        over=WHOLE,
        better="low",
        label="noise within an item (SD, scale units)",
        unit="scale units",
        covered=Coverage("noise", three_repeats),
        answers=SD_ANSWERS,
        defaults=words("score"),
        params=(),
        floor=True,
        kappa=None,
        redesigns=words("mean"),
    ),
    _score(
        name="repeatability_coefficient",
        compute=repeatability_coefficient,
        told=frozenset(),
        kind="positive",
        bounds=(0.0, math.inf),
        over=WHOLE,
        better="low",
        label="repeatability coefficient (two readings differ by less in 95 %)",
        unit="scale units",
        covered=None,
        answers=tuple(replace(answer, quantity="coefficient") for answer in SD_ANSWERS),
        defaults=frozenset(),
        params=(),
        floor=False,
        kappa=None,
        redesigns=words("mean"),
    ),
    _chance(
        name="alpha",
        least_units=MIN_ITEMS,
        compute=alpha,
        told=words("verdict"),
        label="Krippendorff's alpha (nominal)",
        covered=None,
        params=(whole("categories", "how many categories were declared", 1),),
    ),
    _chance(
        name="ac1",
        least_units=AC1_FROM_ITEMS,
        compute=ac1,
        told=words("verdict"),
        label="Gwet's AC1",
        covered=Coverage("ac1", never),
        params=(whole("categories", "how many categories were declared", 1),),
    ),
)
