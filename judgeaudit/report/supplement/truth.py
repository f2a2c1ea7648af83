"""Sealed readings joined with what was known beforehand: gold, constructed truth, controls, meta.

An item's scalar meta values stand in columns `meta.NAME`: boolean or number where all items that
have it agree in that, else text. Truth that belongs to candidates stands in a table of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from judgeaudit.model import Item
from judgeaudit.report.supplement.tables import schema_of

META = "meta."
GOLD_SENTENCES: Mapping[str, str] = {
    "gold": "The item's right answer as text; null where there is none.",
    "correct": "Constructed truth of the item's only candidate; null where there is none.",
    "control": "Which control the item is (identical, gold, echo); null for a probe.",
}
CANDIDATE_COLUMNS: Mapping[str, str] = {
    "item": "Id of the item.",
    "candidate": "Id of the candidate, as rankings name it.",
    "position": "Place among the item's candidates as registered, from 0.",
    "correct": "Constructed truth of the candidate; null where there is none.",
    "meta": "What else is known of the candidate, as JSON.",
}


class Truth:
    """What is known of each item, ready to be joined to batches of readings."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = list(items)
        self._place = {item.id: at for at, item in enumerate(self._items)}
        self._known = self._columns()

    def _columns(self) -> pa.Table:
        sole = [i.candidates[0].correct if len(i.candidates) == 1 else None for i in self._items]
        controls = [i.meta.get("control") for i in self._items]
        columns: dict[str, Any] = {
            "gold": pa.array([item.gold for item in self._items], pa.string()),
            "correct": pa.array(sole, pa.bool_()),
            "control": pa.array([None if c is None else str(c) for c in controls], pa.string()),
        }
        names = dict.fromkeys(name for item in self._items for name in item.meta)
        for name in sorted(set(names) - {"control"}):
            column = _scalars([item.meta.get(name) for item in self._items])
            if column is not None:
                columns[f"{META}{name}"] = column
        return pa.table(columns)

    def schema(self, readings: pa.Schema) -> pa.Schema:
        """Return the readings' columns, then those of the truth, each with its sentence."""
        sentences = {
            name: GOLD_SENTENCES.get(name, f"The item's meta value {name.removeprefix(META)!r}.")
            for name in self._known.column_names
        }
        types = {field.name: field.type for field in self._known.schema}
        return pa.schema([*readings, *schema_of(sentences, types)])

    def join(self, batch: pa.RecordBatch | pa.Table, schema: pa.Schema) -> pa.Table:
        """Return the readings in `batch` with their items' truth; null for an unknown item."""
        places = [self._place.get(item) for item in batch.column("item").to_pylist()]
        known = self._known.take(pa.array(places, pa.int64()))
        columns = [*batch.columns, *known.columns]
        return pa.table(columns, names=schema.names).cast(schema)


def _scalars(values: list[Any]) -> pa.Array | None:
    """Return values as one column, None where none of them is a scalar."""
    kept = [v if isinstance(v, str | int | float | bool) else None for v in values]
    there = [v for v in kept if v is not None]
    if not there:
        return None
    if all(isinstance(v, bool) for v in there):
        return pa.array(kept, pa.bool_())
    if not any(isinstance(v, str | bool) for v in there):
        return pa.array([None if v is None else float(v) for v in kept], pa.float64())
    return pa.array([None if v is None else _text(v) for v in kept], pa.string())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def candidates_table(items: Iterable[Item]) -> pa.Table:
    """Return one row a candidate, in the items' order; their texts are left out."""
    rows = [
        {
            "item": item.id,
            "candidate": found.id,
            "position": at,
            "correct": found.correct,
            "meta": json.dumps(dict(found.meta), ensure_ascii=False, sort_keys=True),
        }
        for item in items
        for at, found in enumerate(item.candidates)
    ]
    types = {"position": pa.int32(), "correct": pa.bool_()}
    return pa.Table.from_pylist(rows, schema_of(CANDIDATE_COLUMNS, types))
