"""The names that a registration may use, each with what computes it and what it needs.

`compute` is the one way in: it narrows the table (`where`), leaves controls out, splits by endpoint
(endpoints are never pooled) and, where asked (`params.by`), by a column, and stamps each estimate
with its endpoint and scope. Families that ask about several endpoints at once (`OF_ALL_ENDPOINTS`)
get the whole table and do that themselves. A new analysis is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from judgeaudit.analysis import identity
from judgeaudit.analysis.agreement import (
    answers,
    groups,
    labels,
    orders,
    providers,
    repeatability,
    replay,
    scales,
)
from judgeaudit.analysis.decisions import consumers
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck import records as luck
from judgeaudit.analysis.noise import informative, measurand, rescue, sizing, spread
from judgeaudit.analysis.proven import unproven
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.time import days, trend
from judgeaudit.analysis.truth import constructed, controls, funnel, gold
from judgeaudit.errors import InputError
from judgeaudit.readings.table import META, probes, select
from judgeaudit.statistic import Statistic
from judgeaudit.stats.scaled import few_tasks

RECORDS: tuple[Statistic, ...] = (
    *labels.STATISTICS,
    *groups.STATISTICS,
    informative.INFORMATIVE_CONCORDANCE,
    *replay.STATISTICS,
    *repeatability.STATISTICS,
    *orders.STATISTICS,
    *answers.STATISTICS,
    *scales.STATISTICS,
    gold.GOLD_AGREEMENT,
    *days.STATISTICS,
    *luck.STATISTICS,
    *providers.STATISTICS,
    *constructed.STATISTICS,
    *measurand.STATISTICS,
    *consumers.STATISTICS,
    *spread.STATISTICS,
    *trend.STATISTICS,
    rescue.SAMPLING_RESCUE,
    sizing.AGGREGATION_AGREEMENT,
    *identity.STATISTICS,
    funnel.FUNNEL,
    controls.CONTROLS,
)

NAMES: dict[str, Statistic] = {record.name: record for record in RECORDS}
"""The catalogue: statistics by name."""


def statistic(name: str) -> Statistic:
    """Return the statistic called `name`; raises `InputError` naming those that are known."""
    if name not in NAMES:
        raise InputError(
            "statistic", name, "no such statistic", f"one of {', '.join(sorted(NAMES))}"
        )
    return NAMES[name]


def compute(
    name: str,
    table: pd.DataFrame,
    question: Question,
    where: Mapping[str, str] | None = None,
) -> list[Estimate]:
    """Return the estimates of one statistic: one list an endpoint, the headline of each first.

    `where` narrows the table by columns or items' meta values; `question.params["by"]` adds
    estimates for each value of a column. Raises `InputError` for a name or column that is unknown.
    """
    found = statistic(name)
    chosen = select(table, where or {})
    scope = ", ".join(f"{k}={v}" for k, v in (where or {}).items() if k != "endpoint") or "all"
    if found.whole_table:
        told = found.compute(chosen, question)
        return [one for e in told for one in _stamped(found, [e], question, e.endpoint, scope)]
    asked = probes(chosen)
    estimates: list[Estimate] = []
    for endpoint in pd.unique(asked["endpoint"]):
        part = asked[asked["endpoint"].eq(endpoint)]
        estimates += _stamped(found, found.compute(part, question), question, str(endpoint), scope)
        estimates += _by(found, part, question, str(endpoint), scope)
    return estimates


def _by(
    found: Statistic, part: pd.DataFrame, question: Question, endpoint: str, scope: str
) -> list[Estimate]:
    by = question.params.get("by")
    if by is None:
        return []
    column = str(by) if str(by) in part else f"{META}{by}"
    if column not in part:
        raise InputError("params", "by", f"no column {by!r}", "a column or an item's meta key")
    estimates = []
    for value, rows in part.groupby(column, sort=True):
        inner = f"{by}={value}" if scope == "all" else f"{scope}, {by}={value}"
        estimates += _stamped(found, found.compute(rows, question), question, endpoint, inner)
    return estimates


def _stamped(
    found: Statistic, estimates: list[Estimate], question: Question, endpoint: str, scope: str
) -> list[Estimate]:
    return [
        replace(
            _warned(found, estimate),
            endpoint=endpoint,
            over=question.over,
            params=dict(question.params),
            scope=scope
            if estimate.scope == "all"
            else estimate.scope
            if scope == "all"
            else f"{scope}, {estimate.scope}",
        )
        for estimate in estimates
    ]


def _warned(found: Statistic, estimate: Estimate) -> Estimate:
    """Return the estimate, with a caveat where its interval is not proven at this size."""
    tasks = estimate.n.get("tasks") if estimate.cluster == "task" else None
    own = estimate.analysis == found.name
    said = unproven(found.covered, estimate, tasks) if own else None
    few = few_tasks(tasks) if estimate.low is not None else ""
    return estimate.with_caveats(*(text for text in (said, few) if text))
