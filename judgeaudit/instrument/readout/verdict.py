"""One of a closed set of categories: A / B / tie, pass / fail.

A category that names a shown candidate (`names`: the first shown, the second shown) is decoded to
that candidate's id, so that both orders of a pair speak of the same thing. Matching is exact: what
stands in the registered place (`places`) must equal a registered surface form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from judgeaudit.instrument.readout.base import (
    clip,
    duplicates,
    slot_fields,
    sole_candidate,
    unparsed,
)
from judgeaudit.instrument.readout.interface import Cell
from judgeaudit.instrument.readout.places import Pattern, Placed, PlacedReadout, enum_schema
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.model import JSON, SOLE_ARM, Candidate, Invalid, Item, Value

AS_GIVEN, SWAPPED = "as-given", "swapped"


class VerdictOptions(Placed):
    """`categories`; which two of them name the shown candidates; the orders asked.

    `names` defaults to A and B where both are categories, else to none. `surface_forms` adds
    texts that count as a category, beside itself; `case_sensitive` governs all of them. Where the
    answer stands, see `places`.
    """

    categories: tuple[str, ...] = Field(min_length=2)
    names: tuple[str, ...] | None = None
    orders: Literal["as_given", "both"] = "as_given"
    surface_forms: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    case_sensitive: bool = True
    pattern: Pattern = "whole"
    key: str = Field(default="verdict", min_length=1)

    @model_validator(mode="after")
    def _options_agree(self) -> VerdictOptions:
        if again := duplicates(self.categories):
            raise ValueError(f"category {again[0]!r} is given twice")
        if unknown := sorted(set(self.surface_forms) - set(self.categories)):
            raise ValueError(f"surface_forms names {unknown[0]!r}, which is no category")
        if len(self.named) not in (0, 2) or not set(self.named) <= set(self.categories):
            raise ValueError("names must be two of the categories, or empty")
        if self.orders == "both" and not self.named:
            raise ValueError('orders = "both" needs names: which category means which candidate')
        if again := duplicates(form for c in self.categories for form in self._forms(c)):
            raise ValueError(f"surface form {again[0]!r} belongs to two categories")
        return self

    @property
    def named(self) -> tuple[str, ...]:
        """The categories that name the first and the second shown candidate; or none."""
        if self.names is not None:
            return self.names
        return ("A", "B") if {"A", "B"} <= set(self.categories) else ()

    def _forms(self, category: str) -> set[str]:
        forms = {category, *self.surface_forms.get(category, ())}
        return forms if self.case_sensitive else {form.casefold() for form in forms}

    def match(self, text: str) -> str | None:
        """Return the category that `text` is a registered form of."""
        written = text if self.case_sensitive else text.casefold()
        return next((c for c in self.categories if written in self._forms(c)), None)


class Verdict(PlacedReadout[VerdictOptions]):
    """Reads a category; the category as it was answered is the label."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="verdict",
        column="category",
        needs_logprobs=False,
        claims=frozenset({"verdict", "top1", "pairwise"}),
        claim="verdict",
        analysed_as="verdict",
        structured={"pattern": "json", "structured": True},
        simulated="embedded:stable",
        controls="compared_if_several",
    )
    options_model = VerdictOptions

    def arms(self, item: Item) -> tuple[str, ...]:
        """Return the orders asked of a pair; one arm for any other item."""
        if len(item.candidates) != 2 or not self.options.named:
            return (SOLE_ARM,)
        return (AS_GIVEN, SWAPPED) if self.options.orders == "both" else (AS_GIVEN,)

    def provided_fields(self) -> frozenset[str]:
        """Return `{candidate_1}`, `{candidate_2}`, `{candidate}`, `{categories}`."""
        return frozenset({"candidate_1", "candidate_2", "candidate", "categories"})

    def shown(self, item: Item, arm: str) -> tuple[Candidate, ...]:
        """Return the candidates in the order that `arm` shows them."""
        return item.candidates[::-1] if arm == SWAPPED else item.candidates

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the candidates' texts as shown, and the categories joined by commas."""
        shown = self.shown(item, arm)
        fields: dict[str, JSON] = {"categories": ", ".join(self.options.categories)}
        if len(shown) == 2:
            fields |= {"candidate_1": shown[0].text, "candidate_2": shown[1].text}
        return {**fields, **slot_fields(item, shown), **sole_candidate(item)}

    def item_problems(self, item: Item) -> list[str]:
        """Return a number of candidates that the categories cannot name, or an unknown gold."""
        count = len(item.candidates)
        if self.options.named and count != 2:
            return [f"{count} candidates, the categories name 2"]
        meanings = self._meanings(item, self.arms(item)[0]).values()
        if item.gold is not None and item.gold not in meanings:
            return [f"gold {item.gold!r} is none of {', '.join(meanings)}"]
        return []

    def _meanings(self, item: Item, arm: str) -> dict[str, str]:
        """Return what each category means: a candidate's id, or itself."""
        ids = [candidate.id for candidate in self.shown(item, arm)]
        return {c: c for c in self.options.categories} | dict(
            zip(self.options.named, ids, strict=False)
        )

    def schema(self, item: Item) -> Mapping[str, JSON] | None:
        """Return the schema of one category, when structured."""
        options = self.options
        return enum_schema(options.key, options.categories) if options.structured else None

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Return the cell's category: what one means (a candidate's id), or as it was answered.

        What two readings are named after is the meaning, so it comes first where both are possible.
        """
        written = cell.strip() if isinstance(cell, str) else str(cell)
        meanings = self._meanings(item, arm if arm in (AS_GIVEN, SWAPPED) else AS_GIVEN)
        if written in meanings.values():
            return Value(category=written, label=written)
        category = self.options.match(written)
        if category is None:
            return unparsed(f"no category: {clip(written)}")
        return Value(category=meanings[category], label=category)

    def written_value(self, written: str, item: Item, arm: str) -> Value | Invalid:
        """Return the category by its meaning in this arm, or why there is none."""
        category = self.options.match(written)
        if category is None:
            return unparsed(f"no category: {clip(written)}")
        return Value(category=self._meanings(item, arm)[category], label=category)
