"""Coverage against conversion (CACC): whether an answer came, could be read, was right.

Stages are nested: planned, answered (a reply came), read (a valid reading), right (equals gold,
where there is gold). Each is a share of the one before; the share of all is in the details.
"""

from __future__ import annotations

import pandas as pd

from judgeaudit.analysis.agreement.labels import UNDELIVERED, share_of_rows
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.truth.gold import has_gold, rightness
from judgeaudit.statistic import WHOLE, Statistic


def funnel(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return each stage as a share of the stage before: answered, read, right."""
    answered = ~part["reason"].isin(UNDELIVERED)
    read = part["status"].eq("ok")
    stages = [("answered", answered, part), ("read", read[answered], part[answered])]
    judged = part[read & has_gold(part)]
    if len(judged):
        stages.append(("right", rightness(judged).fillna(False).astype(bool), judged))
    found = []
    for name, hits, rows in stages:
        said = context("funnel", part, question, stage=name)
        scope = f"stage={name}"
        if not len(rows):
            found.append(said.none("nothing reached this stage", scope=scope))
            continue
        estimate = share_of_rows(hits, rows, said, question, "rows", len(rows))
        of_all = int(hits.sum()) / len(part)
        found.append(estimate.with_details(of_all=of_all).in_scope(scope))
    return found


FUNNEL = Statistic(
    name="funnel",
    compute=funnel,
    reads=(),
    kind="plain",
    bounds=(0.0, 1.0),
    least_units=2,
    claims=frozenset(),
    over=WHOLE,
    needs=frozenset(),
    better="high",
    label="calls answered, read, right",
    unit="share",
    subject="instrument",
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    params=(),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)
