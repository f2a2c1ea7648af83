"""A person's own rows, as JSONL, a JSON array or CSV, made into items.

Every row keeps the number of the line on which it begins, or its own number where several rows
begin on one line, and every refusal names it. Nothing is guessed: a gold value that names no
candidate is an error, not a row without gold. The columns that hold candidates and gold do not
become fields, so that a prompt cannot give the answer away; each candidate carries its column as
`meta["field"]`, the name of the place it fills in a prompt.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judgeaudit.battery.items import STRICT_JSON, Battery, decode, json_fault, refuse_duplicate_ids
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Candidate, Item

Format = Literal["jsonl", "json", "csv"]
Row = tuple[int, dict[str, JSON]]
"""The line on which a row begins, and its cells."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns mean what. Without `id`, items are named by their row.

    `task` defaults to `group`, and both to the item itself; `limit` takes the first rows only.
    """

    id: str | None = None
    candidates: tuple[str, ...] = ()
    gold: str | None = None
    group: str | None = None
    task: str | None = None
    limit: int | None = None


def format_of(name: str) -> Format:
    """Return the format that a file's name ends in; raises `InputError` for any other ending."""
    ending = name.rsplit(".", 1)[-1].lower()
    if ending == "ndjson" or ending == "jsonl":
        return "jsonl"
    if ending == "json":
        return "json"
    if ending == "csv":
        return "csv"
    raise InputError(name, found="unknown kind of file", remedy="use .jsonl, .json or .csv")


def read_rows(source: object, data: bytes, form: Format) -> list[Row]:
    """Return the rows of a file's bytes, each with the line it begins on.

    Raises `InputError` with the line for text that is not UTF-8, not of this form, or no rows.
    """
    text = decode(source, data)
    readers = {"jsonl": _json_lines, "json": _json_array, "csv": _csv}
    rows = list(readers[form](source, text))
    if not rows:
        raise InputError(source, found="no rows")
    return rows


def items_from_rows(source: object, rows: Sequence[Row], columns: Columns) -> Battery:
    """Return the items of a person's rows, and notes on what was taken for granted.

    Raises `InputError` with the line for a missing column, a cell that cannot be used, a gold
    value that names no candidate, and an id that occurs twice.
    """
    taken = rows if columns.limit is None else rows[: columns.limit]
    unit, places = _places(rows)
    items = [
        _item(source, number, {unit: place}, cells, columns)
        for number, (place, (_, cells)) in enumerate(zip(places, taken, strict=False), 1)
    ]
    named = [(place, item.id) for place, item in zip(places, items, strict=False)]
    refuse_duplicate_ids(source, named, unit)
    report = {"rows": len(rows), "items": len(items), "notes": _notes(rows, taken, columns)}
    return Battery(tuple(items), report)


def _places(rows: Sequence[Row]) -> tuple[str, list[int]]:
    """Return what names a row in messages: its line, or its number where rows share lines."""
    lines = [line for line, _ in rows]
    if len(set(lines)) == len(lines):
        return "line", lines
    return "row", list(range(1, len(rows) + 1))


def _notes(rows: Sequence[Row], taken: Sequence[Row], columns: Columns) -> list[str]:
    notes = []
    if columns.id is None:
        named = any("id" in cells for _, cells in taken)
        why = "column 'id' is not named with --id" if named else "no id column"
        notes.append(f"{why}: items are named by their row, row-1 to row-{len(taken)}")
    if len(taken) < len(rows):
        notes.append(f"limit: the first {len(taken)} of {len(rows)} rows")
    if columns.gold is None:
        notes.append("no gold column: agreement with the truth cannot be reported")
    return notes


def _item(
    source: object, number: int, where: dict[str, JSON], cells: dict[str, JSON], columns: Columns
) -> Item:
    place = " ".join(f"{unit} {at}" for unit, at in where.items())
    name = f"row-{number}"
    if columns.id is not None:
        name = _name(source, place, columns.id, cells)
    candidates = tuple(
        Candidate(column, _candidate(source, place, column, cells), meta={"field": column})
        for column in columns.candidates
    )
    group = name if columns.group is None else _name(source, place, columns.group, cells)
    task = columns.task or columns.group
    hidden = {*columns.candidates, columns.gold}
    return Item(
        id=name,
        group=group,
        task=name if task is None else _name(source, place, task, cells),
        fields={key: value for key, value in cells.items() if key not in hidden},
        candidates=candidates,
        gold=None if columns.gold is None else _gold(source, place, cells, columns),
        meta=where,
    )


