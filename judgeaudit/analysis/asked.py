"""One analysis of a table: over each comparison that the table holds, in each condition.

Rules of this module, for a registered analysis and for a table alike:

* A comparison is held if the table has a planned pair of readings for it, valid or not. Where days
  are known, windows are compared by their days; where not, as windows. `other_day` is left out if
  every two days are neighbours: it is `next_day` then.
* Conditions are never pooled: where there are several, each has its own estimates, but for the
  comparison of conditions.
* Each held comparison, condition and endpoint gives its estimate, with a value or a reason. Where
  none is held, the first that the statistic knows gives the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from judgeaudit.analysis.catalogue import compute, statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import COLUMN, column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import probes, select
from judgeaudit.statistic import Over, Statistic

Held = Mapping[Over, tuple[tuple[int, int], ...]]


def asked(
    name: str,
    table: pd.DataFrame,
    question: Question,
    where: Mapping[str, str] | None = None,
    overs: tuple[Over, ...] | None = None,
    pairs: Held | None = None,
) -> list[Estimate]:
    """Return the estimates of one analysis; `overs` are the comparisons wanted, else those held.

    `pairs` is what `held` says of the table, where somebody knows it already.
    """
    narrow = dict(where or {})
    chosen = select(table, narrow)
    found = statistic(name)
    conditions = [str(one) for one in pd.unique(chosen["condition"])]
    estimates: list[Estimate] = []
    wanted = overs or told_over(found, held(chosen) if pairs is None else pairs)
    for over in wanted:
        split = len(conditions) > 1 and over != "conditions"
        for place in [{"condition": one} for one in conditions] if split else [{}]:
            told = compute(name, table, question.over_pairs(over), narrow | place)
            estimates += [replace(e, scope=_scope(over, question, e.scope)) for e in told]
    return estimates


def held(table: pd.DataFrame) -> Held:
    """Return the comparisons that a table's planned readings hold, with their pairs of columns."""
    asked_of = probes(table)
    if not len(asked_of):
        return {}
    # Endpoints may have windows of their own; what any of them holds, the table holds.
    times = asked_of.drop_duplicates([*COLUMN, "arm"]).assign(item="one", stage=1)
    single = layout(times.drop_duplicates(list(COLUMN)).assign(arm="-"))
    both = layout(times, arms_in_columns=True)
    found = {over: tuple(column_pairs(single.columns, over)) for over in ONE_ARM}
    found["orders"] = tuple(column_pairs(both.columns, "orders"))
    return {over: pairs for over, pairs in found.items() if pairs}


ONE_ARM: tuple[Over, ...] = (
    "all",
    "same_window",
    "windows",
    "windows_same_day",
    "next_day",
    "other_day",
    "conditions",
)


def told_over(found: Statistic, pairs: Held) -> tuple[Over, ...]:
    """Return the comparisons that say different things: not `all` where there are finer ones."""
    if "gold" in found.over:
        return ("gold",)
    if found.over[0] == "orders" or set(found.over) <= {"all", "same_window"}:
        return found.over[:1]
    days = {"windows_same_day", "next_day", "other_day"} & set(pairs)
    skipped = {"all", "windows"} if days else {"all"}
    if pairs.get("next_day") == pairs.get("other_day"):
        skipped.add("other_day")
    told = tuple(over for over in found.over if over in pairs and over not in skipped)
    return told or found.over[:1]


def _scope(over: Over, question: Question, scope: str) -> str:
    params = [f"{name}={value}" for name, value in question.params.items() if name != "by"]
    parts = [*([] if over == "all" else [f"over={over}"]), *params]
    return ", ".join([*parts, *([] if scope == "all" else [scope])]) or "all"
