"""Refusals worded as text: "I can't help with ..." under a finish reason that says nothing.

A registration declares how they begin, as regular expressions (`refusals`); no list is built in,
for what a refusal looks like depends on model and language. An answer that begins with one of them,
blanks and case apart, is `Invalid(refused)`: counted as a refusal, and never as a lesson.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from judgeaudit.instrument.readout.base import clip
from judgeaudit.model import Invalid, Reason


def _patterns(given: tuple[str, ...]) -> tuple[str, ...]:
    for one in given:
        try:
            found = re.compile(one)
        except re.error as error:
            raise ValueError(f"{one!r} is no regular expression: {error}") from None
        if found.match(""):
            raise ValueError(f"{one!r} matches the empty text, so every answer would be a refusal")
    return given


Refusals = Annotated[tuple[str, ...], AfterValidator(_patterns)]
"""How a worded refusal begins, as regular expressions."""


def worded_refusal(text: str, patterns: tuple[str, ...]) -> Invalid | None:
    """Return `Invalid(refused)` where a text begins as a declared refusal does, else None."""
    begins = text.strip()
    for pattern in patterns:
        if re.match(pattern, begins, re.I):
            return Invalid(Reason.REFUSED, f"worded: {clip(begins)}")
    return None
