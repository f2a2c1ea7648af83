"""Attempts and readings as rows of their parts, and attempts back from rows.

A row is a dict of plain Python values in the schema's order, without the two digest columns. What
is written and what is read back must be equal, since row digests cover values: times stay integer
nanoseconds, float columns are floats also where a readout gave an int, and a lone surrogate, which
UTF-8 cannot hold and a reply's JSON can, becomes `?` (the body keeps it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from judgeaudit.auditlog.schema import ATTEMPT_COLUMNS, PREVIOUS, READING_COLUMNS, ROW, Column
from judgeaudit.model import Attempt, Invalid, Outcome, Reading, Responsibility, Value

Row = dict[str, Any]

_DIGESTS = (PREVIOUS, ROW)


def attempt_row(attempt: Attempt) -> Row:
    """Return an attempt's row."""
    return _typed(ATTEMPT_COLUMNS, {name: getattr(attempt, name) for name in _names()})


def attempt_of(row: Mapping[str, Any]) -> Attempt:
    """Return the attempt that a row holds."""
    values = {name: row[name] for name in _names()}
    values["outcome"] = Outcome(values["outcome"])
    if values["responsibility"] is not None:
        values["responsibility"] = Responsibility(values["responsibility"])
    return Attempt(**values)


def reading_row(reading: Reading) -> Row:
    """Return a reading's row: its call's keys, then its value or why there is none."""
    call, value = reading.call, reading.value
    keys = {c.name: getattr(call, c.name) for c in READING_COLUMNS if hasattr(call, c.name)}
    if isinstance(value, Invalid):
        told = {"status": "invalid", "reason": value.reason.value, "detail": value.detail or None}
    else:
        told = {"status": "ok", **{name: getattr(value, name) for name in Value.__slots__}}
    return _typed(READING_COLUMNS, {**keys, **told, "attempt": reading.attempt})


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield a batch's rows as they were written, digest columns included."""
    columns = {name: _values(batch.column(name)) for name in batch.schema.names}
    for position in range(batch.num_rows):
        yield {name: values[position] for name, values in columns.items()}


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    values = column.to_pylist()
    if pa.types.is_map(column.type):
        return [value if value is None else dict(value) for value in values]
    return list(values)


def _names() -> list[str]:
    return [c.name for c in ATTEMPT_COLUMNS if c.name not in _DIGESTS]


def _storable(text: str) -> str:
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _typed(columns: tuple[Column, ...], values: Mapping[str, Any]) -> Row:
    return {c.name: _plain(c, values.get(c.name)) for c in columns if c.name not in _DIGESTS}


def _plain(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if pa.types.is_floating(column.type):
        return float(value)
    if pa.types.is_string(column.type):
        return _storable(value)
    if pa.types.is_list(column.type):
        return [_storable(item) for item in value]
    if pa.types.is_map(column.type):
        return dict(sorted(value.items()))
    return value