def _cell(source: object, place: str, column: str, cells: Mapping[str, JSON]) -> JSON:
    if column not in cells:
        known = ", ".join(cells)
        raise InputError(source, place, f"no field {column!r}", f"fields here: {known}")
    return cells[column]


def _name(source: object, place: str, column: str, cells: Mapping[str, JSON]) -> str:
    value = _cell(source, place, column, cells)
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise InputError(
            source, place, f"{column} is {json.dumps(value)[:60]}", "a name or a whole number"
        )
    return str(value)


def _candidate(source: object, place: str, column: str, cells: Mapping[str, JSON]) -> str:
    """Return a candidate's text; nothing is no answer that a judge could be asked about."""
    value = _cell(source, place, column, cells)
    if value is None or not _text(value).strip():
        remedy = "leave the row out, or write what the judge shall see"
        raise InputError(source, place, f"candidate {column!r} is empty", remedy)
    return _text(value)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _gold(source: object, place: str, cells: Mapping[str, JSON], columns: Columns) -> str | None:
    """Return a candidate's column, `tie`, or (with fewer than two candidates) the value itself.

    A gold of 1, 2, ... or A, B, ... counts the candidates in the order given.
    """
    value = _cell(source, place, columns.gold or "", cells)
    if value is None or value == "":
        return None
    text, names = _text(value).strip(), columns.candidates
    if len(names) < 2 or text in names:
        return text
    places = {str(i + 1): name for i, name in enumerate(names)}
    places |= {chr(ord("A") + i): name for i, name in enumerate(names)}
    if text.upper() in places:
        return places[text.upper()]
    if text.casefold() == "tie":
        return "tie"
    raise InputError(
        source,
        place,
        f"gold {text[:40]!r} names no candidate",
        f"use one of {', '.join(names)}, its place (1 to {len(names)}, A, B, ...) or tie",
    )


def _object(source: object, line: int, value: JSON, place: str = "") -> Row:
    place = place or f"line {line}"
    if not isinstance(value, dict):
        raise InputError(source, place, "a row must be a JSON object")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        found = "half a character (a lone surrogate, such as \\ud800)"
        raise InputError(source, place, found, "write the whole character") from error
    return line, value


def _json_lines(source: object, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, **STRICT_JSON)
        except (ValueError, RecursionError) as error:
            raise InputError(source, f"line {number}", json_fault(error)) from error
        yield _object(source, number, value)


def _json_array(source: object, text: str) -> Iterator[Row]:
    decoder = json.JSONDecoder(**STRICT_JSON)
    at = _skip_space(text, 0)
    if text[at : at + 1] != "[":
        raise InputError(source, "line 1", "not a JSON array of objects", "or name it .jsonl")
    line, seen, at = 1, 0, _skip_space(text, at + 1)
    closing = text[at : at + 1] == "]"
    number = 0
    while not closing:
        line, seen, number = line + text.count("\n", seen, at), at, number + 1
        place = f"row {number}, which begins in line {line}"
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise InputError(source, place, json_fault(error)) from error
        yield _object(source, line, value, place)
        at = _skip_space(text, at)
        closing = text[at : at + 1] == "]"
        if not closing and text[at : at + 1] != ",":
            raise InputError(source, place, "no comma or ] after it")
        at = at if closing else _skip_space(text, at + 1)
    if text[at + 1 :].strip():
        raise InputError(source, f"after line {line}", "text after the array")


def _skip_space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def _csv(source: object, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            raise InputError(source, "line 1", f"a column's name occurs twice: {header}")
        begins = reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != len(header):
                raise InputError(
                    source, f"line {begins}", f"{len(cells)} cells under {len(header)} columns"
                )
            if cells:
                yield begins, dict(zip(header, cells, strict=True))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(source, f"line {reader.line_num}", f"not CSV: {error}") from error
