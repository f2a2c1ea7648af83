"""A wide table, one column of readings a run, as a long one; and columns that look forgotten."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgeaudit.tables.cells import cell_text
from judgeaudit.tables.source import Source

_DIGITS = re.compile(r"[0-9]+")


def melted(source: Source, values: Sequence[str], value: str, across: str) -> Source:
    """Return a source whose columns `values` stand one below the other in a column `value`.

    The column `across` holds their names; every other column is repeated for each.
    """
    import pyarrow as pa

    rows, count = source.table.num_rows, len(values)
    columns: dict[str, Any] = {}
    for name in source.table.column_names:
        if name not in values:
            column = source.table.column(name)
            columns[name] = pa.chunked_array(column.chunks * count, column.type)
    arrays = [source.table.column(name) for name in values]
    if len({array.type for array in arrays}) > 1:
        arrays = [_as_text(array) for array in arrays]
    columns[value] = pa.chunked_array([chunk for array in arrays for chunk in array.chunks])
    places = pa.array(np.repeat(np.arange(count, dtype=np.int32), rows))
    columns[across] = pa.chunked_array([pa.DictionaryArray.from_arrays(places, list(values))])
    table = pa.table(columns)
    header = (*source.header, value, across)
    return replace(source, table=table, header=header, rows=rows * count, copies=count)


def _as_text(array: Any) -> Any:
    import pyarrow as pa

    return pa.chunked_array([pa.array([cell_text(v) for v in array.to_pylist()], pa.string())])


def forgotten(header: Sequence[str], values: Sequence[str], used: Sequence[str]) -> list[str]:
    """Return the columns that no one asked for and that look like further columns of values.

    They differ from one in their digits alone (`run1`, `run2`) or are its letters in another order
    (`AB`, `BA`).
    """
    shapes = {shape for name in values for shape in _shapes(name)}
    free = [name for name in header if name and name not in values and name not in used]
    return [name for name in free if shapes & set(_shapes(name))]


def _shapes(name: str) -> list[str]:
    shapes = []
    if _DIGITS.search(name):
        shapes.append(_DIGITS.sub("#", name))
    elif 1 < len(name) <= 12 and len(set(name)) > 1:
        shapes.append("".join(sorted(name)))
    return shapes
