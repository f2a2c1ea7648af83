"""Somebody's table of judge outputs as normalised readings, for a supplement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from judgeaudit.readings.sheet import Coded, Long
from judgeaudit.report.supplement.tables import schema_of

COLUMNS: Mapping[str, str] = {
    "row": "Position among all rows that were read, from 0.",
    "item": "What was judged; several columns are joined by a comma.",
    "repeat": "Which run; empty where the table has one.",
    "window": "Window or day, as the table names it.",
    "order": "Order in which the candidates were shown.",
    "group": "What a best is picked from.",
    "task": "What items are nested in.",
    "gold": "The right answer, as the table has it.",
    "status": "`ok` for a value, `invalid` for none.",
    "reason": "Why there is no value; null where there is one.",
}
VALUES: Mapping[str, tuple[str, str, pa.DataType]] = {
    "score": ("number", "The score; null where it is no number.", pa.float64()),
    "probability": ("number", "The probability, in [0, 1].", pa.float64()),
    "verdict": ("category", "The verdict, as the table has it.", pa.string()),
    "ranking": ("ranking", "Candidates, best first.", pa.list_(pa.string())),
}
"""Name, sentence and type of the value column, by the kind of the table."""

_SETS = (
    ("by", "by", "Column {name!r}, by which the table is split."),
    ("declared", "declared", "Column {name!r}, in which repeats of an item must not differ."),
    ("calls", "call", "Column {name!r}, which tells calls apart."),
)


def readings_table(long: Long) -> pa.Table:
    """Return one row a row of the source, in its order; what was invalid keeps its reason."""
    valid = long.reason.codes < 0
    columns: dict[str, pa.Array] = {
        "row": pa.array(np.arange(long.rows)),
        "item": _texts(long.item),
        "repeat": _texts(long.run),
    }
    for name in ("window", "order", "group", "task", "gold"):
        if (column := getattr(long, name)) is not None:
            columns[name] = _texts(column)
    columns["status"] = pa.array(np.where(valid, "ok", "invalid"))
    columns["reason"] = _texts(long.reason)
    sentences = {name: COLUMNS[name] for name in columns}
    name, sentence, kind = VALUES[long.kind]
    columns[name] = _values(long, valid, kind)
    sentences[name] = sentence
    for attribute, prefix, template in _SETS:
        for name, column in getattr(long, attribute).items():
            columns[f"{prefix}.{name}"] = _texts(column)
            sentences[f"{prefix}.{name}"] = template.format(name=name)
    types = {name: column.type for name, column in columns.items()}
    return pa.table(list(columns.values()), schema=schema_of(sentences, types))


def _values(
    long: Long, valid: np.ndarray[tuple[int], np.dtype[np.bool_]], kind: pa.DataType
) -> pa.Array:
    if long.values is not None:
        return pa.array(long.values, kind, mask=~valid)
    assert long.answers is not None
    if long.kind == "ranking":
        lists = pa.array([list(label) for label in long.answers.labels], kind)
        return _take(lists, np.where(valid, long.answers.codes, -1))
    return _texts(
        Coded(np.where(valid, long.answers.codes, -1).astype(np.int32), long.answers.labels)
    )


def _texts(column: Coded) -> pa.Array:
    labels: Sequence[object] = column.labels
    return _take(pa.array([str(label) for label in labels], pa.string()), column.codes)


def _take(labels: pa.Array, codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> pa.Array:
    return labels.take(pa.array(codes, mask=codes < 0))
