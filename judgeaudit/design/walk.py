"""Every value inside a document, with its key path."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from judgeaudit.errors import Problem


def leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield `(key path, value)` for everything in `value` that is no table and no list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from leaves(f"{key}[{number}]", inner)
    else:
        yield key, value


def not_json_problems(key: str, document: Any) -> Iterator[Problem]:
    """Yield NaN and infinities, which TOML can write and JSON cannot."""
    for path, value in leaves(key, document):
        if isinstance(value, float | Decimal) and not math.isfinite(value):
            yield Problem(path, f"found {value}", "JSON has no such number")
