"""JSON lines, or a JSON array of objects, as columns of text.

Rules of this module:

* One object a line, or an array of objects. A first record that says `"_record": "metadata"` is
  metadata; so is a first record that holds none of the columns that were asked for, while the
  second holds one: this is told.
* Whole numbers keep all their digits; a name that stands twice in an object, or anything that is
  not JSON, is refused with its line. NaN and Infinity, which some writers put there, are read.
* Lists and objects are refused in the columns that were asked for, with their row; rankings alone
  may be lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.tables import header as names
from judgeaudit.tables.cells import NoCell, any_text, cell_text, lost_digits, ranking_text
from judgeaudit.tables.delimited import short
from judgeaudit.tables.raw import read_text
from judgeaudit.tables.source import Source

How = Callable[[str], Callable[[Any], str | None]]
METADATA = ("_record", "metadata")


def read_json(
    path: Path, wanted: Sequence[str], known: Collection[str], lists: Collection[str]
) -> Source:
    """Return the chosen columns; `lists` names those whose cells may be lists."""
    rows = _records(path)
    meta, rows, note = _split_header(rows, wanted)
    header = names.clean(path, list(dict.fromkeys(name for row in rows for name in row)))
    found = names.chosen(header, wanted, known)
    first = 2 if meta else 1
    columns, lossy = columns_of(path.name, rows, found, how(wanted, lists), first)
    return Source(
        path, columns, tuple(header), meta, first, len(rows), (note,) if note else (), lossy
    )


def how(wanted: Sequence[str], lists: Collection[str]) -> How:
    """Return how each column's cells become text: as rankings, as cells, or to be compared only."""
    return lambda name: (
        ranking_text
        if names.matches(name, lists)
        else cell_text
        if names.matches(name, wanted)
        else any_text
    )


def columns_of(
    source: str,
    rows: Sequence[Mapping[str, Any]],
    found: Sequence[str],
    how: How,
    first: int,
) -> tuple[Any, frozenset[str]]:
    """Return rows of typed values as an Arrow table of text, and the columns that lost digits."""
    import pyarrow as pa

    lossy, columns = set(), {}
    for name in found:
        values = [row.get(name) for row in rows]
        if any(map(lost_digits, values)):
            lossy.add(name)
        texts = _texts(source, name, values, how(name), first)
        columns[name] = _as_arrow(source, name, texts)
    return pa.table(columns), frozenset(lossy)


def _texts(source: str, name: str, values: Sequence[Any], text: Any, first: int) -> list[Any]:
    found: list[Any] = []
    try:
        for value in values:
            found.append(value if value.__class__ is str else text(value))
    except NoCell as error:
        place = f"row {len(found) + first}, column {name!r}"
        raise InputError(
            source, place, f"holds {error}", "write text or a number in each cell"
        ) from None
    return found


def _as_arrow(source: str, name: str, texts: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        found = "holds half a character (a lone surrogate)"
        raise InputError(source, f"column {name!r}", found, "write it as UTF-8") from error


def _split_header(
    rows: list[dict[str, Any]], wanted: Sequence[str]
) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return the metadata of a first record that is no reading, the rows, and what to tell."""
    if rows and rows[0].get(METADATA[0]) == METADATA[1]:
        return rows[0], rows[1:], ""
    reads = [any(names.found_by(row, wanted)) for row in rows[:2]]
    if reads == [False, True]:
        keys = ", ".join(list(rows[0])[:6])
        return rows[0], rows[1:], f"the first record is no reading but a header ({keys})"
    return {}, rows, ""


def _records(path: Path) -> list[dict[str, Any]]:
    text = read_text(path)
    lines: list[tuple[int, str]] = []
    if text.lstrip().startswith("["):  # a row is an object, so this is no JSON lines
        rows = _loaded(path, 1, text)
    else:
        # Not splitlines: U+2028 and its like may stand in a JSON string as they are.
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        rows = [_loaded(path, number, line) for number, line in lines]
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            place = f"line {lines[number][0]}" if lines else f"row {number + 1}"
            raise InputError(path.name, place, "no JSON object", "one object a row")
    return list(rows)


def _loaded(path: Path, number: int, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        place, found = number, short(error)
        if isinstance(error, json.JSONDecodeError):
            place, found = number + error.lineno - 1, error.msg
        remedy = "mend or remove it"
        raise InputError(path.name, f"line {place}", f"not JSON: {found}", remedy) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found
