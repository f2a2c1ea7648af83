"""Does a mitigation keep luck out of the next decision? Held against one criterion, everywhere.

Harm is p_LL - p_LU (see `luck_contrasts`). For each mitigation of a case there are

* criterion "reduction" (default): harm without it less harm with it. Where no unrelated memory was
  asked under the mitigation, the one without serves both, and the reduction is p_LL - p_LL.note.
* criterion "negligible": harm with it, to be held below the margin.

A registration names the criterion (`params.criterion`) and the mitigation (`params.stratum`, e.g.
"unlucky.note-w"). It is met only where it is met at every endpoint: each is tested at alpha without
correction (intersection-union), and the p value of "at every endpoint" is the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pandas as pd

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.cells import Answers, Stratum, answers_of
from judgeaudit.analysis.luck.claims import Terms, one_of, terms_of
from judgeaudit.analysis.luck.contrasts import Contrast
from judgeaudit.analysis.luck.estimates import estimates_of
from judgeaudit.analysis.luck.pool import TARGETS
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes
from judgeaudit.stats.multiplicity import intersection_union

NAME = "luck_mitigation"
CRITERIA = ("reduction", "negligible")


def luck_mitigation(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return what a mitigation does to harm, by endpoint, and whether it meets its criterion."""
    asked = probes(table)
    terms = terms_of(question)
    criterion = one_of(question, "criterion", CRITERIA, "reduction")
    answers = answers_of(asked)
    found: list[Estimate] = []
    for stratum in _mitigated(answers, terms):
        contrast = mitigation_contrast(answers, stratum, criterion)
        parts = estimates_of(NAME, answers, contrast, terms, question.target)
        each = [e for e in parts if e.endpoint != "all"]
        # The share of endpoints that `estimates_of` adds claims by Holm; here every one must hold.
        kept = [e for e in parts if e.analysis != f"{NAME}_endpoints"]
        found += [*kept, met_everywhere(each, contrast, criterion, terms)]
    if not found:
        why = "no cell has a mitigation (variants note, both)"
        return [undefined(NAME, why, endpoint=str(e)) for e in pd.unique(asked["endpoint"])]
    return found


def _mitigated(answers: Answers, terms: Terms) -> list[Stratum]:
    there = [s for s in answers.strata if s.mitigations]
    if terms.stratum is not None:
        if not terms.stratum.mitigations:
            found = f"{terms.stratum.name!r} has no mitigation"
            raise InputError("params", "stratum", found, 'name one, e.g. "unlucky.note-w"')
        return [terms.stratum]
    if terms.decides and len(there) > 1:
        names = ", ".join(stratum.name for stratum in there)
        raise InputError("params", "stratum", "not given", f"the gate must name one of {names}")
    return there


def mitigation_contrast(answers: Answers, stratum: Stratum, criterion: str) -> Contrast:
    """Return the contrast that a criterion asks of a mitigation."""
    own, plain = stratum.cell("LU"), stratum.plain.cell("LU")
    run = answers.index(own) is not None
    note = "" if run else f"{plain.name} stands in for {own.name}, which was not run"
    with_it = (stratum.cell("LL"), own if run else plain)
    without = (stratum.plain.cell("LL"), plain)
    scope = f"{stratum.name}, criterion={criterion}"
    if criterion == "negligible":
        return Contrast(NAME, scope, with_it, note)
    if run:
        return Contrast(NAME, scope, (*without, *with_it))
    return Contrast(NAME, scope, (without[0], with_it[0]), note)


def met_everywhere(
    each: Sequence[Estimate], contrast: Contrast, criterion: str, terms: Terms
) -> Estimate:
    """Return the share of endpoints at which the criterion is met; 1 is "at every endpoint"."""
    claim = "present" if criterion == "reduction" else "negligible"
    p = [_p(e, claim) for e in each]
    met = [e.endpoint for e, value in zip(each, p, strict=True) if value <= terms.alpha]
    common = {"scope": contrast.scope, "level": terms.level, "cluster": "endpoint"}
    if not each:
        return undefined(f"{NAME}_met", "no endpoint has an estimate", **common)
    return replace(
        Estimate(f"{NAME}_met", len(met) / len(each), **common),  # type: ignore[arg-type]
        exact=Fraction(len(met), len(each)),
        method="intersection-union",
        target=TARGETS["these"],
        n={"endpoints": len(each), "met": len(met)},
        caveats=("a count of endpoints, without an interval",),
        details={
            "met_at_every_endpoint": len(met) == len(each),
            "p_everywhere": intersection_union(p),
            "met": met,
            "not_met": [e.endpoint for e in each if e.endpoint not in met],
            "criterion": criterion,
            "alpha": terms.alpha,
            "margin": terms.margin,
        },
    )


def _p(estimate: Estimate, claim: str) -> float:
    p = estimate.details.get(f"p_{claim}", 1.0)
    return p if isinstance(p, float) else 1.0
