"""Scores beside their order and noise: agreement of levels, of runs, and order against gold.

* `icc_agreement`: ICC(A,1), where a run whose scores are all higher counts as disagreement.
* `ordinal_alpha`: Krippendorff's alpha with the ordinal distance, on scales of at most 20 levels.
  His convention: items with one reading are left out, missing readings are not filled.
* `noise_without_shifts`: the within-item SD less what whole runs lie above or below each other.
* `order_effect`: how far the second order's scores lie from the first's.
* `gold_spearman`: Spearman of single readings with the items' numeric gold.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.repeatability import icc_estimate, numbers
from judgeaudit.analysis.build import context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import layout
from judgeaudit.analysis.measures import spearman_estimate
from judgeaudit.analysis.pairing import row_clusters
from judgeaudit.analysis.proven import never
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import ORDERS, WHOLE, Coverage, Statistic, words
from judgeaudit.stats.clustered import jackknife
from judgeaudit.stats.drift import mean_shift
from judgeaudit.stats.facets import run_model
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.ranks import spearman_between
from judgeaudit.stats.scaled import LOG, MIN_ITEMS
from judgeaudit.stats.weighted import alpha_estimate

Floats = NDArray[np.float64]
FEW_LEVELS = 20


def icc_agreement(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return ICC(A,1): absolute agreement of single readings over the runs."""
    asked = replace(question, params={**question.params, "form": "agreement"})
    return [replace(e, analysis="icc_agreement") for e in icc_estimate(part, asked)]


def ordinal_alpha(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Krippendorff's ordinal alpha over all readings of each item; never an interval."""
    grid = numbers(part)
    scores = grid.numbers()
    said = context("ordinal_alpha", part, question, **scale_use(scores.ravel()))
    seen = ~np.isnan(scores)
    levels = np.unique(scores[seen])
    if levels.size > FEW_LEVELS:
        return [said.none(f"{levels.size} different scores are no ordered categories")]
    codes = np.where(seen, np.searchsorted(levels, scores), -1).astype(np.int64)
    n = {**said.n, "items": int(grid.rows["item"][seen.sum(axis=1) >= 2].nunique())}
    tasks = row_clusters(grid, question)
    return [said.of(alpha_estimate(codes, max(1, levels.size), "ordinal", tasks=tasks), n=n)]


def noise_without_shifts(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the within-item SD with the shifts of whole columns of readings taken out."""
    grid = numbers(part)
    scores = grid.numbers()
    said = context("noise_without_shifts", part, question, **scale_use(scores.ravel()))
    model = run_model(scores)
    if isinstance(model, Undefined):
        return [said.none(model.reason)]
    if not model.residual > 0:
        return [said.plain(0.0, "no interval: no reading differs but by its run's shift")]
    present = ~np.isnan(scores)
    kept, columns = present.any(axis=1), present.any(axis=0)
    left = scores[np.ix_(kept, columns)] - model.means
    counts = present[kept].sum(axis=1)
    squares = np.nansum((left - np.nanmean(left, axis=1, keepdims=True)) ** 2, axis=1)
    # Taking out the runs' means costs degrees of freedom, evenly over the items.
    freedom = (counts - 1) * (model.residual_df / (counts - 1).sum())

    def sd(chosen: NDArray[np.bool_]) -> float:
        return float(np.sqrt(squares[chosen].sum() / freedom[chosen].sum()))

    clusters = row_clusters(grid, question)
    tasks = None if clusters is None else clusters[kept]
    found = jackknife(sd, int(kept.sum()), tasks, scale=LOG)
    n = {**said.n, "items": int(np.unique(grid.rows["item"].to_numpy()[kept]).size)}
    return [said.of(found, n=n)]


def order_effect(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean score in the second order less that in the first, over items in both."""
    grid = layout(part, arms_in_columns=True)
    said = context("order_effect", part, question)
    arms = grid.columns["arm"]
    names = pd.unique(arms)
    if len(names) != 2:
        return [said.none(f"{len(names)} orders: the comparison takes two")]
    scores = grid.numbers()
    first, second = (scores[:, arms.eq(name).to_numpy()] for name in names)
    shift = mean_shift(first, second, row_clusters(grid, question))
    both = ~np.isnan(first).all(axis=1) & ~np.isnan(second).all(axis=1)
    n = {**said.n, "items": int(np.unique(grid.rows["item"].to_numpy()[both]).size)}
    return [said.of(shift, n=n, details={"arms": [str(name) for name in names]})]


def gold_spearman(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the Spearman of single readings with numeric gold."""
    grid = numbers(part)
    said = context("gold_spearman", part, question)
    golds = part.drop_duplicates("item").set_index("item")["gold"].astype(object)
    answers = grid.rows["item"].map(golds)
    if answers.isna().all():
        return [said.none("no item has a gold answer")]
    gold = pd.to_numeric(answers, errors="coerce").to_numpy(dtype=float)
    if np.isnan(gold[answers.notna().to_numpy()]).any():
        return [said.none("gold holds text, the readings are numbers")]
    scores = grid.numbers()
    found = spearman_between(scores, gold[:, None], clusters=row_clusters(grid, question))
    return [spearman_estimate(said, found, scores, grid.rows["item"])]


_score = partial(
    Statistic,
    reads=("number",),
    claims=words("score probability"),
    over=WHOLE,
    better="high",
    unit="coefficient",
    answers=(),
    defaults=frozenset(),
    told=words("score probability"),
    example=None,
    params=(),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
)

_noise = partial(
    _score,
    least_units=MIN_ITEMS,
    unit="scale units",
    covered=None,
    subject="precision",
    why_no_gate="",
)

STATISTICS = (
    _score(
        name="icc_agreement",
        compute=icc_agreement,
        kind="correlation",
        bounds=(-1.0, 1.0),
        least_units=MIN_ITEMS,
        needs=words("repeats"),
        label="absolute agreement of runs, ICC(A,1)",
        covered=Coverage("icc agreement", never),
        subject="precision",
        why_no_gate="",
    ),
    _score(
        name="ordinal_alpha",
        compute=ordinal_alpha,
        kind="plain",
        bounds=(-1.0, 1.0),
        least_units=MIN_ITEMS,
        needs=words("repeats"),
        label="Krippendorff's alpha (ordinal)",
        covered=None,
        subject="precision",
        why_no_gate="no interval of it can be trusted when readings rarely differ",
    ),
    _score(
        name="gold_spearman",
        compute=gold_spearman,
        kind="correlation",
        bounds=(-1.0, 1.0),
        least_units=MIN_ITEMS,
        needs=words("gold"),
        label="order against gold (Spearman, one reading)",
        covered=Coverage("spearman", never),
        subject="truth",
        why_no_gate="",
    ),
    _noise(
        name="noise_without_shifts",
        compute=noise_without_shifts,
        kind="positive",
        bounds=(0.0, math.inf),
        over=WHOLE,
        needs=words("repeats"),
        better="low",
        label="noise with the shifts of whole runs taken out (scale units)",
    ),
    _noise(
        name="order_effect",
        compute=order_effect,
        kind="plain",
        bounds=(-math.inf, math.inf),
        over=(*ORDERS, *WHOLE),
        needs=words("arms"),
        better="",
        label="mean shift, second order less first (scale units)",
    ),
)
