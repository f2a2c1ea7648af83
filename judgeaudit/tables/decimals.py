"""Numbers in a column of text: the readout's parser, and the decimal comma.

A decimal comma is read where it is declared, or where a column leaves no doubt: it has numbers with
one comma and none with a point, and at least one of them is not also a thousands separator's form
(`1,234`). Otherwise a comma makes a cell unparsed, as in a reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from judgeaudit.instrument.readout.numbers import number_of

_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]{1,6})?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a cell holds; None where it holds none."""
    if decimal == ",":
        written = text.strip()
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
    return "." if any("." in label and number_of(label) is not None for label in written) else ","


def doubtful(labels: Iterable[str]) -> list[str]:
    """Return the labels with one comma: a decimal comma, or a separator of thousands."""
    return [label for label in labels if _COMMA.fullmatch(label.strip())]
