"""Numbers as text: the one parser for an answer's number and for a cell of a table.

A number is written in ASCII digits with a point: `4`, `-0.5`, `+3`, `.5`, `1e-05`, `inf`. Nothing
else is one: no digit of another script, no underscore, no thousands separator, no decimal comma,
no `nan`, no text around it but blanks. Python's `float` takes some of these, so it is not used.
"""

from __future__ import annotations

import re
from decimal import Decimal

LONGEST = 400
"""Characters of the longest text that can be a number: every float's plain form is shorter."""

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def number_of(text: str) -> Decimal | None:
    """Return the number that `text` writes, exactly; None where it writes none.

    `inf` is a number that lies on no scale: it comes back as `Decimal("Infinity")`.
    """
    written = text.strip()
    if len(written) > LONGEST:
        return None
    if _NUMBER.fullmatch(written) or _INFINITE.fullmatch(written):
        return Decimal(written)
    return None
