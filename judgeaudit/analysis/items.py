"""Which items flip, and how: from what to what, how often.

One row for each item (in one arm, at one endpoint, in one condition, over one comparison) and each
change of its answer, with `times` out of the item's `pairs` of readings that were compared; an item
that never changed has one row without a change. A pair goes from the earlier reading to the later.
Summed over an item's changes `times / pairs` is its share of unlike pairs, whose mean over the rows
of a comparison is the flip rate.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.readings.table import probes
from judgeaudit.statistic import Over

COLUMNS: Mapping[str, str] = {
    "endpoint": "The endpoint that was asked.",
    "condition": "The condition of measurement.",
    "item": "The item that was judged.",
    "arm": "The way in which the item was asked.",
    "over": "Which pairs of readings are compared.",
    "readings": "Planned readings of the item.",
    "valid": "Readings with an answer.",
    "pairs": "Pairs of readings with two answers that were compared.",
    "from": "The earlier answer, as text; null where no pair changed.",
    "to": "The later answer, as text; null where no pair changed.",
    "times": "Pairs that changed from the one to the other; 0 for an item that never did.",
}


def items_frame(table: pd.DataFrame, over: Over = "all") -> pd.DataFrame:
    """Return the changes of every item's answer over a comparison, columns as in `COLUMNS`."""
    asked = probes(table)
    found = []
    for (endpoint, condition), part in asked.groupby(
        ["endpoint", "condition"], sort=False, observed=True
    ):
        told = _changes(layout(part), over)
        found.append(told.assign(endpoint=str(endpoint), condition=str(condition), over=over))
    frame = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(COLUMNS))
    return frame[list(COLUMNS)]


def _changes(grid: Grid, over: Over) -> pd.DataFrame:
    answers = _answers(grid.part)
    codes, levels = grid.codes(answers)
    size, rows = max(1, len(levels)), len(grid.rows)
    pairs = np.zeros(rows, dtype=np.int64)
    changed = []
    for a, b in column_pairs(grid.columns, over):
        both = np.flatnonzero((codes[:, a] >= 0) & (codes[:, b] >= 0))
        pairs[both] += 1
        unlike = both[codes[both, a] != codes[both, b]]
        changed.append((unlike * size + codes[unlike, a]) * size + codes[unlike, b])
    keys, times = np.unique(
        np.concatenate(changed) if changed else np.zeros(0, dtype=np.int64), return_counts=True
    )
    row, first, second = keys // size**2, keys // size % size, keys % size
    never = np.setdiff1d(np.arange(rows), row)
    where = np.concatenate([row, never])
    names = np.array([*map(_text, levels), None], dtype=object)
    blank = np.full(never.size, len(levels))
    frame = pd.DataFrame(
        {
            "item": grid.rows["item"].to_numpy(dtype=object)[where],
            "arm": grid.rows["arm"].to_numpy(dtype=object)[where],
            "readings": grid.planned.sum(axis=1)[where],
            "valid": grid.valid.sum(axis=1)[where],
            "pairs": pairs[where],
            "from": names[np.concatenate([first, blank]).astype(np.int64)],
            "to": names[np.concatenate([second, blank]).astype(np.int64)],
            "times": np.concatenate([times, np.zeros(never.size, dtype=np.int64)]),
        }
    )
    return frame.iloc[np.argsort(where, kind="stable")].reset_index(drop=True)


def _answers(part: pd.DataFrame) -> pd.Series:
    """Return the value column that the readings fill: the first with any value."""
    for name in ("ranking", "category", "number", "label", "text"):
        if part[name].notna().any():
            return part[name]
    return part["text"]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " > ".join(map(str, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)
