"""Memory luck: whether a lesson carries chance into the next decision.

`luck_contrast` computes the contrasts that a protocol declares (`declared`), with the parameters of
`claims`; `params.contrast` names one. The names of the field (`luck_carry`, `luck_harm` ...) are
those contrasts called carry, harm and so on. For each contrast there are, with these names:

* `NAME_each`: one estimate an endpoint, with its claims, p values and their Holm adjustment over
  endpoints (for *which* endpoints), and the judge's own noise on the same bytes beside it;
* `NAME_these`, `NAME_like`: the mean over these endpoints and over endpoints like these, each with
  what it is without one endpoint and without one world;
* `NAME_endpoints`: the share of endpoints whose effect is present after Holm, and which;
* `NAME_met` instead, where the contrast asks for a claim at every endpoint (`everywhere`);
* `NAME_relevant`: over relevant endpoints, where the protocol declares a rule for them.

What `pool` names bears the plain NAME, comes first and is what a gate decides on.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.answers import Answers, answers_of, design_for
from judgeaudit.analysis.luck.claims import CRITERIA, one_of, terms_of
from judgeaudit.analysis.luck.declared import Contrast, Design, chosen
from judgeaudit.analysis.luck.estimates import CONTRAST, Asked, estimates_of
from judgeaudit.analysis.luck.everywhere import met_everywhere, over_relevant, relevant_endpoints
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes

MITIGATION = "luck_mitigation"
NO_CELL = "no arm is a cell of a memory-luck study: the protocol declares no contrasts"


def luck_contrast(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return declared contrasts, signed weights over cells; `params.contrast` names one."""
    asked, design = _read(table, question)
    if design is None:
        return _nothing(CONTRAST, asked, NO_CELL)
    names = design.names
    wanted = question.params.get("contrast")
    there = f"declared: {', '.join(names)}"
    if wanted is not None and str(wanted) not in names:
        raise InputError("params", "contrast", f"no contrast {wanted!r}", there)
    if wanted is None and len(names) > 1 and terms_of(question).decides:
        raise InputError("params", "contrast", "not given: the gate must name one", there)
    answers = _answers(asked, question)
    found: list[Estimate] = []
    for name in names if wanted is None else (str(wanted),):
        found += _of(CONTRAST, chosen(design, name, question.params), answers, design, question)
    return found or _nothing(CONTRAST, asked, "the protocol declares no contrasts")


def luck_carry(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return CARRY, (p_LL - p_LU) - (p_OO - p_OU): what a lesson of luck adds."""
    return _called("luck_carry", table, question)


def luck_lesson_effect(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the lesson effect, p_LL - p_LO: the lesson's content at a fixed context."""
    return _called("luck_lesson_effect", table, question)


def luck_outcome_effect(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the outcome effect, p_Lx - p_Ox at a fixed lesson x; `params.lesson` names x."""
    return _called("luck_outcome_effect", table, question)


def luck_total(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return total luck, p_LL - p_OO: outcome and its lesson together."""
    return _called("luck_total", table, question)


def luck_harm(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return harm, p_LL - p_LU: the lesson of luck against an unrelated memory."""
    return _called("luck_harm", table, question)


def luck_protection(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return protection, p_LU - p_LO: an unrelated memory against the opposite lesson."""
    return _called("luck_protection", table, question)


def luck_mitigation(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return what a mitigation does to harm, by endpoint, and whether it meets its criterion.

    Criterion "reduction" (default): harm without it less harm with it, to be present. "negligible":
    harm with it, to be held below the margin. A gate names the mitigation (`params.stratum`) where
    there are several.
    """
    criterion = one_of(question, "criterion", CRITERIA, "reduction")
    asked, design = _read(table, question)
    if design is None or not design.called("mitigation"):
        return _nothing(MITIGATION, asked, "no cell has a mitigation (variants note, both)")
    terms, stratum = terms_of(question), question.params.get("stratum")
    scopes = list(dict.fromkeys(c.scope for c in design.called("mitigation")))
    if stratum is not None and str(stratum) not in scopes:
        there = f"name one of {', '.join(scopes)}"
        raise InputError("params", "stratum", f"{stratum!r} has no mitigation", there)
    if stratum is None and terms.decides and len(scopes) > 1:
        names = ", ".join(scopes)
        raise InputError("params", "stratum", "not given", f"the gate must name one of {names}")
    params = {**question.params, "criterion": criterion}
    contrasts = chosen(design, "mitigation", params)
    answers = _answers(asked, question)
    return _of(MITIGATION, contrasts, answers, design, question)


def _called(name: str, table: pd.DataFrame, question: Question) -> list[Estimate]:
    asked, design = _read(table, question)
    if design is None:
        return _nothing(name, asked, NO_CELL)
    short = name.removeprefix("luck_")
    contrasts = chosen(design, short, question.params)
    answers = _answers(asked, question)
    if not contrasts:
        return _nothing(name, asked, f"the protocol declares no contrast called {short!r}")
    return _of(name, contrasts, answers, design, question)


def _read(table: pd.DataFrame, question: Question) -> tuple[pd.DataFrame, Design | None]:
    asked = probes(table)
    return asked, design_for(asked, question.design, question.params)


def _answers(asked: pd.DataFrame, question: Question) -> Answers:
    keys = [question.params.get(name) for name in ("cluster", "scale")]
    cluster, scale = (None if key is None else str(key) for key in keys)
    return answers_of(asked, question.design, cluster, scale)


def _nothing(name: str, asked: pd.DataFrame, why: str) -> list[Estimate]:
    return [undefined(name, why, endpoint=str(e)) for e in pd.unique(asked["endpoint"])]


def _of(
    name: str,
    contrasts: list[Contrast],
    answers: Answers,
    design: Design,
    question: Question,
) -> list[Estimate]:
    found: list[Estimate] = []
    for contrast in contrasts:
        terms = terms_of(question, contrast.margin)
        one = Asked(name, answers, design, contrast, terms, question.target)
        parts = estimates_of(one)
        each = [e for e in parts if e.endpoint != "all"]
        if contrast.everywhere is None:
            found += parts
        else:
            # The share of endpoints claims by Holm; here every one must hold.
            found += [e for e in parts if e.analysis != f"{name}_endpoints"]
            found.append(met_everywhere(name, one.scope, each, contrast, terms))
        found += _relevant(one, each, question)
    return found


def _relevant(asked: Asked, each: list[Estimate], question: Question) -> list[Estimate]:
    """Return a contrast over relevant endpoints, where a rule for them is declared."""
    rule, contrasts = asked.design.relevant, asked.design.contrasts
    if rule is None or not each:
        return []
    (by,) = [c for c in contrasts if (c.name, c.full_scope) == (rule.contrast, rule.scope)]
    terms = terms_of(question, by.margin)
    told = estimates_of(replace(asked, name=rule.contrast, contrast=by, terms=terms))
    relevant = relevant_endpoints(rule, [e for e in told if e.endpoint != "all"], terms.alpha)
    found = [over_relevant(asked.name, each, relevant, rule)]
    if asked.contrast.everywhere is not None:
        narrowed = [e for e in each if e.endpoint in relevant]
        among = f"among {len(narrowed)} relevant endpoints: {rule.contrast} ({rule.scope})"
        found.append(
            met_everywhere(asked.name, asked.scope, narrowed, asked.contrast, asked.terms, among)
        )
    return found
