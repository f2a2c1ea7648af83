"""Where an answer stands in a reply's text: the options that every readout of text shares.

* `reasoning = ["<think>", "</think>"]` declares a block that is no answer. It is taken away where
  the text begins with it; its opening mark may be missing, since servers put it into the prompt. A
  block that is not closed was cut; a mark that is left over makes the answer unparsed.
* `pattern` says what is read of the rest: `whole` of it; its `first_line` or `last_line`; what
  follows `prefix` on a line that begins with it; what stands in a `marker` such as `[[{}]]`; or
  the value of `key` in one object of `json`. With `first_line` and `last_line` a `prefix` is what
  the line must begin with.
* `trim = ["**", "."]` are marks that may stand around the answer in its place: they are taken away
  from both ends as long as there are any, with blanks.
* `refusals` are regular expressions of how a worded refusal begins: what begins so, and is no
  answer, is refused and not unparsed.
* Where a prefix or a marker occurs several times, the last one is read, and all must say the same:
  two different answers are no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from judgeaudit.instrument.readout.base import Base, Options, clip, json_answer, unparsed
from judgeaudit.instrument.readout.refusals import Refusals, worded_refusal
from judgeaudit.model import JSON, Invalid, Item, Reason, Value

Pattern = Literal["whole", "first_line", "last_line", "prefix", "marker", "json"]

O_co = TypeVar("O_co", bound="Placed", covariant=True)

SLOT = "{}"
"""Where the answer stands in a marker."""


def _two_marks(marks: tuple[str, str]) -> tuple[str, str]:
    if not all(mark.strip() for mark in marks) or marks[0] == marks[1]:
        raise ValueError('two different marks are wanted, e.g. ["<think>", "</think>"]')
    return marks


Marks = Annotated[tuple[str, str], AfterValidator(_two_marks)]
"""What opens and what closes a reasoning block."""


class Placed(Options):
    """Options of readouts whose answer is a piece of text or a JSON value."""

    pattern: str = "whole"
    prefix: str = ""
    marker: str = ""
    reasoning: Marks | None = None
    key: str = Field(default="answer", min_length=1)
    other_keys: bool = False
    structured: bool = False
    trim: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    refusals: Refusals = ()

    @model_validator(mode="after")
    def _places_agree(self) -> Self:
        if self.structured and self.pattern != "json":
            raise ValueError('structured needs pattern = "json"')
        lines = ("first_line", "last_line", "prefix")
        if self.prefix and self.pattern not in lines:
            raise ValueError('prefix needs pattern = "last_line", "first_line" or "prefix"')
        if self.pattern == "prefix" and not self.prefix.strip():
            raise ValueError('pattern = "prefix" needs prefix, e.g. prefix = "Verdict:"')
        if bool(self.marker) is not (self.pattern == "marker"):
            raise ValueError('marker and pattern = "marker" need each other')
        if self.marker:
            _check_marker(self.marker)
        return self


def _check_marker(marker: str) -> None:
    before, slot, after = marker.partition(SLOT)
    if not slot or SLOT in after or not before.strip() or not after.strip() or "\n" in marker:
        raise ValueError('a marker has one {} with marks on both sides of it, e.g. "[[{}]]"')


def without_reasoning(text: str, marks: tuple[str, str] | None) -> str | Invalid:
    """Return an answer without the declared block before it."""
    if marks is None:
        return text
    opening, closing = marks
    before, closed, rest = text.partition(closing)
    if not closed:
        if opening in text:
            return Invalid(Reason.TRUNCATED, f"{opening} without {closing}: cut while reasoning")
        return text
    if opening in before.strip().removeprefix(opening) or opening in rest or closing in rest:
        return unparsed(f"more than one {opening} block, or one that is not at the beginning")
    return rest if rest.strip() else Invalid(Reason.EMPTY, f"nothing after {closing}")


def pieces(text: str, options: Placed) -> list[str] | Invalid:
    """Return what stands in the registered place, each occurrence once, in order."""
    if options.pattern == "marker":
        before, _, after = options.marker.partition(SLOT)
        found = re.findall(f"{re.escape(before)}(.*?){re.escape(after)}", text)
        return _occurrences(found, f"no {options.marker}: {clip(text)}")
    lines = [line.strip() for line in text.strip().splitlines()]
    if options.pattern == "prefix":
        found = [line[len(options.prefix) :] for line in lines if line.startswith(options.prefix)]
        return _occurrences(found, f"no line begins {options.prefix!r}: {clip(text)}")
    if options.pattern not in ("first_line", "last_line"):
        return [text.strip()]
    where = options.pattern.replace("_", " ")
    line = lines[0 if options.pattern == "first_line" else -1]
    if not line.startswith(options.prefix):
        return unparsed(f"{where} does not begin {options.prefix!r}: {clip(line)}")
    return [line.removeprefix(options.prefix).strip()]


def _occurrences(found: list[str], lacking: str) -> list[str] | Invalid:
    return list(dict.fromkeys(piece.strip() for piece in found)) or unparsed(lacking)


class PlacedReadout(Base[O_co]):
    """A readout of one answer that stands in a registered place."""

    def parse(self, text: str, item: Item, arm: str) -> Value | Invalid:
        """Return the value in the registered place, or why there is none."""
        answer = without_reasoning(text, self.options.reasoning)
        if isinstance(answer, Invalid):
            return answer
        found = self._placed(answer, item, arm)
        if isinstance(found, Invalid):
            return worded_refusal(answer, self.options.refusals) or found
        return found

    def _placed(self, answer: str, item: Item, arm: str) -> Value | Invalid:
        if self.options.pattern == "json":
            found = json_answer(answer, self.options.key, other_keys=self.options.other_keys)
            return found if isinstance(found, Invalid) else self.json_value(found, item, arm)
        written = pieces(answer, self.options)
        if isinstance(written, Invalid):
            return written
        bare = [trimmed(piece, self.options.trim) for piece in written]
        return agreed(bare, lambda piece: self.written_value(piece, item, arm))

    def written_value(self, written: str, item: Item, arm: str) -> Value | Invalid:
        """Read the text that stood in the place."""
        raise NotImplementedError

    def json_value(self, answer: JSON, item: Item, arm: str) -> Value | Invalid:
        """Read a JSON value; by default a string is an answer as text."""
        if isinstance(answer, str):
            return self.written_value(answer, item, arm)
        return unparsed(f"{self.options.key} is no string: {clip(repr(answer))}")


def trimmed(text: str, marks: tuple[str, ...]) -> str:
    """Return a text without the declared marks and blanks at its ends."""
    while marks:
        before = text
        for mark in marks:
            text = text.strip().removeprefix(mark).removesuffix(mark)
        if text == before:
            return text.strip()
    return text


def agreed(written: list[str], read: Callable[[str], Value | Invalid]) -> Value | Invalid:
    """Return the last value, where all that was written says the same."""
    values = [read(piece) for piece in written]
    wrong = next((value for value in values if isinstance(value, Invalid)), None)
    if wrong is not None:
        return wrong
    if len({_meaning(value) for value in values if isinstance(value, Value)}) > 1:
        return unparsed(f"different answers: {clip(', '.join(written))}")
    return values[-1]


def _meaning(value: Value) -> tuple[object, ...]:
    return (value.number, value.category, value.ranking)


def enum_schema(key: str, values: tuple[str, ...]) -> Mapping[str, JSON]:
    """Return the schema of an object whose only key takes one of `values`."""
    return {
        "type": "object",
        "properties": {key: {"type": "string", "enum": list(values)}},
        "required": [key],
        "additionalProperties": False,
    }
