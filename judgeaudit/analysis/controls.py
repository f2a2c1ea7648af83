"""Known-answer controls: what the instrument says where the answer is known beforehand.

* `identical`: two candidates with the same text. A verdict that prefers one tells of position, a
  score or ranking of nothing. Counted: how often each answer came.
* `gold`: an item whose answer nobody disputes. Counted: right answers of valid ones.
* `echo`: a loopback reply of one frozen body. Counted: valid ones.

Controls enter no other estimate.
"""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.gold import rightness
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.stats.proportions import clopper_pearson


def controls(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return one estimate a kind of control, endpoint and condition; none where there are none."""
    marked = table[table["control"].notna()]
    found = []
    for (kind, endpoint, condition), part in marked.groupby(
        ["control", "endpoint", "condition"], sort=True
    ):
        scope = f"control={kind}, condition={condition}"
        found.append(_one(str(kind), str(endpoint), scope, part, question))
    return found


def _one(kind: str, endpoint: str, scope: str, part: pd.DataFrame, question: Question) -> Estimate:
    valid = part[part["status"].eq("ok")]
    hits, total = _hits(kind, part, valid)
    answers = {str(k): int(v) for k, v in _answers(valid).value_counts().items()}
    said = context("controls", part, question, kind=kind, answers=answers)
    if not total:
        return said.none("no valid reading", endpoint=endpoint, scope=scope)
    return said.bounded(
        hits / total,
        clopper_pearson(hits, total, question.level),
        exact=Fraction(hits, total),
        endpoint=endpoint,
        scope=scope,
        target="these probes",
        n={**said.n, "hits": hits, "of": total},
    )


def _hits(kind: str, part: pd.DataFrame, valid: pd.DataFrame) -> tuple[int, int]:
    """Return what counts for a kind: right answers of valid, ties of valid, valid of planned."""
    if kind == "gold":
        right = rightness(valid).dropna()
        return int(right.sum()), len(right)
    if kind == "identical" and valid["gold"].notna().any():
        right = rightness(valid).dropna()
        return int(right.sum()), len(right)
    return len(valid), len(part)


def _answers(valid: pd.DataFrame) -> pd.Series:
    answer = valid["category"].where(valid["category"].notna(), valid["label"])
    first = valid["ranking"].map(lambda r: r[0] if isinstance(r, tuple) and r else None)
    answer = answer.where(answer.notna(), first)
    return answer.where(answer.notna(), valid["number"].round(3)).dropna()
