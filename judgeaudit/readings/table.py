"""The one table that analyses read: one row a planned call, also where nothing came back.

`COLUMNS` is its documentation: each column with its sentence. `from_readings` makes it from sealed
readings and the frozen items, `checked` holds any frame against the rules:

* a key (endpoint, stage, condition, window, item, arm, repeat, draw) stands once;
* `status` is "ok" or "invalid"; an invalid row has a reason and no value; an ok row has a value;
* no value column holds NaN in an ok row of its kind, and `ranking` holds tuples;
* numbers (not masses) that differ by rounding alone are one number (`stats.ties.settle`), before
  anything reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.errors import InputError
from judgeaudit.model import SOLE_ARM, Item
from judgeaudit.readings.sheet import Bools, Coded, Ints, Long, windows_of
from judgeaudit.stats.ties import settle

COLUMNS: Mapping[str, str] = {
    "call_id": "The planned call's id.",
    "endpoint": "The endpoint that was asked.",
    "item": "The item that was judged.",
    "group": "What rankings are formed within, e.g. a task at one prefix.",
    "task": "What items are nested in; a cluster.",
    "arm": 'The way in which the item was asked; "-" where there is one.',
    "condition": "The condition of measurement, e.g. quiet or loaded.",
    "day": "The day's number, from 1; 0 where nothing says it.",
    "window": "The window's id.",
    "repeat": "Which repeat of the same bytes in the same window, from 0.",
    "draw": "Which of the draws that one reading aggregates, from 0.",
    "stage": "The protocol's stage, from 1.",
    "status": '"ok" for a valid reading, "invalid" for none.',
    "reason": "Why there is no valid reading, from the model's list of reasons; null if ok.",
    "number": "A score, or a probability r.",
    "category": "A verdict or choice, decoded to its meaning.",
    "label": "The answer as it was given.",
    "ranking": "Candidate ids, best first, as a tuple.",
    "text": "Free text.",
    "mass": "Summed probability of the registered labels.",
    "gold": "The item's right answer as text; null where there is none.",
    "correct": "Constructed truth of the item's only candidate; null where there is none.",
    "control": 'Which control the item is ("identical", "gold", "echo"); null for a probe.',
}

IDENTITY: Mapping[str, str] = {
    "model_returned": "The model that the reply names, verbatim.",
    "fingerprint": "The reply's fingerprint, verbatim.",
    "service_tier": "The reply's service tier.",
    "prompt_sha256": "Digest of the messages alone.",
    "body_sha256": "Digest of the request's body.",
    "sent_at": "When the request left, UTC nanoseconds.",
    "request_id": "The provider's id of the request.",
    "reply_id": "The reply's own id, made anew for each generation.",
    "created": "When the reply was made, as it says itself; whole seconds.",
    "cache": "A cache's own word that it gave this reply; null where none said so.",
}
"""Columns that a table may carry beside `COLUMNS`: what is known of who answered, and when."""

KEY = ("endpoint", "stage", "condition", "window", "item", "arm", "repeat", "draw")
VALUES = ("number", "category", "label", "ranking", "text", "mass")

DEFAULTS: Mapping[str, Any] = {
    "endpoint": "all",
    "arm": SOLE_ARM,
    "condition": "default",
    "day": 1,
    "window": "1",
    "repeat": 0,
    "draw": 0,
    "stage": 1,
}

META = "meta."
"""Scalar meta values of items stand in columns of this prefix, e.g. `meta.prefix`."""


def from_readings(readings: pd.DataFrame, items: Iterable[Item] = ()) -> pd.DataFrame:
    """Return the table of `readings` joined with what the items know.

    `readings` has the columns of a sealed `readings.parquet`; items give gold, the truth of a sole
    candidate, the control's kind and scalar meta values. Raises `InputError` as `checked` does.
    """
    known = _item_frame(items)
    frame = readings.drop(columns=[name for name in known.columns if name in readings])
    if len(known):
        frame = frame.join(known, on="item")
    return checked(frame)


def from_long(long: Long, rows: Bools) -> pd.DataFrame:
    """Return the readings table of some rows of somebody's table, texts as categories.

    A run is a repeat, an order an arm. A whole number in every run's name is the repeat's number,
    else runs are numbered as they come. Without a day column no row has a day (0).
    """
    chosen = np.flatnonzero(rows)
    size, valid = chosen.size, long.reason.codes[chosen] < 0
    found: dict[str, Any] = {name: _alike(DEFAULTS.get(name), size) for name in COLUMNS}
    facets = {
        "item": long.item,
        "window": windows_of(long),
        "arm": long.order,
        "condition": long.condition,
        "task": long.task,
        "group": long.group,
        "gold": long.gold,
    }
    for name, column in facets.items():
        if column is not None:
            found[name] = _categories(column, chosen)
    for name in ("group", "task"):
        if facets[name] is None:
            found[name] = found["item"]
    found["status"] = _texts(np.where(valid, 0, 1), ["ok", "invalid"])
    found["reason"] = _categories(long.reason, chosen)
    found["repeat"] = _numbered(long.run)[long.run.codes[chosen]]
    found["day"] = 0 if long.day is None else _numbered(long.day)[long.day.codes[chosen]]
    found["number"] = found["mass"] = np.full(size, np.nan)
    if long.values is not None:
        found["number"] = np.where(valid, settle(long.values)[chosen], np.nan)
    if long.answers is not None:
        name = "ranking" if long.kind == "ranking" else "category"
        found[name] = _answers(long.answers, chosen, valid, name)
    return pd.DataFrame(found)


def _alike(value: Any, size: int) -> Any:
    if value is None:
        return _texts(np.full(size, -1), [])
    return np.full(size, value) if isinstance(value, int) else _texts(np.zeros(size), [value])


def _texts(codes: Any, labels: list[str]) -> Any:
    kept = codes.astype(np.int8 if len(labels) < 100 else np.int32)
    return pd.Categorical.from_codes(kept, pd.Index(labels, dtype=object))


def _categories(column: Coded, chosen: Ints) -> Any:
    """Return a column's rows as categories; two codes with one text are one."""
    labels = [str(label) for label in column.labels]
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([*(places[label] for label in labels), -1])[column.codes[chosen]]
    return _texts(codes, list(places))


