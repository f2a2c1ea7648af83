"""A registration as TOML text, for documents that the toolkit derives from a person's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from judgeaudit.errors import InputError


def toml_text(document: BaseModel) -> str:
    """Return a document as TOML that reads back as the same document; defaults are left out."""
    return "\n".join(_table("", document.model_dump(exclude_defaults=True))).lstrip("\n") + "\n"


def _table(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table: its own values first, then what is nested in it."""
    nested = {k: v for k, v in content.items() if _is_table(v) or _is_tables(v)}
    for key, value in content.items():
        if key not in nested and value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in nested.items():
        path = f"{name}.{_key(key)}" if name else _key(key)
        if _is_table(value):
            yield from ("", f"[{path}]", *_table(path, value))
        else:
            for entry in value:
                yield from ("", f"[[{path}]]", *_table(path, entry))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    plain = key.replace("-", "").replace("_", "")
    return key if plain.isascii() and plain.isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal | float):
        return _number(Decimal(str(value)))
    if isinstance(value, timedelta):
        return json.dumps(f"{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "s")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return "{" + inner + "}"
    raise InputError("toml", found=f"a {type(value).__name__} has no TOML form")


def _number(value: Decimal) -> str:
    # Plain digits with a point: TOML wants one on both sides, and read_toml keeps it a Decimal.
    text = format(value, "f")
    return text if "." in text else f"{text}.0"
