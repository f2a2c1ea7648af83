"""`luck_attrition`: what was lost by cell, and whether a factor's levels lost alike.

One share an endpoint and cell: calls without a choice of those that were planned, with its exact
interval. Beside them one estimate an endpoint, factor and level: the mean over worlds of the share
lost at that level less that at the factor's first level, with the exact sign test over worlds. A
loss that goes with the outcome or with the lesson is no random loss.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.answers import NO_MEMORY, Answers, answers_of, design_for, kind_of
from judgeaudit.analysis.luck.attrition import lost_unequally
from judgeaudit.analysis.luck.declared import Design
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import probes
from judgeaudit.stats.proportions import clopper_pearson

NAME = "luck_attrition"
ALPHA = 0.05

Floats = NDArray[np.float64]


def luck_attrition(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return shares of planned calls without a choice, by cell, and whether factors lost alike."""
    asked = probes(table)
    design = design_for(asked, question.design, question.params)
    if design is None:
        return [undefined(NAME, "no arm is a cell of a declared design")]
    answers = answers_of(asked, question.design)
    found: list[Estimate] = []
    for e, endpoint in enumerate(answers.endpoints):
        for k, cell in enumerate(answers.cells):
            found.append(_cell(answers, e, k, endpoint, cell, question))
        found += _factors(answers, design, e, endpoint)
    return found


def _cell(
    answers: Answers, e: int, k: int, endpoint: str, cell: str, question: Question
) -> Estimate:
    planned = int(answers.planned[e, k].sum())
    lost = planned - int(answers.valid[e, k].sum())
    kinds: dict[str, int] = {}
    for reason, count in answers.kinds(e, [k]).items():
        kinds[kind_of(reason)] = kinds.get(kind_of(reason), 0) + count
    interval = clopper_pearson(lost, planned, question.level)
    return Estimate(
        NAME,
        lost / planned,
        endpoint=endpoint,
        scope=cell,
        low=interval.low,
        high=interval.high,
        level=question.level,
        method=interval.method,
        cluster="world",
        target=question.target,
        n={"items": planned, "lost": lost, "lessons": kinds.get(NO_MEMORY, 0)},
        excluded=answers.kinds(e, [k]),
    )


def _factors(answers: Answers, design: Design, e: int, endpoint: str) -> Iterator[Estimate]:
    lost = (answers.planned[e] - answers.valid[e]) / np.maximum(answers.planned[e], 1)
    for factor, levels in design.factors.items():
        by_level = {level: _share(answers, lost, factor, level) for level in levels}
        there = {level: share for level, share in by_level.items() if share is not None}
        if len(there) < 2:
            continue
        first, *others = there
        for level in others:
            difference = there[level] - there[first]
            p = lost_unequally(difference)
            yield Estimate(
                f"{NAME}_by_factor",
                float(difference.mean()),
                endpoint=endpoint,
                scope=f"{factor}: {level} less {first}",
                cluster="world",
                method="exact sign test over worlds",
                n={"items": difference.size},
                details={"p": p},
                caveats=(f"lost unequally: p = {p:.3g}",) if p is not None and p <= ALPHA else (),
            )


def _share(answers: Answers, lost: Floats, factor: str, level: str) -> Floats | None:
    """Return, by world, the mean share lost over the choice cells of a level; None without any."""
    at = [
        place
        for place, cell in enumerate(answers.cells)
        if answers.spec(cell).levels.get(factor) == level and not answers.spec(cell).probe
    ]
    return lost[at].mean(axis=0) if at else None
