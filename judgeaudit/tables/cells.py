"""One cell, in whatever format it stood: its text as identifier, label or number.

Rules of this module:

* No answer is: null, nothing, blanks alone, NaN in a column of numbers, and the words that are
  declared so. `WORDS` (NA, None, null ...) are taken for no answer unless declared labels; how many
  there were is told. In identifiers they are names like any other.
* Text is an identifier as it is written: `007`, `7` and ` 7` are three. A whole number in a typed
  column (JSON, Parquet, a workbook, a data frame) is written in its digits, without sign of plus,
  without a point, in every format: 1 and 1.0 are one number, and so one identifier, `1`. A float
  that is whole and beyond 2**53 has lost digits and is no identifier. True and false are `true` and
  `false`, dates and times ISO 8601.
* Lists and objects are no cells but for rankings; bytes are no text.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

WORDS = frozenset(
    {"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "NaT", "null", "NULL", "None"}
)
"""Words that programs write where there is no answer, and that people use as labels."""

_WHOLE = re.compile(r"0*([0-9]+)(?:\.0+)?")

EXACT = 2**53
"""Beyond it a float no longer holds every whole number (IEEE 754 binary64)."""


class NoCell(ValueError):
    """A value that cannot be a cell; its message says what it is."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a person declares: words that mean no answer, labels, and labels of a failure.

    `missing` counts as `empty`, `labels` are answers although `WORDS` holds them, `invalid` are
    words that a harness wrote in place of an answer, and count as `unparsed`.
    """

    missing: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    invalid: frozenset[str] = frozenset()

    def is_missing(self, text: str) -> bool:
        """Return whether a cell's text is no answer."""
        word = text.strip()
        if not word or word in self.missing:
            return True
        return word in WORDS and word not in self.labels and word not in self.invalid


NOTHING_DECLARED = Words()


def cell_text(value: Any) -> str | None:
    """Return a typed cell's text; None for no value. Raises `NoCell` for what is no cell."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__module__ == "numpy" and not hasattr(value, "__len__"):
        value = value.item()  # NumPy's own numbers
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, decimal.Decimal):
        return _decimal_text(value)
    if isinstance(value, datetime.date | datetime.time):
        return None if value != value else value.isoformat()  # pandas' NaT is a datetime
    return _other_text(value)


def _other_text(value: Any) -> str | None:
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    kind = type(value).__name__
    named = {"list": "lists", "tuple": "lists", "dict": "objects", "ndarray": "lists"}
    raise NoCell(named.get(kind, kind if kind == "bytes" else f"values of type {kind}"))


def any_text(value: Any) -> str | None:
    """Return the text of any value, lists and objects as JSON: for what is only compared."""
    try:
        return cell_text(value)
    except NoCell:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def float_text(value: float) -> str | None:
    """Return a float's text: a whole one in its digits, any other in its shortest form."""
    if math.isnan(value):
        return None
    if value.is_integer() and abs(value) <= EXACT:
        return str(int(value))
    return repr(value)


def _decimal_text(value: decimal.Decimal) -> str | None:
    if value.is_nan():
        return None
    return f"{int(value)}" if value == value.to_integral_value() else f"{value.normalize():f}"


def lost_digits(value: Any) -> bool:
    """Return whether a float is whole and so large that it may stand for several whole numbers."""
    return isinstance(value, float) and math.isfinite(value) and abs(value) > EXACT


def ranking_text(value: Any) -> str | None:
    """Return a ranking's cell as text: a list, whatever held it, as JSON."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return json.dumps([_entry(entry) for entry in value], ensure_ascii=False)
    return cell_text(value)


def _entry(value: Any) -> Any:
    """Return a list's entry as text; what is no cell stays, to be refused with its row."""
    try:
        return cell_text(value)
    except NoCell:
        return {}


def look_alikes(labels: Iterable[str], *, numbered: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield labels that differ by case, blanks or the form of their characters alone.

    With `numbered` also those that differ by leading zeros or a written `.0`: `7`, `007`, `7.0`.
    """
    folded: dict[str, list[str]] = {}
    for label in labels:
        folded.setdefault(_folded(label, numbered), []).append(label)
    for alike in folded.values():
        if len(alike) > 1:
            yield tuple(alike)


def _folded(label: str, numbered: bool) -> str:
    plain = label if label.isascii() else _visible(unicodedata.normalize("NFKC", label))
    plain = " ".join(plain.casefold().split())
    if numbered and (number := _WHOLE.fullmatch(plain)):
        return number[1]
    return plain


def _visible(text: str) -> str:
    """Return text without characters of no width (joiners, marks of direction)."""
    return "".join(c for c in text if unicodedata.category(c) != "Cf")
