"""Values as TOML text, for documents that the toolkit derives; written by tomlkit.

What is written reads back as the same value: decimals keep their digits, durations are texts in
seconds, and a value that is None is left out. A table's own keys stand before the tables in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import tomlkit
from pydantic import BaseModel
from tomlkit.items import Item

from judgeaudit.errors import InputError


def toml_text(document: BaseModel) -> str:
    """Return a document as TOML that reads back as the same document; defaults are left out."""
    return tomlkit.dumps(_plain_first(document.model_dump(exclude_defaults=True)))


def toml_string(text: str) -> str:
    """Return a TOML string that reads back as `text`, on several lines where it has several."""
    return toml_item(text).as_string()


def toml_item(value: Any) -> Item:
    """Return a value as a TOML item; raises `InputError` for one that has no TOML form."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool | int | datetime):
        return tomlkit.item(value)
    if isinstance(value, Decimal | float):
        return tomlkit.value(_digits(Decimal(str(value))))
    if isinstance(value, timedelta):
        return _string(f"{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "s")
    if isinstance(value, list | tuple):
        return _array(value)
    if isinstance(value, Mapping):
        return _table(value)
    raise InputError("toml", found=f"a {type(value).__name__} has no TOML form")


def _string(text: str) -> Item:
    """Return a text on several lines where it has several and every character can be shown."""
    shown = all(character.isprintable() or character in "\n\t" for character in text)
    # TOML drops a line break that follows the opening quotes.
    several = shown and "\n" in text and not text.startswith("\n")
    return tomlkit.string(text, multiline=several)


def _digits(value: Decimal) -> str:
    # Plain digits with a point: TOML wants one on both sides, and read_toml keeps it a Decimal.
    text = format(value, "f")
    return text if "." in text else f"{text}.0"


def _array(values: list[Any] | tuple[Any, ...]) -> Item:
    if values and all(isinstance(value, Mapping) for value in values):
        tables = tomlkit.aot()
        for value in values:
            tables.append(_table(value))
        return tables
    array = tomlkit.array()
    for value in values:
        array.append(_inline(value) if isinstance(value, Mapping) else toml_item(value))
    return array


def _table(content: Mapping[str, Any]) -> Item:
    table = tomlkit.table()
    for key, value in _plain_first(content).items():
        table.append(key, value)
    return table


def _inline(content: Mapping[str, Any]) -> Item:
    table = tomlkit.inline_table()
    for key, value in content.items():
        if value is not None:
            table.append(key, _inline(value) if isinstance(value, Mapping) else toml_item(value))
    return table


def _plain_first(content: Mapping[str, Any]) -> dict[str, Item]:
    """Return the items of a table, those that are tables themselves last."""
    items = {key: toml_item(value) for key, value in content.items() if value is not None}
    nested = (tomlkit.items.Table, tomlkit.items.AoT)
    plain = {key: item for key, item in items.items() if not isinstance(item, nested)}
    return {**plain, **items}
