"""Attempts and readings as rows of their parts, and attempts back from rows.

A row is a dict of plain Python values in the schema's order, without the two digest columns. What
is written and what is read back must be equal, since row digests cover values: times stay integer
nanoseconds, float columns are floats also where a readout gave an int, and a lone surrogate, which
UTF-8 cannot hold and a reply's JSON can, becomes `?` (the body keeps it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from judgeaudit.evidence.formats.spec import Column, LogFormat
from judgeaudit.evidence.log.schema import PREVIOUS, ROW
from judgeaudit.model import Attempt, Invalid, Outcome, PlannedCall, Reading, Responsibility, Value

Row = dict[str, Any]

Converter = Callable[[Any], Any]


def attempt_row(attempt: Attempt, log: LogFormat) -> Row:
    """Return an attempt's row."""
    known = _converters(log.attempts)
    return _typed(known, {name: getattr(attempt, name) for name in known})


def attempt_of(row: Mapping[str, Any]) -> Attempt:
    """Return the attempt that a row holds."""
    values = {name: row[name] for name in Attempt.__slots__ if name in row}
    values["outcome"] = Outcome(values["outcome"])
    if values["responsibility"] is not None:
        values["responsibility"] = Responsibility(values["responsibility"])
    return Attempt(**values)


def reading_row(reading: Reading, log: LogFormat) -> Row:
    """Return a reading's row: its call's keys, then its value or why there is none."""
    call, value, known = reading.call, reading.value, _converters(log.readings)
    keys = {name: getattr(call, name) for name in known if name in PlannedCall.__slots__}
    if isinstance(value, Invalid):
        told = {"status": "invalid", "reason": value.reason.value, "detail": value.detail or None}
    else:
        told = {"status": "ok", **{name: getattr(value, name) for name in Value.__slots__}}
    return _typed(known, {**keys, **told, "attempt": reading.attempt})


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


def _typed(converters: Mapping[str, Converter | None], values: Mapping[str, Any]) -> Row:
    row: Row = {}
    for name, convert in converters.items():
        value = values.get(name)
        row[name] = value if value is None or convert is None else convert(value)
    return row


def _storable(text: str) -> str:
    if text.isascii():
        return str(text)
    return text.encode("utf-8", "replace").decode("utf-8")


def _texts(values: Iterable[str]) -> list[str]:
    return [_storable(value) for value in values]


def _sorted(values: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(values.items()))


@lru_cache(maxsize=16)
def _converters(columns: tuple[Column, ...]) -> dict[str, Converter | None]:
    return {c.name: _converter(c.type) for c in columns if c.name not in (PREVIOUS, ROW)}


def _converter(type_: pa.DataType) -> Converter | None:
    """Return what makes a value of a column's type storable; None if it is already."""
    if pa.types.is_floating(type_):
        return float
    if pa.types.is_string(type_):
        return _storable
    if pa.types.is_list(type_):
        return _texts
    return _sorted if pa.types.is_map(type_) else None
