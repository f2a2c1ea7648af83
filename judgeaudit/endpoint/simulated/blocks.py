"""Shown candidates in a prompt: which alias stands before which text.

A candidate begins on a line of its own, as `[ALIAS] text`, `ALIAS: text`, `ALIAS) text`,
`ALIAS. text` or `Candidate ALIAS: text` (also Answer, Option, Response, Output), and reaches to
the next candidate or to a closing instruction: a line after a blank one that begins with Answer,
Rank, Return, Reply, Respond, Choose, Pick, Give, Write or Which. Where the aliases are not known
beforehand, bracketed ones are taken first, then short codes (`A`, `B7`, `12`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_CODE = r"[A-Z]{1,2}\d{0,3}|\d{1,3}"
_NOUN = r"(?:(?:candidate|answer|option|response|output|solution)\s+)?"
_BRACKETED = re.compile(r"^[ \t]*\[([^\]\n]{1,40})\][ \t]*:?", re.M)
_CODED = re.compile(rf"^[ \t]*(?:\*\*)?{_NOUN}({_CODE})(?:\*\*)?[:).](?=\s)", re.M | re.I)
_CLOSING = re.compile(
    r"\n[ \t]*\n[ \t]*(?:answer|rank|return|reply|respond|choose|pick|give|write|which)\b", re.I
)


def blocks(text: str, aliases: Sequence[str] | None = None) -> dict[str, str]:
    """Return alias -> candidate text, in the order shown; empty where fewer than two are found.

    With `aliases` only those count, and each must be found.
    """
    if aliases is not None:
        found = _cut(text, _named(aliases))
        return found if set(found) == set(aliases) else {}
    for pattern in (_BRACKETED, _CODED):
        found = _cut(text, pattern)
        if len(found) >= 2:
            return found
    return {}


def _named(aliases: Sequence[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(alias) for alias in sorted(aliases, key=len, reverse=True))
    return re.compile(
        rf"^[ \t]*(?:\*\*)?(?i:{_NOUN})(?:\[({words})\][ \t]*:?|({words})(?:\*\*)?[:).](?=\s))",
        re.M,
    )


def _cut(text: str, pattern: re.Pattern[str]) -> dict[str, str]:
    """Return the text after each match up to the next; the first mention of an alias counts."""
    starts = list(pattern.finditer(text))
    found: dict[str, str] = {}
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        body = text[match.end() : end]
        closing = _CLOSING.search(body)
        alias = next(group for group in match.groups() if group is not None)
        found.setdefault(alias, (body[: closing.start()] if closing else body).strip())
    return found