def _numbered(column: Coded) -> Ints:
    """Return a number for each code of a column, and for its -1 at the end."""
    labels = [str(label).strip() for label in column.labels]
    if labels and all(label.isdecimal() and label.isascii() for label in labels):
        return np.array([*(int(label) for label in labels), -1], dtype=np.int64)
    return np.array([*range(1, len(labels) + 1), 0], dtype=np.int64)


def _answers(answers: Coded, chosen: Ints, valid: Bools, name: str) -> Any:
    codes = np.where(valid, answers.codes[chosen], -1)
    if name == "category":
        return _categories(Coded(codes.astype(np.int32), answers.labels), np.arange(chosen.size))
    labels = np.empty(len(answers.labels) + 1, dtype=object)
    labels[:-1] = [tuple(label) for label in answers.labels]
    return labels[codes]


def _item_frame(items: Iterable[Item]) -> pd.DataFrame:
    rows = {item.id: _known(item) for item in items}
    return pd.DataFrame.from_dict(rows, orient="index") if rows else pd.DataFrame()


def _known(item: Item) -> dict[str, Any]:
    sole = item.candidates[0].correct if len(item.candidates) == 1 else None
    scalars = {
        f"{META}{key}": value
        for key, value in item.meta.items()
        if isinstance(value, str | int | float | bool)
    }
    return {
        "gold": item.gold,
        "correct": sole,
        "control": item.meta.get("control"),
        **scalars,
    }


def candidate_frame(items: Iterable[Item]) -> pd.DataFrame:
    """Return one row a candidate: item, candidate, correct, and the candidate's meta values."""
    rows = [
        {"item": item.id, "candidate": found.id, "correct": found.correct, **dict(found.meta)}
        for item in items
        for found in item.candidates
    ]
    return pd.DataFrame(rows, columns=None if rows else ["item", "candidate", "correct"])


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with every column of `COLUMNS`; raises `InputError` naming row and column."""
    table = frame.reset_index(drop=True)
    for name in ("item", "status"):
        if name not in table:
            raise InputError("table", f"column {name!r}", "missing", "every row needs it")
    _fill(table)
    _check_status(table)
    _check_keys(table)
    _check_rankings(table)
    return table


def _fill(table: pd.DataFrame) -> None:
    for name in COLUMNS:
        if name not in table:
            table[name] = DEFAULTS.get(name, None)
    for name in ("group", "task"):
        table[name] = table[name].where(table[name].notna(), table["item"])
    for name in ("number", "mass"):
        table[name] = pd.to_numeric(table[name]).astype(float)
    table["number"] = settle(table["number"].to_numpy())
    missing = table["call_id"].isna()
    if missing.any():
        table["call_id"] = np.where(missing, [f"row-{i}" for i in table.index], table["call_id"])


def _check_status(table: pd.DataFrame) -> None:
    unknown = ~table["status"].isin(["ok", "invalid"])
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        found = table["status"].iloc[row]
        raise InputError("table", f"row {row}", f"status {found!r}", 'give "ok" or "invalid"')
    ok = table["status"].eq("ok")
    empty = ok & table[list(VALUES)].isna().all(axis=1)
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        raise InputError("table", f"row {row}", "status ok without a value", "give it a reason")
    silent = ~ok & table["reason"].isna()
    if silent.any():
        row = int(np.flatnonzero(silent)[0])
        raise InputError("table", f"row {row}", "status invalid without a reason", "name one")


def _check_keys(table: pd.DataFrame) -> None:
    twice = table.duplicated(list(KEY))
    if twice.any():
        row = int(np.flatnonzero(twice)[0])
        item = table["item"].iloc[row]
        raise InputError(
            "table",
            f"row {row}",
            f"item {item!r} stands twice under one key",
            f"keys are ({', '.join(KEY)})",
        )


def _check_rankings(table: pd.DataFrame) -> None:
    given = table["ranking"].notna()
    if given.any():
        table["ranking"] = table["ranking"].map(tuple, na_action="ignore").astype(object)


def probes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are no controls: the only ones that enter an estimate."""
    return table[table["control"].isna()]


def _as_text(value: object) -> str | None:
    """Return a cell as `where` compares it: true and whole numbers as JSON and TOML write them."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column with gaps holds whole numbers as floats
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def select(table: pd.DataFrame, where: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows whose columns equal `where`, compared as text.

    Raises `InputError` for a column that is not there or a value that never occurs.
    """
    chosen = table
    for name, wanted in where.items():
        column = name if name in table else f"{META}{name}"
        if column not in table:
            raise InputError("where", name, "no such column", f"one of {', '.join(COLUMNS)}")
        held = chosen[column].map(_as_text)
        keep = held.eq(str(wanted)) | chosen[column].astype(str).eq(str(wanted))
        if not keep.any():
            there = ", ".join(sorted(set(held.dropna()))[:8])
            raise InputError("where", name, f"no row has {wanted!r}", f"found: {there}")
        chosen = chosen[keep]
    return chosen
