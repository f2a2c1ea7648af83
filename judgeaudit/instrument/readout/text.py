"""Free text: what the model wrote, if it is not empty and not longer than registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from judgeaudit.instrument.readout.base import Base, Options, sole_candidate, unparsed
from judgeaudit.instrument.readout.interface import Column
from judgeaudit.model import JSON, Invalid, Item, Value


class TextOptions(Options):
    """`max_chars`: the longest text that counts as an answer, in code points."""

    max_chars: int = Field(default=20_000, ge=1)


class Text(Base[TextOptions]):
    """Reads the answer as it stands, surrounding whitespace kept."""

    name: ClassVar[str] = "text"
    column: ClassVar[Column] = "text"
    options_model = TextOptions

    def provided_fields(self) -> frozenset[str]:
        """Return `{candidate}`: the text of an item's only candidate."""
        return frozenset({"candidate"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the only candidate's text, where there is one."""
        return sole_candidate(item)

    def parse(self, text: str, item: Item, arm: str) -> Value | Invalid:
        """Return the text, or `Invalid(unparsed)` when it is longer than registered."""
        if len(text) > self.options.max_chars:
            return unparsed(f"{len(text)} characters, at most {self.options.max_chars} are read")
        return Value(text=text)
