"""Free text: what the model wrote, if it is not empty and not longer than registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from judgeaudit.instrument.readout.base import Base, Options, sole_candidate, unparsed
from judgeaudit.instrument.readout.places import Marks, without_reasoning
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.instrument.readout.refusals import Refusals, worded_refusal
from judgeaudit.model import JSON, Invalid, Item, Value


class TextOptions(Options):
    """`max_chars`: the longest text that counts, in code points; `reasoning` as in `places`.

    `refusals`: how a worded refusal begins, see `refusals`.
    """

    max_chars: int = Field(default=20_000, ge=1)
    reasoning: Marks | None = None
    refusals: Refusals = ()


class Text(Base[TextOptions]):
    """Reads the answer as it stands, outer whitespace kept, without a declared reasoning block."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="text",
        column="text",
        needs_logprobs=False,
        claims=frozenset({"text"}),
        claim="text",
        analysed_as="text",
        structured={},
        simulated="embedded:stable",
        controls="twins",
    )
    options_model = TextOptions

    def provided_fields(self) -> frozenset[str]:
        """Return `{candidate}`: the text of an item's only candidate."""
        return frozenset({"candidate"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the only candidate's text, where there is one."""
        return sole_candidate(item)

    def parse(self, text: str, item: Item, arm: str) -> Value | Invalid:
        """Return the text, or `Invalid(unparsed)` when it is longer than registered."""
        answer = without_reasoning(text, self.options.reasoning)
        if isinstance(answer, Invalid):
            return answer
        if (refused := worded_refusal(answer, self.options.refusals)) is not None:
            return refused
        if len(answer) > self.options.max_chars:
            return unparsed(f"{len(answer)} characters, at most {self.options.max_chars} are read")
        return Value(text=answer)
