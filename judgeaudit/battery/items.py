"""Items as JSON lines, one item a line, strictly read.

A line is one object with `id`, `group`, `task` and, where they say something, `fields`,
`candidates`, `gold` and `meta`. Unknown keys, keys that occur twice, NaN and duplicate ids are
refused with their line. Lines end at a line feed and nowhere else: a text may hold U+2028.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judgeaudit.canonical import body_bytes
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Candidate, Item


@dataclass(frozen=True, slots=True)
class Battery:
    """Items, and what their building or reading found: counts, rejections, notes."""

    items: tuple[Item, ...]
    report: Mapping[str, JSON] = field(default_factory=dict)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Candidate(_Strict):
    id: str = Field(min_length=1)
    text: str
    correct: bool | None = None
    meta: dict[str, Any] = Field(default_factory=dict)


class _Item(_Strict):
    id: str = Field(min_length=1)
    group: str = Field(min_length=1)
    task: str = Field(min_length=1)
    fields: dict[str, Any] = Field(default_factory=dict)
    candidates: list[_Candidate] = Field(default_factory=list)
    gold: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)


def item_to_json(item: Item) -> dict[str, JSON]:
    """Return an item as a JSON object with its keys in a fixed order, empty ones left out."""
    document: dict[str, JSON] = {"id": item.id, "group": item.group, "task": item.task}
    if item.fields:
        document["fields"] = dict(item.fields)
    if item.candidates:
        document["candidates"] = [_candidate_to_json(c) for c in item.candidates]
    if item.gold is not None:
        document["gold"] = item.gold
    if item.meta:
        document["meta"] = dict(item.meta)
    return document


def _candidate_to_json(candidate: Candidate) -> dict[str, JSON]:
    document: dict[str, JSON] = {"id": candidate.id, "text": candidate.text}
    if candidate.correct is not None:
        document["correct"] = candidate.correct
    if candidate.meta:
        document["meta"] = dict(candidate.meta)
    return document


def items_to_bytes(items: Iterable[Item]) -> bytes:
    """Return the JSON lines of a battery: the same items give the same bytes."""
    return b"".join(body_bytes(item_to_json(item)) + b"\n" for item in items)


def items_from_bytes(source: object, data: bytes) -> tuple[Item, ...]:
    """Read JSON lines; `source` is what errors call the file.

    Raises `InputError` as `items_from_lines`, and where the bytes are not UTF-8.
    """
    return items_from_lines(source, decode(source, data).split("\n"))


def holds_items(rows: Iterable[Mapping[str, JSON]]) -> bool:
    """Return whether rows have the form of items: `id`, `group`, `task`, and what items hold.

    A row of somebody's own seldom has all three, and then no `candidates` or `fields` of this form.
    """
    return all(
        {"id", "group", "task"} <= row.keys() <= _Item.model_fields.keys()
        and (isinstance(row.get("candidates"), list) or isinstance(row.get("fields"), dict))
        for row in rows
    )


def items_from_lines(source: object, lines: Iterable[str]) -> tuple[Item, ...]:
    """Read one item a line; empty lines say nothing.

    Raises `InputError` with the line's number for anything that is no item, with both numbers
    for an id that two lines share, and where no item is found.
    """
    items: list[tuple[int, Item]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            items.append((number, _item(source, number, line)))
    if not items:
        raise InputError(source, found="no items")
    refuse_duplicate_ids(source, [(number, item.id) for number, item in items])
    return tuple(item for _, item in items)


def refuse_duplicate_ids(
    source: object, ids: Sequence[tuple[int, str]], unit: str = "line"
) -> None:
    """Raise `InputError` naming both lines (or rows) of the first id that occurs twice."""
    first: dict[str, int] = {}
    for number, name in ids:
        if name in first:
            raise InputError(
                source,
                f"{unit} {number}",
                f"id {name!r} is taken by {unit} {first[name]}",
                "give every item an id of its own",
            )
        first[name] = number


def decode(source: object, data: bytes) -> str:
    """Return the text of UTF-8 bytes, without a byte order mark.

    Raises `InputError` naming the line of the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(source, f"line {line}", "not UTF-8", "save the file as UTF-8") from error


def _item(source: object, number: int, line: str) -> Item:
    place = f"line {number}"
    try:
        document = _Item.model_validate(json.loads(line, **STRICT_JSON))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"])) or "item"
        raise InputError(source, place, f"{key}: {fault['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(source, place, json_fault(error)) from error
    return Item(
        id=document.id,
        group=document.group,
        task=document.task,
        fields=document.fields,
        candidates=tuple(Candidate(**dict(c)) for c in document.candidates),
        gold=document.gold,
        meta=document.meta,
    )


def json_fault(error: Exception) -> str:
    """Return what is wrong with a piece of JSON; a line number within the piece would mislead."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return f"not JSON: {error}"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key!r} occurs twice")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


STRICT_JSON: dict[str, Any] = {
    "object_pairs_hook": _unique_keys,
    "parse_constant": _no_constant,
}
"""Arguments that make `json` refuse duplicate keys, NaN and infinities."""
