"""Numbers in a column of text: the readout's parser, and the decimal comma.

A decimal comma is read where it is declared, or where a column leaves no doubt: it has numbers with
one comma and none with a point, and at least one of them is not also a thousands separator's form
(`1,234`). Otherwise a comma makes a cell unparsed, as in a reply. Where the comma is the decimal
mark a point makes a cell unparsed. Separators of thousands are not read: they are told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from judgeaudit.instrument.readout.numbers import number_of

_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]{1,6})?")
_GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}(?P<mark>[.,'\u2019 \u00a0\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*"
    r"(?:(?!(?P=mark))[.,][0-9]+)?"
)
_THREE = re.compile(r"[+-]?[0-9]{1,3}[.,][0-9]{3}")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a cell holds; None where it holds none."""
    if decimal == ",":
        written = text.strip()
        if "." in written:
            return None  # a separator of thousands there, or another decimal mark: not to be told
        text = written.replace(",", ".") if _COMMA.fullmatch(written) else written
    found = number_of(text)
    if found is None:
        return None
    try:
        return float(found)
    except OverflowError:
        return math.copysign(math.inf, found)


def decimal_of(labels: Iterable[str]) -> str:
    """Return the decimal mark of a column's labels: a comma where nothing else is possible."""
    written = [label.strip() for label in labels]
    commas = [label for label in written if _COMMA.fullmatch(label)]
    if not any(not _THOUSANDS.fullmatch(label) for label in commas):
        return "."
    return "." if pointed(written) else ","


def grouped(labels: Iterable[str]) -> list[str]:
    """Return the labels that are numbers with separators of thousands: 1.000,5 or 1,000.5."""
    found = [label for label in labels if _GROUPED.fullmatch(label.strip())]
    # 1.000 and 1,000 may be numbers with three decimals.
    return [label for label in found if not _THREE.fullmatch(label.strip())]


def pointed(labels: Iterable[str]) -> list[str]:
    """Return the labels that are numbers with a decimal point."""
    return [label for label in labels if "." in label and number_of(label) is not None]


def doubtful(labels: Iterable[str]) -> list[str]:
    """Return the labels with one comma: a decimal comma, or a separator of thousands."""
    return [label for label in labels if _COMMA.fullmatch(label.strip())]
