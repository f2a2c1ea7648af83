"""What a table of rankings tells: the same permutation, the same first, the same pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.analysis.agreement.replay import ranking_exact, ranking_pairwise, ranking_top1
from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Over
from judgeaudit.readings.sheet import Coded, Ints, Sheet
from judgeaudit.readings.table import checked

METRICS = (ranking_exact, ranking_top1, ranking_pairwise)


def estimates(
    sheet: Sheet, said: Context, gap: float | None, pass_at: float | None
) -> tuple[list[Estimate], dict[str, Any]]:
    """Return agreement of rankings at three granularities, within and between windows."""
    table = _table(sheet)
    cluster = said.question.cluster if sheet.long.task is None else "task"
    overs: list[Over] = ["same_window"]
    if np.unique(sheet.windows).size > 1:
        overs.append("windows_same_day")
    found = []
    for over in overs:
        question = replace(said.question, over=over, cluster=cluster)
        suffix = "" if over == "same_window" else "_across_windows"
        for metric in METRICS:
            for estimate in metric(table, question):
                found.append(replace(estimate, analysis=f"{estimate.analysis}{suffix}"))
    return found, {}


def _table(sheet: Sheet) -> pd.DataFrame:
    long = sheet.long
    assert long.answers is not None
    items, columns = np.nonzero(sheet.index >= 0)
    rows = sheet.index[items, columns]
    answers = [
        long.answers.labels[code] if code >= 0 and ok < 0 else None
        for code, ok in zip(long.answers.codes[rows], long.reason.codes[rows], strict=True)
    ]
    valid = np.array([answer is not None for answer in answers], dtype=bool)
    reasons = [None if ok else long.reason.label(row) for ok, row in zip(valid, rows, strict=True)]
    return checked(
        pd.DataFrame(
            {
                "item": [str(long.item.labels[code]) for code in sheet.items[items]],
                "task": _labels(sheet, long.task, items),
                "window": [str(code) for code in sheet.windows[columns]],
                "arm": [str(code) for code in sheet.orders[columns]],
                "repeat": sheet.runs[columns],
                "status": np.where(valid, "ok", "invalid"),
                "reason": pd.Series(reasons, dtype=object),
                "ranking": pd.Series(answers, dtype=object),
            }
        )
    )


def _labels(sheet: Sheet, column: Coded | None, items: Ints) -> pd.Series:
    codes = sheet.per_item(column)
    if codes is None:
        return pd.Series([None] * items.size, dtype=object)
    return pd.Series([f"task-{codes[item]}" for item in items], dtype=object)
