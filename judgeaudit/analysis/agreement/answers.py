"""Verdicts beside the flip rate: with invalid readings as answers, and Cohen's kappa.

* `..._all_answers`: flip rate, flips over orders and kappa, where a reading without a verdict
  is an answer of its own: an item that sometimes has none is no repeatable item. Two invalid
  readings are alike.
* `kappa`: Cohen's kappa of two readings over the items that have both. It takes two readings and no
  more; over more of them use alpha or AC1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from judgeaudit.analysis.agreement.orders import order_flip
from judgeaudit.analysis.agreement.repeatability import flip_rate
from judgeaudit.analysis.build import category_use, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import column_pairs, layout
from judgeaudit.analysis.pairing import PHRASES, row_clusters
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import ORDERS, PAIRS, WHOLE, Compute, Statistic, whole, words
from judgeaudit.stats.scaled import MIN_ITEMS
from judgeaudit.stats.weighted import weighted_kappa

INVALID = "(no valid reading)"


def flip_rate_all_answers(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings that differ, no valid reading being an answer too."""
    return _with_all(part, question, flip_rate, "flip_rate_all_answers")


def order_flip_all_answers(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs in two orders that differ, no valid reading being an answer too."""
    return _with_all(part, question, order_flip, "order_flip_all_answers")


def kappa_all_answers(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Cohen's kappa of two readings, no valid reading being a category too."""
    return _with_all(part, question, kappa, "kappa_all_answers")


def _with_all(
    part: pd.DataFrame, question: Question, compute: Compute, name: str
) -> list[Estimate]:
    valid = part["status"].eq("ok")
    said = context(name, part, question)
    if not valid.any():  # that nothing was answered twice is no agreement
        return [said.none("no valid verdict")]
    every = part.assign(category=part["category"].astype(object).where(valid, INVALID), status="ok")
    told = {"valid": said.n["valid"]}
    return [
        replace(e, analysis=name, n={**e.n, **told}, excluded={}) for e in compute(every, question)
    ]


def kappa(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return Cohen's kappa of two readings; `params.categories` declares how many there are."""
    grid = layout(part, arms_in_columns=question.over == "orders")
    said = context("kappa", part, question, **category_use(part["category"]))
    pairs = column_pairs(grid.columns, question.over)
    if len(pairs) != 1:
        found = f"{len(pairs)} pairs of readings {PHRASES[question.over]}"
        return [said.none(f"Cohen's kappa takes two readings; there are {found}")]
    codes, levels = grid.codes(part["category"])
    first, second = (codes[:, column] for column in pairs[0])
    both = (first >= 0) & (second >= 0)
    n = {**said.n, "items": int(np.unique(grid.rows["item"][both]).size), "pairs": int(both.sum())}
    declared = max(2, len(levels), question.whole("categories", 2))
    tasks = row_clusters(grid, question)
    return [said.of(weighted_kappa(first, second, declared, tasks=tasks), n=n)]


_answers = partial(
    Statistic,
    reads=("category",),
    claims=words("verdict choice"),
    covered=None,
    answers=(),
    subject="precision",
    defaults=frozenset(),
    told=words("verdict"),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
)

_share = partial(
    _answers,
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    better="low",
    unit="share",
    params=(),
    why_no_gate="",
)
_kappa = partial(
    _answers,
    kind="plain",
    bounds=(-1.0, 1.0),
    least_units=MIN_ITEMS,
    over=(*PAIRS, *ORDERS),
    better="high",
    unit="coefficient",
    params=(whole("categories", "how many categories were declared", 1),),
    why_no_gate="no interval of it can be trusted when flips are rare",
)

STATISTICS = (
    _share(
        name="flip_rate_all_answers",
        compute=flip_rate_all_answers,
        over=(*PAIRS, *ORDERS),
        needs=words("repeats invalid"),
        label="verdict changes, no valid verdict counted as an answer of its own",
    ),
    _share(
        name="order_flip_all_answers",
        compute=order_flip_all_answers,
        over=(*ORDERS, *WHOLE),
        needs=words("arms invalid"),
        label="verdict changes with the order, no valid verdict counted as an answer",
    ),
    _kappa(name="kappa", compute=kappa, needs=words("pair"), label="Cohen's kappa"),
    _kappa(
        name="kappa_all_answers",
        compute=kappa_all_answers,
        needs=words("pair invalid"),
        label="Cohen's kappa, no valid verdict counted as a category",
    ),
)
