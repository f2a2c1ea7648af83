"""What a readout is, and how its prompt is filled.

A prompt template holds `{field}` placeholders; `{{` and `}}` stand for braces. Nothing else has a
meaning: no attribute access, no index, no format specification. A template is checked when the
`Prompt` is made, so a `Prompt` that exists can only fail for want of a field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol, Self

from judgeaudit.errors import InputError, Problem
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import JSON, SOLE_ARM, Ask, Invalid, Item, Message, Reply, Value

Cell = str | Sequence[str]
"""A table's cell as text; a ranking's may be a sequence of candidate ids, best first."""

_NAME = re.compile(r"[^\W\d][\w-]*")
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of template: literal text, or the name of a field and the line it stands on."""

    text: str
    field: str | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message template: an optional system part and a user part.

    Raises `InputError` on making, naming the part and its line, for an unpaired brace and for a
    placeholder that is no plain name.
    """

    system: str | None
    user: str

    def __post_init__(self) -> None:
        for part, template in self._parts():
            scan(part, template)

    def _parts(self) -> Iterator[tuple[str, str]]:
        if self.system is not None:
            yield "system", self.system
        yield "user", self.user

    def placeholders(self) -> frozenset[str]:
        """Return the names of all fields that the template uses."""
        return frozenset(self.places())

    def places(self) -> dict[str, str]:
        """Return where each placeholder stands first, as `user, line 3`."""
        found: dict[str, str] = {}
        for part, template in self._parts():
            for piece in scan(part, template):
                if piece.field is not None:
                    found.setdefault(piece.field, f"{part}, line {piece.line}")
        return found

    def render(self, fields: Mapping[str, JSON]) -> tuple[Message, ...]:
        """Return the messages with each placeholder replaced by its field.

        Strings are inserted verbatim, anything else as JSON. Raises `InputError` naming the
        placeholder and its line where `fields` lacks it.
        """
        parts = self._parts()
        return tuple(Message(part, fill(part, template, fields)) for part, template in parts)


def fill(part: str, template: str, fields: Mapping[str, JSON]) -> str:
    """Return a template with each placeholder replaced by its field; `part` as for `scan`."""
    return "".join(_filled(part, piece, fields) for piece in scan(part, template))


@lru_cache(maxsize=256)
def scan(part: str, template: str) -> tuple[Piece, ...]:
    """Split a template into its pieces; `part` is what errors call it."""
    pieces: list[Piece] = []
    end = 0
    for match in _TOKEN.finditer(template):
        pieces.append(Piece(template[end : match.start()]))
        line = template.count("\n", 0, match.start()) + 1
        pieces.append(_piece(part, match, line))
        end = match.end()
    pieces.append(Piece(template[end:]))
    return tuple(piece for piece in pieces if piece.text)


def _piece(part: str, match: re.Match[str], line: int) -> Piece:
    token, name = match.group(), match.group(1)
    if token in ("{{", "}}"):
        return Piece(token[0], line=line)
    if name is None:
        raise InputError(
            "prompt", f"{part}, line {line}", f"unpaired {token!r}", f"write {token * 2!r} for one"
        )
    if not _NAME.fullmatch(name):
        raise InputError(
            "prompt",
            f"{part}, line {line}",
            f"placeholder {token!r} is no field name",
            "use letters, digits, _ and - only, or double the braces",
        )
    return Piece(token, field=name, line=line)


def _filled(part: str, piece: Piece, fields: Mapping[str, JSON]) -> str:
    if piece.field is None:
        return piece.text
    if piece.field not in fields:
        known = ", ".join(sorted(fields)) or "none"
        raise InputError(
            "prompt",
            f"{part}, line {piece.line}",
            f"placeholder {piece.text} has no field",
            f"fields here: {known}",
        )
    value = fields[piece.field]
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        place = f"{part}, line {piece.line}"
        raise InputError("prompt", place, f"field {piece.field!r}: {error}") from error


class Readout(Protocol):
    """How an item is asked and how the answer is read: pure, from values to values."""

    record: ClassVar[ReadoutRecord]

    @property
    def prompt(self) -> Prompt:
        """The template that `ask` fills."""
        ...

    def arms(self, item: Item) -> tuple[str, ...]:
        """Return the ways in which this item is asked; `SOLE_ARM` where there is one."""
        ...

    def fields(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return what fills the prompt: the item's own fields and those of the readout."""
        ...

    def provided_fields(self) -> frozenset[str]:
        """Return the names that the readout itself can add to an item's fields."""
        ...

    def ask(self, item: Item, arm: str) -> Ask:
        """Return the messages for one arm and what the answer must carry."""
        ...

    def under(self, rules: Rules) -> Self:
        """Return the readout as a version of the reading rules has it."""
        ...

    def read(self, reply: Reply, item: Item, arm: str) -> Value | Invalid:
        """Return the value in a reply, or why there is none. Never raises on a reply."""
        ...

    def read_cell(self, cell: Cell, item: Item, arm: str = SOLE_ARM) -> Value | Invalid:
        """Return the value that a cell of somebody's table holds for this item, or why none.

        A cell holds a value and not an answer: a number, a category or what it means, candidate
        ids best first. It is held against the same scale, categories and candidates as a reply.
        """
        ...

    def problems(self, item: Item) -> list[str]:
        """Return why this item cannot be asked; empty when it can."""
        ...

    def prompt_problems(self) -> list[Problem]:
        """Return what the template lacks for this readout, e.g. labels that it never shows."""
        ...
