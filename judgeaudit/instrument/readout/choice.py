"""One of the tools that an item names (ML: the first tool of the next run).

Tools are an item's candidates, shown by their text and decoded to their id, or a list of names in
one of its fields. Matching is exact, as for a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from judgeaudit.instrument.readout.base import clip, duplicates, unparsed
from judgeaudit.instrument.readout.interface import Cell
from judgeaudit.instrument.readout.places import Pattern, Placed, PlacedReadout, enum_schema
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.model import JSON, Invalid, Item, Value


class ChoiceOptions(Placed):
    """`tools_field` names the item's field that lists the tools; without it, the candidates."""

    tools_field: str | None = Field(default=None, min_length=1)
    case_sensitive: bool = True
    pattern: Pattern = "whole"
    key: str = Field(default="tool", min_length=1)


class Choice(PlacedReadout[ChoiceOptions]):
    """Reads a tool's name; `category` is what it stands for, `label` the name as shown."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="choice",
        column="category",
        needs_logprobs=False,
        claims=frozenset({"choice"}),
        claim="choice",
        analysed_as="choice",
        structured={"pattern": "json", "structured": True},
        simulated="embedded:bayes-agent",
        controls="tools",
    )
    options_model = ChoiceOptions

    def provided_fields(self) -> frozenset[str]:
        """Return `{tools}`: the names joined by commas."""
        return frozenset({"tools"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the tools' names in the item's order."""
        return {"tools": ", ".join(self.tools(item))}

    def tools(self, item: Item) -> dict[str, str]:
        """Return what each shown name stands for: a candidate's id, or itself."""
        if self.options.tools_field is None:
            return {candidate.text: candidate.id for candidate in item.candidates}
        names = item.fields.get(self.options.tools_field)
        listed = names if isinstance(names, list | tuple) else ()
        return {name: name for name in listed if isinstance(name, str)}

    def item_problems(self, item: Item) -> list[str]:
        """Return too few tools, or two that the registered matching cannot tell apart."""
        names = list(self.tools(item))
        if len(names) < 2:
            where = self.options.tools_field or "candidates"
            return [f"{len(names)} tools in {where}, a choice needs at least 2"]
        folded = names if self.options.case_sensitive else [name.casefold() for name in names]
        found = [f"two tools read the same: {name!r}" for name in duplicates(folded)]
        return found + [f"tool {name!r} has outer spaces" for name in names if name != name.strip()]

    def schema(self, item: Item) -> Mapping[str, JSON] | None:
        """Return the schema of one tool's name, when structured."""
        options = self.options
        return enum_schema(options.key, tuple(self.tools(item))) if options.structured else None

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Return the cell's tool: what a name stands for (a candidate's id), or a name as shown."""
        written = cell.strip() if isinstance(cell, str) else str(cell)
        if written in self.tools(item).values():
            return Value(category=written, label=written)
        return self.written_value(written, item, arm)

    def written_value(self, written: str, item: Item, arm: str) -> Value | Invalid:
        """Return the tool of that name, or why there is none."""
        for name, meaning in self.tools(item).items():
            if written == name or (not self.options.case_sensitive and _same(written, name)):
                return Value(category=meaning, label=name)
        return unparsed(f"no tool of this item: {clip(written)}")


def _same(left: str, right: str) -> bool:
    return left.casefold() == right.casefold()
