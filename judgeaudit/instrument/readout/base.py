"""What all readouts share: filling the prompt, checks on items, checks before any parsing.

A reply is looked at in this order, and the first that applies is the reason: a refusal (marked as
one, or stopped by a content filter), an end that is a cut or not known to be whole, several parts
of text, emptiness, text that is no Unicode; only then the readout's own parser.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from judgeaudit.errors import Problem
from judgeaudit.instrument.readout.interface import Cell, Prompt
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import (
    JSON,
    SOLE_ARM,
    Ask,
    Candidate,
    Ending,
    Invalid,
    Item,
    Reason,
    Reply,
    Value,
)


class Options(BaseModel):
    """Base of every readout's options: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


O_co = TypeVar("O_co", bound=Options, covariant=True)


@dataclass(frozen=True)
class Base(ABC, Generic[O_co]):
    """A readout of plain text; the label readouts override `read`."""

    prompt: Prompt
    options: O_co

    record: ClassVar[ReadoutRecord]
    options_model: ClassVar[type[Options]]
    must_show: ClassVar[frozenset[str]] = frozenset()
    """Provided fields without which the template asks something else."""

    def arms(self, item: Item) -> tuple[str, ...]:
        """Return the ways in which this item is asked."""
        return (SOLE_ARM,)

    @abstractmethod
    def provided_fields(self) -> frozenset[str]:
        """Return the names that the readout itself can add to an item's fields."""

    @abstractmethod
    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the readout's own fields for one arm of a sound item."""

    @abstractmethod
    def parse(self, text: str, item: Item, arm: str) -> Value | Invalid:
        """Read an answer that is neither refused, cut nor empty."""

    def item_problems(self, item: Item) -> list[str]:
        """Return what this readout cannot do with the item, beyond its fields."""
        return []

    def schema(self, item: Item) -> Mapping[str, JSON] | None:
        """Return the schema of a structured answer, where the options ask for one."""
        return None

    def fields(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return what fills the prompt: the item's own fields and those of the readout."""
        return {**item.fields, **self.provide(item, arm)}

    def ask(self, item: Item, arm: str) -> Ask:
        """Return the messages for one arm and what the answer must carry."""
        messages = self.prompt.render(self.fields(item, arm))
        return Ask(messages, json_schema=self.schema(item))

    def under(self, rules: Rules) -> Self:
        """Return this readout as a version of the reading rules has it."""
        return self

    def read(self, reply: Reply, item: Item, arm: str) -> Value | Invalid:
        """Return the value in a reply, or why there is none."""
        text = answer_text(reply)
        return text if isinstance(text, Invalid) else self.parse(text, item, arm)

    def read_cell(self, cell: Cell, item: Item, arm: str = SOLE_ARM) -> Value | Invalid:
        """Return the value that a table's cell holds, or why there is none."""
        if isinstance(cell, str) and not cell.strip():
            return Invalid(Reason.EMPTY)
        return self.cell_value(cell, item, arm)

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Read a cell that is not blank; by default a cell is an answer."""
        return self.parse(cell, item, arm) if isinstance(cell, str) else unparsed("no text")

    def problems(self, item: Item) -> list[str]:
        """Return why this item cannot be asked; empty when it can."""
        used = self.prompt.placeholders()
        clash = sorted(used & self.provided_fields() & item.fields.keys())
        found = [f"field {name!r} is one that {self.record.name} fills itself" for name in clash]
        found += duplicate_candidates(item) + self.item_problems(item)
        return found or self._missing_fields(item) or self._equal_arms(item)

    def _missing_fields(self, item: Item) -> list[str]:
        places = self.prompt.places()
        have = self.fields(item, self.arms(item)[0]).keys()
        return [
            f"prompt: {place}: placeholder {{{name}}} has no field in this item"
            for name, place in places.items()
            if name not in have
        ]

    def _equal_arms(self, item: Item) -> list[str]:
        """Return arms that would send the same words, so that one of them measures nothing."""
        if item.meta.get("control") == "identical":
            return []
        arms = {arm: self.prompt.render(self.fields(item, arm)) for arm in self.arms(item)}
        if len(set(arms.values())) == len(arms):
            return []
        return [f"prompt: arms {' and '.join(arms)} read the same: it shows nothing that differs"]

    def prompt_problems(self) -> list[Problem]:
        """Return what the template lacks for this readout."""
        missing = sorted(self.must_show - self.prompt.placeholders())
        return [
            Problem(
                "prompt",
                f"{{{name}}} is never shown",
                f"{self.record.name} needs it in the template",
            )
            for name in missing
        ]


def slot_fields(item: Item, shown: Sequence[Candidate]) -> dict[str, JSON]:
    """Return the shown candidates' texts under the names of their places.

    Candidates that came from a person's own columns carry the column's name as `meta["field"]`.
    The name belongs to the place: when an arm swaps the candidates, `{output_1}` is filled by the
    one that is shown first.
    """
    places = [candidate.meta.get("field") for candidate in item.candidates]
    return {
        place: candidate.text
        for place, candidate in zip(places, shown, strict=True)
        if isinstance(place, str)
    }


def sole_candidate(item: Item) -> dict[str, JSON]:
    """Return `candidate`, the text of an item's only candidate, also under its column's name."""
    if len(item.candidates) != 1:
        return {}
    return {"candidate": item.candidates[0].text, **slot_fields(item, item.candidates)}


def fault_of(reply: Reply, *, cut_is_whole: bool = False) -> Invalid | None:
    """Return why a reply is no whole answer, whatever its text says; None where it is one.

    `cut_is_whole` is for answers of one token, which is there when the rest is cut.
    """
    if reply.refusal is not None:
        return Invalid(Reason.REFUSED, clip(reply.refusal))
    if reply.ending is Ending.DECLINED:
        return Invalid(Reason.REFUSED, f"finish reason {reply.finish_reason}")
    if reply.ending is Ending.CUT and not cut_is_whole:
        return Invalid(Reason.TRUNCATED, f"finish reason {reply.finish_reason}")
    if reply.ending is Ending.UNKNOWN:
        word = clip(repr(reply.finish_reason), 40)
        return Invalid(Reason.TRUNCATED, f"finish reason {word} is not known to mean whole")
    if reply.parts > 1:
        return unparsed(f"{reply.parts} parts of text, where one answer was asked")
    return None


def empty(reply: Reply) -> Invalid:
    """Return `Invalid(empty)`, saying where something else stood."""
    where = f"no answer; something stands in {', '.join(reply.other)}" if reply.other else ""
    return Invalid(Reason.EMPTY, where)


def answer_text(reply: Reply) -> str | Invalid:
    """Return the text of a whole, non-empty answer, or why there is none."""
    if (fault := fault_of(reply)) is not None:
        return fault
    if reply.text is None or not reply.text.strip():
        return empty(reply)
    try:
        reply.text.encode()
    except UnicodeEncodeError as error:
        # JSON can carry half a surrogate pair; no column of text can, and no judge means it.
        return Invalid(Reason.BAD_BODY, f"lone surrogate at character {error.start}")
    return reply.text


def unparsed(detail: str) -> Invalid:
    """Return `Invalid(unparsed)` with what was found."""
    return Invalid(Reason.UNPARSED, detail)


def clip(text: str, width: int = 80) -> str:
    """Return `text` on one line, cut to `width` characters, with ? for lone surrogates."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= width else line[: width - 1] + "…"


def duplicates(values: Iterable[str]) -> list[str]:
    """Return each value that occurs more than once, in order of its second occurrence."""
    seen: set[str] = set()
    return list(dict.fromkeys(v for v in values if v in seen or seen.add(v)))  # type: ignore[func-returns-value]


def duplicate_candidates(item: Item) -> list[str]:
    """Return candidates of one item that a judge could not tell apart (CE's gate I-2R).

    An item that is a registered identical-candidates control is meant to have them.
    """
    found = [
        f"candidate id {name!r} occurs twice" for name in duplicates(c.id for c in item.candidates)
    ]
    if item.meta.get("control") != "identical":
        found += [
            f"two candidates read the same: {clip(text, 40)!r}"
            for text in duplicates(c.text for c in item.candidates)
        ]
    return found


class _DuplicateKey(ValueError):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if again := duplicates(key for key, _ in pairs):
        raise _DuplicateKey(f"key {again[0]!r} occurs twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise _DuplicateKey(f"{name} is no JSON number")


def json_answer(text: str, key: str, *, other_keys: bool = False) -> Any | Invalid:
    """Return `key`'s value from an answer that is one JSON object and nothing else.

    A bare array, a code fence, text around the object, a duplicate key, NaN and (unless
    `other_keys`) any other key are `Invalid(unparsed)`, saying which.
    """
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except _DuplicateKey as error:
        return unparsed(str(error))
    except (json.JSONDecodeError, RecursionError, ValueError):
        return unparsed(f"not one JSON object: {clip(text)}")
    if not isinstance(value, dict):
        return unparsed(f"a JSON {_kind(value)} where an object was asked: {clip(text)}")
    if key not in value:
        return unparsed(f"no key {key!r}: {clip(text)}")
    if len(value) > 1 and not other_keys:
        others = ", ".join(name for name in value if name != key)
        return unparsed(f"other keys than {key!r}: {clip(others)}")
    return value[key]


def _kind(value: Any) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
