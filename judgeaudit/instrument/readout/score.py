"""A number on a declared scale, as a decimal, compared exactly.

An answer off the scale, or between its steps, is `out_of_scale`; anything that is not exactly one
number of the scale's type is `unparsed`. NaN and Infinity are no numbers, `4.0` is no integer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from judgeaudit.instrument.readout.base import Options, clip, sole_candidate, unparsed
from judgeaudit.instrument.readout.interface import Cell
from judgeaudit.instrument.readout.numbers import number_of
from judgeaudit.instrument.readout.places import Placed, PlacedReadout
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.model import JSON, Invalid, Item, Reason, Value

_INT = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?")


def _decimal(value: Any) -> Decimal:
    """Return the decimal that was written: .1 in a TOML file is one tenth, not its float."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("a number is wanted")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("a number is wanted") from None
    if not number.is_finite():
        raise ValueError("a finite number is wanted")
    return number


Exact = Annotated[Decimal, BeforeValidator(_decimal)]


class Scale(Options):
    """Lowest and highest value; `step`, counted from the lowest, where the scale has steps."""

    low: Exact
    high: Exact
    step: Exact | None = None

    @model_validator(mode="after")
    def _has_room(self) -> Scale:
        if self.low >= self.high:
            raise ValueError("low must be below high")
        if self.step is not None and (self.step <= 0 or (self.high - self.low) % self.step):
            raise ValueError("step must be above 0 and lead from low to high exactly")
        return self

    def fault(self, number: Decimal) -> str:
        """Return why `number` is not on the scale; empty when it is."""
        if not self.low <= number <= self.high:
            return f"{number} is outside {self.low} to {self.high}"
        if self.step is not None and (number - self.low) % self.step:
            return f"{number} is no step of {self.step} from {self.low}"
        return ""


class ScoreOptions(Placed):
    """`scale`; `type` of its numbers; where the number stands, see `places`.

    The pattern `number` is what `whole` is to other readouts.
    """

    scale: Scale
    type: Literal["int", "float"] = "int"
    pattern: Literal["number", "first_line", "last_line", "prefix", "marker", "json"] = "number"
    key: str = Field(default="score", min_length=1)

    @model_validator(mode="after")
    def _options_agree(self) -> ScoreOptions:
        ends = (self.scale.low, self.scale.high, self.scale.step or Decimal(1))
        if self.type == "int" and any(end % 1 for end in ends):
            raise ValueError("a scale of integers has whole ends and a whole step")
        return self


class Score(PlacedReadout[ScoreOptions]):
    """Reads one number; the text as it stood is the label."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="score",
        column="number",
        needs_logprobs=False,
        claims=frozenset({"score", "verdict", "ranking", "top1", "pairwise"}),
        claim="score",
        analysed_as="score",
        structured={"pattern": "json", "structured": True},
        simulated="embedded:stable",
        controls="low",
    )
    options_model = ScoreOptions

    def provided_fields(self) -> frozenset[str]:
        """Return `{scale_low}`, `{scale_high}`, `{scale_step}` and `{candidate}`."""
        return frozenset({"scale_low", "scale_high", "scale_step", "candidate"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the scale as written, and the only candidate's text."""
        scale = self.options.scale
        fields = {"scale_low": f"{scale.low:f}", "scale_high": f"{scale.high:f}"}
        if scale.step is not None:
            fields["scale_step"] = f"{scale.step:f}"
        return {**fields, **sole_candidate(item)}

    def schema(self, item: Item) -> Mapping[str, JSON] | None:
        """Return the schema of `{"score": n}` within the scale, when structured."""
        if not self.options.structured:
            return None
        scale, whole = self.options.scale, self.options.type == "int"
        number: dict[str, JSON] = {"type": "integer" if whole else "number"}
        number |= {"minimum": plain(scale.low), "maximum": plain(scale.high)}
        return {
            "type": "object",
            "properties": {self.options.key: number},
            "required": [self.options.key],
            "additionalProperties": False,
        }

    def written_value(self, written: str, item: Item, arm: str) -> Value | Invalid:
        """Return the number on its scale, or why there is none."""
        form = _INT if self.options.type == "int" else _DECIMAL
        if not form.fullmatch(written):
            return unparsed(f"no {self.options.type} alone: {clip(written)}")
        number = Decimal(written)
        if fault := self.options.scale.fault(number):
            return Invalid(Reason.OUT_OF_SCALE, fault)
        return Value(number=float(number), label=written)

    def json_value(self, answer: JSON, item: Item, arm: str) -> Value | Invalid:
        """Return a JSON number on the scale; a number as a JSON string is none."""
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return unparsed(f"{self.options.key} is no number: {clip(json.dumps(answer))}")
        return self.written_value(repr(answer), item, arm)

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Return the cell's number on the scale.

        Tables write whole numbers as `4.0` and small ones as `1e-05`; as text both are numbers.
        """
        number = number_of(cell) if isinstance(cell, str) else None
        if number is None:
            return unparsed(f"no number: {clip(str(cell))}")
        if fault := self.options.scale.fault(number):
            return Invalid(Reason.OUT_OF_SCALE, fault)
        if self.options.type == "int" and number % 1:
            return unparsed(f"no int: {clip(str(cell))}")
        return Value(number=float(number), label=str(cell).strip())


def plain(number: Decimal) -> int | float:
    """Return a decimal as the JSON number that prints like it."""
    return int(number) if number % 1 == 0 else float(number)
