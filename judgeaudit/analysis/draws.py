"""Several draws make one reading, as registered: aggregation belongs to the measurement.

* `[unit] k` draws of one request are joined by `aggregate`: "mean" of numbers, "borda" (mean place)
  or "median_rank" (median place) of rankings, "majority" of categories. Every draw stays in the
  sealed readings; only the table that statistics read holds the aggregate.
* No draw is dropped: where one of the k is invalid or not there, the aggregate is invalid, with
  that draw's reason.
* Ties: "invalid" makes the aggregate invalid (`stopped_by_rule`). "first" and "average" give a tied
  place to the candidate whose id sorts first, a tied majority to the category drawn first; numbers
  never tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.errors import InputError
from judgeaudit.model import Reason
from judgeaudit.readings.table import KEY

Join = Callable[[Sequence[Any]], tuple[Any, bool]]
"""From valid values in the order of their draws to the aggregate, and whether a tie was broken."""


def aggregated(table: pd.DataFrame, k: int, aggregate: str, ties: str) -> pd.DataFrame:
    """Return the table with one row for every k draws; as it is where k = 1.

    Raises `InputError` for an aggregate that does not fit the readings.
    """
    if k == 1 or aggregate == "none":
        return table
    column, join = _joined_by(aggregate)
    drawn = table[table["control"].isna()]
    if drawn["status"].eq("ok").any() and not drawn[column].notna().any():
        raise InputError(
            "registration.toml",
            "unit.aggregate",
            f"{aggregate!r} takes a {column}, and no reading has one",
            "name the aggregate of this readout",
        )
    keys = [key for key in KEY if key != "draw"]
    rows = []
    for _, draws in table.sort_values("draw").groupby(keys, sort=False, dropna=False):
        row = draws.iloc[0].to_dict() | {"draw": 0}
        # Controls are asked once in every window, whatever k is.
        needed = 1 if row["control"] is not None and pd.notna(row["control"]) else k
        rows.append(row | _reading(draws, needed, column, join, ties))
    return pd.DataFrame(rows, columns=table.columns)


def _reading(draws: pd.DataFrame, k: int, column: str, join: Join, ties: str) -> dict[str, Any]:
    if k == 1:
        return {}
    invalid = draws[draws["status"].eq("invalid")]
    if len(invalid):
        return _invalid(str(invalid["reason"].iloc[0]), column)
    if len(draws) < k:
        return _invalid(Reason.NO_REPLY.value, column)
    value, tied = join(draws[column].tolist())
    if tied and ties == "invalid":
        return _invalid(Reason.STOPPED_BY_RULE.value, column)
    return {column: value}


def _invalid(reason: str, column: str) -> dict[str, Any]:
    empty = float("nan") if column == "number" else None
    return {"status": "invalid", "reason": reason, column: empty}


def _joined_by(aggregate: str) -> tuple[str, Join]:
    known: dict[str, tuple[str, Join]] = {
        "mean": ("number", _mean),
        "borda": ("ranking", lambda values: _ranking(values, np.mean)),
        "median_rank": ("ranking", lambda values: _ranking(values, np.median)),
        "majority": ("category", _majority),
    }
    return known[aggregate]


def _mean(values: Sequence[Any]) -> tuple[Any, bool]:
    return float(np.mean(values)), False


def _majority(values: Sequence[Any]) -> tuple[Any, bool]:
    counts = Counter(values)  # keeps the order of first occurrence
    most = max(counts.values())
    leading = [value for value, count in counts.items() if count == most]
    return leading[0], len(leading) > 1


def _ranking(values: Sequence[Any], middle: Callable[..., Any]) -> tuple[Any, bool]:
    ids = sorted(values[0])
    places = np.array([[ranking.index(name) for name in ids] for ranking in values])
    score = np.asarray(middle(places, axis=0), dtype=float)
    order = np.argsort(score, kind="stable")
    tied = bool(np.unique(score).size < score.size)
    return tuple(ids[position] for position in order), tied
