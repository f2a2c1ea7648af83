"""Known-answer controls: what the instrument says where the answer is known beforehand.

* `identical`, twins: two items that read the same. Counted: pairs of twins, asked at one time, with
  the same reading.
* `identical`, one item: candidates that read the same. Counted: how often the commonest answer
  came; a judge that always names one place has a place bias, or a rule for ties.
* `gold`: an answer that nobody disputes. Counted: right readings of valid ones. Where the known
  answer is a low number that is no probability, right is: below the median of the probes.

Controls enter no other estimate.
"""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.truth.gold import rightness
from judgeaudit.readings.table import META
from judgeaudit.statistic import WHOLE, Statistic
from judgeaudit.stats.proportions import clopper_pearson


def controls(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return one estimate a kind of control, endpoint and condition; none where there are none."""
    marked = table[table["control"].notna()]
    found = []
    for (kind, endpoint, condition), part in marked.groupby(
        ["control", "endpoint", "condition"], sort=True
    ):
        scope = f"control={kind}, condition={condition}"
        middle = _middle(table[table["endpoint"].eq(str(endpoint))])
        found.append(_one(str(kind), str(endpoint), scope, part, question, middle))
    return found


def _middle(part: pd.DataFrame) -> float | None:
    scores = part.loc[part["control"].isna() & part["status"].eq("ok"), "number"].dropna()
    return float(scores.median()) if len(scores) else None


def _one(
    kind: str,
    endpoint: str,
    scope: str,
    part: pd.DataFrame,
    question: Question,
    middle: float | None,
) -> Estimate:
    valid = part[part["status"].eq("ok")]
    counted, hits, total = _hits(kind, valid, middle)
    answers = {str(k): int(v) for k, v in _answers(valid).value_counts().items()}
    said = context("controls", part, question, kind=kind, counted=counted, answers=answers)
    if not total:
        return said.none("no valid reading to count", endpoint=endpoint, scope=scope)
    return said.bounded(
        hits / total,
        clopper_pearson(hits, total, question.level),
        exact=Fraction(hits, total),
        endpoint=endpoint,
        scope=scope,
        target="these probes",
        n={**said.n, "hits": hits, "of": total},
    )


def _hits(kind: str, valid: pd.DataFrame, middle: float | None) -> tuple[str, int, int]:
    """Return what is counted for a kind, how many, and of how many."""
    if kind == "gold":
        right = _right(valid, middle).dropna()
        return "readings right", int(right.sum()), len(right)
    if f"{META}twin" in valid and valid[f"{META}twin"].notna().any():
        return "twins read alike", *_twins(valid)
    counts = _answers(valid).value_counts()
    most = int(counts.iloc[0]) if len(counts) else 0
    return "readings give the commonest answer", most, int(counts.sum())


def _right(valid: pd.DataFrame, middle: float | None) -> pd.Series:
    right = rightness(valid)
    expect = valid.get(f"{META}expect")
    if expect is not None and middle is not None:
        scored = right.isna() & expect.eq("low") & valid["number"].notna()
        right[scored] = valid.loc[scored, "number"] < middle
    return right


def _twins(valid: pd.DataFrame) -> tuple[int, int]:
    keys = ["stage", "arm", "condition", "day", "window", "repeat", "draw"]
    answers = _answers(valid)
    groups = answers.groupby([valid.loc[answers.index, key] for key in keys])
    pairs = groups.agg(["size", "nunique"])
    whole = pairs[pairs["size"] == 2]
    return int((whole["nunique"] == 1).sum()), len(whole)


def _answers(valid: pd.DataFrame) -> pd.Series:
    answer = valid["label"].where(valid["number"].isna())
    answer = answer.where(answer.notna(), valid["category"])
    ranking = valid["ranking"].map(lambda r: " > ".join(r), na_action="ignore")
    answer = answer.where(answer.notna(), ranking)
    answer = answer.where(answer.notna(), valid["text"])
    return answer.where(answer.notna(), valid["number"].round(3)).dropna()


CONTROLS = Statistic(
    name="controls",
    compute=controls,
    reads=(),
    kind="plain",
    bounds=(0.0, 1.0),
    least_units=1,
    claims=frozenset(),
    over=WHOLE,
    needs=frozenset(),
    better="high",
    label="known-answer controls",
    unit="share",
    subject="instrument",
    whole_table=True,
    why_no_gate="controls check the instrument and decide nothing",
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    params=(),
    per_pair=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
)
