"""Who answered, as the replies say: fingerprints and returned models, as recorded and no more.

`fingerprints` counts different fingerprints and names their status: `absent` (no reply carries
one), `stable` (one value), `churning` (several on one day), `changing` (one a day, several over
days). `models_returned` does so for the model that the reply names. Neither proves that weights are
the same: CE met a stable fingerprint with agreement .879.
"""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import WHOLE, Statistic

COUNTED = "a count of what was recorded: no interval"


def fingerprints(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the number of different fingerprints, with their status and counts by day."""
    return [_counted("fingerprints", "fingerprint", part, question)]


def models_returned(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the number of different models that replies name, with their status and counts."""
    return [_counted("models_returned", "model_returned", part, question)]


def _counted(name: str, column: str, part: pd.DataFrame, question: Question) -> Estimate:
    said = context(name, part, question)
    if column not in part:
        return said.none(f"the table has no column {column!r}")
    answered = part[part["status"].eq("ok") | part[column].notna()]
    values = answered[column]
    by_day = answered.groupby("day")[column].nunique()
    counts = {str(k): int(v) for k, v in values.value_counts().head(20).items()}
    details = {
        "status": status(values, by_day),
        "not_reported": int(values.isna().sum()),
        "by_day": {str(day): int(count) for day, count in by_day.items()},
        "counts": counts,
    }
    return said.plain(
        float(values.nunique()), COUNTED, details=details, target="these probes", cluster="item"
    )


def status(values: pd.Series, by_day: pd.Series) -> str:
    """Return the status word of a column of fingerprints."""
    if values.notna().sum() == 0:
        return "absent"
    if values.nunique() == 1:
        return "stable" if values.notna().all() else "stable where reported"
    return "churning" if by_day.max() > 1 else "changing"


_recorded = partial(
    Statistic,
    reads=(),
    kind="plain",
    bounds=(0.0, math.inf),
    least_units=0,
    claims=frozenset(),
    over=WHOLE,
    needs=frozenset(),
    better="high",
    unit="count",
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
    why_no_gate="what a reply says of itself is evidence of identity, not of measurement",
)

STATISTICS = (
    _recorded(name="fingerprints", compute=fingerprints, label="different fingerprints"),
    _recorded(name="models_returned", compute=models_returned, label="different models returned"),
)
