"""Memory luck: whether a lesson carries chance into the next decision.

The statistics are the contrasts of `luck_contrasts` over the cells of `luck_cells`, with the
parameters of `luck_claims`. For each stratum and contrast there are, with these names:

* `NAME_each`: one estimate an endpoint, with its claims, p values and their Holm adjustment over
  endpoints (for *which* endpoints), and the judge's own noise on the same bytes beside it;
* `NAME_these`, `NAME_like`: the mean over these endpoints and over endpoints like these, each with
  what it is without one endpoint and without one world;
* `NAME_endpoints`: the share of endpoints whose effect is present after Holm, and which.

What `pool` names bears the plain NAME, comes first and is what a gate decides on. Where the log
does not state that runs are independent a reaction may be reasonable: `dep` is descriptive.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.cells import LUCK, Answers, Cell, Stratum, answers_of
from judgeaudit.analysis.luck.claims import terms_of
from judgeaudit.analysis.luck.contrasts import Contrast
from judgeaudit.analysis.luck.estimates import estimates_of
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes

ROLES = {
    "luck_lesson_effect": ("LL", "LO"),
    "luck_total": ("LL", "OO"),
    "luck_harm": ("LL", "LU"),
    "luck_protection": ("LU", "LO"),
    "luck_carry": ("LL", "LU", "OO", "OU"),
}
LESSONS = "FSUDN"
OUTCOME = "luck_outcome_effect"
NO_CELL = "no arm is a cell of a memory-luck study (CASE.OUTCOMELESSON, e.g. unlucky.FF)"


def luck_carry(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return CARRY, (p_LL - p_LU) - (p_OO - p_OU): what a lesson of luck adds."""
    return _statistic("luck_carry", table, question)


def luck_lesson_effect(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the lesson effect, p_LL - p_LO: the lesson's content at a fixed context."""
    return _statistic("luck_lesson_effect", table, question)


def luck_outcome_effect(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the outcome effect, p_Lx - p_Ox at a fixed lesson x; `params.lesson` names x."""
    return _statistic(OUTCOME, table, question)


def luck_total(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return total luck, p_LL - p_OO: outcome and its lesson together."""
    return _statistic("luck_total", table, question)


def luck_harm(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return harm, p_LL - p_LU: the lesson of luck against an unrelated memory."""
    return _statistic("luck_harm", table, question)


def luck_protection(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return protection, p_LU - p_LO: an unrelated memory against the opposite lesson."""
    return _statistic("luck_protection", table, question)


def _statistic(name: str, table: pd.DataFrame, question: Question) -> list[Estimate]:
    asked = probes(table)
    terms = terms_of(question)
    answers = answers_of(asked)
    if not answers.cells:
        return [undefined(name, NO_CELL, endpoint=str(e)) for e in pd.unique(asked["endpoint"])]
    found: list[Estimate] = []
    for contrast in contrasts(name, answers, terms.stratum, question):
        found += estimates_of(name, answers, contrast, terms, question.target)
    return found


def contrasts(
    name: str, answers: Answers, wanted: Stratum | None, question: Question
) -> list[Contrast]:
    """Return the contrasts of a statistic, the one that decides first.

    The others are those whose cells were all run, except of a stratum that is asked for alone.
    """
    first = wanted or Stratum()
    others = [] if wanted else [s for s in answers.strata if s != first]
    if name == OUTCOME:
        lesson = question.params.get("lesson")
        found = [c for s in (first, *others) for c in outcome_contrasts(s, lesson)]
    else:
        found = [Contrast(name, s.name, _cells(s, ROLES[name])) for s in (first, *others)]
    run = [c for c in found if all(answers.index(cell) is not None for cell in c.cells)]
    return [found[0], *(c for c in run if c != found[0])]


def _cells(stratum: Stratum, roles: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(stratum.cell(role) for role in roles)


def outcome_contrasts(stratum: Stratum, lesson: object = None) -> list[Contrast]:
    """Return p_Lx - p_Ox for each lesson x, the lesson of luck first."""
    luck = LUCK[stratum.case]
    if lesson is not None and str(lesson) not in LESSONS:
        raise InputError("params", "lesson", repr(lesson), f"one of {', '.join(LESSONS)}")
    letters = [luck, *(x for x in LESSONS if x != luck)] if lesson is None else [str(lesson)]
    return [
        Contrast(OUTCOME, f"{stratum.name}, lesson={x}", _cells(stratum, ("L" + x, "O" + x)))
        for x in letters
    ]
