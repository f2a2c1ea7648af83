"""How the answers of somebody else's judge are read: as text, at a JSON place, after a prefix.

No protocol says how a foreign program reads its replies, so a person says it in one word:

* nothing: the exact text. Two answers are equal where they are so to the last character.
* `$.score`, `$.result[0].grade`: a place in an answer that is one JSON object, or one inside a
  single code fence. A number is a number; a text or a truth value is a category; anything else,
  and a place that is not there, is unparsed.
* any other text, e.g. `GRADE:`: what follows on the line that begins so, as a category. Where
  several lines begin so, all must say the same.

What makes a reply no answer at all (a refusal, a cut, several choices) is decided before, by the
rules that all readouts share.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.instrument.readout.base import answer_text, clip, unparsed
from judgeaudit.instrument.readout.places import Placed, pieces
from judgeaudit.model import Invalid, Reply, Value

_PLACE = re.compile(r"\$((?:\.[^\W\d][\w-]*|\[\d{1,6}\])+)")
_STEP = re.compile(r"\.([^\W\d][\w-]*)|\[(\d+)\]")
_FENCE = re.compile(r"\s*```[\w-]*\n(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ValueRule:
    """How answers are read; made by `value_rule`."""

    word: str | None
    steps: tuple[str | int, ...] = ()

    @property
    def kind(self) -> str:
        """`text`, `json` or `prefix`."""
        return "text" if self.word is None else "json" if self.steps else "prefix"

    def read(self, reply: Reply) -> Value | Invalid:
        """Return the value in a reply, or why there is none."""
        text = answer_text(reply)
        return text if isinstance(text, Invalid) else self.parse(text)

    def parse(self, text: str) -> Value | Invalid:
        """Return the value in an answer's text, or why there is none."""
        if self.word is None:
            return Value(text=text)
        return _at(text, self.steps, self.word) if self.steps else _after(text, self.word)


def value_rule(word: str | None) -> ValueRule:
    """Return the rule that a person's word names; raises `InputError` for one that names none."""
    if word is None:
        return ValueRule(None)
    if not word.startswith("$"):
        if not word.strip() or "\n" in word:
            raise InputError("--value", found=repr(word), remedy="write $.score, or GRADE:")
        return ValueRule(word)
    found = _PLACE.fullmatch(word)
    if found is None:
        remedy = "write a place such as $.score or $.result[0].grade"
        raise InputError("--value", found=f"{word!r} is no JSON place", remedy=remedy)
    steps = (name or int(index) for name, index in _STEP.findall(found[1]))
    return ValueRule(word, tuple(steps))


def _after(text: str, prefix: str) -> Value | Invalid:
    found = pieces(text, Placed(pattern="prefix", prefix=prefix))
    if isinstance(found, Invalid):
        return found
    if len(found) > 1:
        return unparsed(f"different answers: {clip(', '.join(found))}")
    return (
        Value(category=found[0], label=found[0])
        if found[0]
        else unparsed(f"nothing after {prefix}")
    )


def _at(text: str, steps: tuple[str | int, ...], word: str) -> Value | Invalid:
    fenced = _FENCE.fullmatch(text)
    try:
        at: Any = json.loads(fenced[1] if fenced else text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return unparsed(f"not one JSON value: {clip(text)}")
    for step in steps:
        try:
            at = _below(at, step)
        except (KeyError, IndexError):
            return unparsed(f"nothing at {word}: {clip(text)}")
    if isinstance(at, bool):
        return Value(category=str(at).lower(), label=str(at).lower())
    if isinstance(at, int | float):
        return _number(at, word)
    if isinstance(at, str) and at.strip():
        return Value(category=at.strip(), label=at)
    return unparsed(f"no number or text at {word}: {clip(json.dumps(at))}")


def _below(at: Any, step: str | int) -> Any:
    """Return what stands one step below; raises KeyError or IndexError where nothing does."""
    if isinstance(step, str) and isinstance(at, dict):
        return at[step]
    if isinstance(step, int) and isinstance(at, list):
        return at[step]
    raise KeyError(step)


def _number(at: int | float, word: str) -> Value | Invalid:
    try:
        return Value(number=float(at), label=str(at))
    except OverflowError:
        return unparsed(f"a number beyond all floats at {word}")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
