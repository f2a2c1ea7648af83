"""Reading JSON that a server wrote: anything missing or oddly typed is "not reported".

Servers that claim one API differ in what they leave out, and a few write `NaN`, numbers as text or
an int where a text belongs. A reply is evidence, so nothing here raises on it; the raw bytes are
in the log.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_LONGEST_COUNT = 2**40
"""Counts above this are no counts; sums of them stay within 64 bits and JSON's exact numbers."""


def load_json(body: bytes) -> Any:
    """Return a JSON document, NaN and infinities as floats; raises ValueError for anything else."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=float)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """Return a JSON array, or an empty one for anything else."""
    return value if isinstance(value, list) else ()


def text(value: Any) -> str | None:
    """Return a JSON string, else None. A lone surrogate, which UTF-8 lacks, becomes U+FFFD."""
    if not isinstance(value, str):
        return None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def filled(value: Any) -> str | None:
    """Return a JSON string that is not empty, else None."""
    return text(value) or None


def count(value: Any) -> int | None:
    """Return a non-negative whole number, else None; true and false are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _LONGEST_COUNT or value != int(value):  # NaN fails every comparison
        return None
    return int(value)


def real(value: Any) -> float:
    """Return a number as a float, and NaN for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def octets(value: Any) -> bytes | None:
    """Return an array of bytes (ints 0 to 255) as bytes, else None."""
    if not isinstance(value, list):
        return None
    if not all(type(byte) is int and 0 <= byte <= 255 for byte in value):
        return None
    return bytes(value)
