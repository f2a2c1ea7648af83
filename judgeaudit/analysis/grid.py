"""One endpoint's readings laid out as rows x columns, and the pairs of columns that are compared.

A row is what was asked with the same bytes: an item in one arm (at one stage). A column is one
time of asking: condition, day, window, repeat, draw. Over `orders` the arm moves from the row to
the column, so that two arms of one item stand in one row. A cell holds a position in the table,
or -1 where nothing was planned.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.question import Over

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ROW = ("stage", "item", "arm")
COLUMN = ("condition", "day", "window", "repeat", "draw")


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of one endpoint's readings.

    `rows` and `columns` are frames of keys, one line a row or column of `index` (rows x columns),
    whose entries are positions in `part`, -1 where nothing was planned.
    """

    part: pd.DataFrame
    rows: pd.DataFrame
    columns: pd.DataFrame
    index: Ints

    @property
    def planned(self) -> Bools:
        """Cells where a call was planned."""
        return np.asarray(self.index >= 0)

    @property
    def valid(self) -> Bools:
        """Cells with a valid reading."""
        ok = np.append(self.part["status"].eq("ok").to_numpy(), False)
        return np.asarray(ok[self.index])

    def numbers(self, column: str = "number") -> Floats:
        """Return a numeric column as rows x columns, nan where there is no valid reading."""
        values = np.append(self.part[column].to_numpy(dtype=float), np.nan)
        return np.where(self.valid, values[self.index], np.nan)

    def codes(self, values: pd.Series) -> tuple[Ints, list[object]]:
        """Return a column as whole codes (-1 without a valid reading) and what they stand for."""
        found, levels = pd.factorize(values, sort=False)
        cells = np.append(found, -1)[self.index]
        return np.where(self.valid, cells, -1).astype(np.int64), list(levels)

    def clusters(self, name: str) -> Ints:
        """Return one code a row: `item`, `task` or `group` (world is the task)."""
        key = {"world": "task", "window": "item"}.get(name, name)
        return np.asarray(pd.factorize(self.rows[key])[0], dtype=np.int64)


def layout(part: pd.DataFrame, *, arms_in_columns: bool = False) -> Grid:
    """Return the grid of one endpoint's rows of the table."""
    row_keys = [key for key in ROW if not (arms_in_columns and key == "arm")]
    column_keys = [*COLUMN, *(["arm"] if arms_in_columns else [])]
    # Windows keep their order in time: by day, then as the table first names them.
    order = {window: place for place, window in enumerate(pd.unique(part["window"]))}
    row_codes, rows = _coded(part, row_keys, ["group", "task"])
    column_codes, columns = _coded(part, column_keys, [])
    index = np.full((len(rows), len(columns)), -1, dtype=np.int64)
    index[row_codes, column_codes] = np.arange(len(part))
    place = columns["window"].map(order).to_numpy()
    later = [columns[key].to_numpy() for key in ("day", "condition")]
    by_time = np.lexsort([*(columns[key].to_numpy() for key in ("draw", "repeat")), place, *later])
    sorted_columns = columns.iloc[by_time].reset_index(drop=True)
    return Grid(part, rows, sorted_columns, index[:, by_time])


def _coded(part: pd.DataFrame, keys: list[str], also: list[str]) -> tuple[Ints, pd.DataFrame]:
    """Return one code a row for its keys, in order of appearance, and each code's keys as text."""
    joint = np.zeros(len(part), dtype=np.int64)
    for key in keys:
        codes, levels = _codes_of(part[key])
        if levels > 1 and not (codes == codes[0]).all():
            joint = joint * levels + codes
            joint = pd.factorize(joint)[0].astype(np.int64)
    codes = pd.factorize(joint)[0].astype(np.int64)
    first = np.unique(codes, return_index=True)[1]
    found = part.iloc[first][keys + also].reset_index(drop=True)
    for name in found.columns[found.dtypes.eq("category")]:
        found[name] = found[name].astype(object)
    return codes, found


def _codes_of(values: pd.Series) -> tuple[Ints, int]:
    """Return one code a row, none of them below 0, and how many codes there may be."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy().astype(np.int64) + 1, len(values.cat.categories) + 1
    codes, levels = pd.factorize(values, use_na_sentinel=False)
    return codes.astype(np.int64), len(levels)


def column_pairs(columns: pd.DataFrame, over: Over) -> list[tuple[int, int]]:
    """Return the pairs of columns that `over` compares, earlier column first."""
    found = []
    facets = columns.to_dict("records")
    for a, b in combinations(range(len(facets)), 2):
        if _compared(facets[a], facets[b], over):
            found.append((a, b))
    return found


def _compared(a: dict[Any, Any], b: dict[Any, Any], over: Over) -> bool:
    same = {key: bool(a[key] == b[key]) for key in a}
    moment = same["window"] and same["repeat"] and same["draw"]
    if over == "conditions":
        return not same["condition"] and moment and same.get("arm", True)
    if not same["condition"]:
        return False
    if over == "orders":
        return not same["arm"] and moment
    if over in ("all", "same_window"):
        return over == "all" or same["window"]
    if same["window"]:
        return False
    if over == "windows":
        return True
    if not int(a["day"]) or not int(b["day"]):
        return False  # nothing says on which day a window was
    apart = abs(int(a["day"]) - int(b["day"]))
    return {"windows_same_day": apart == 0, "next_day": apart == 1, "other_day": apart > 0}[over]
