"""A ranking of all candidates, best first, all or nothing (CE: I0-R).

By default the answer is one JSON object and nothing else. Candidates are shown under aliases. Which
candidate gets which alias is a permutation derived from the option `seed` and the item's id, so it
stands in the frozen protocol and needs no file of its own: an alias map that is missing at freeze
(an incident in CE) cannot be.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from judgeaudit.instrument.readout.base import clip, duplicates, json_answer, unparsed
from judgeaudit.instrument.readout.interface import Cell
from judgeaudit.instrument.readout.places import Placed, PlacedReadout
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.model import JSON, Candidate, Invalid, Item, Reason, Value


class RankingOptions(Placed):
    """`aliases` in the order shown; `order` and `seed` of the candidates behind them.

    `structured` asks the API for an answer by schema; where the answer stands, see `places`: in any
    pattern but `json` it may be `B > A > C` too. `template` is how one candidate is shown,
    `separator` what stands between two.
    """

    aliases: tuple[str, ...] = Field(default=tuple(string.ascii_uppercase), min_length=2)
    order: Literal["seeded", "as_given"] = "seeded"
    seed: int = 0
    pattern: Literal["json", "whole", "first_line", "last_line", "prefix", "marker"] = "json"
    key: str = Field(default="ranking", min_length=1)
    template: str = "{alias}:\n{text}"
    separator: str = "\n\n"

    @field_validator("aliases")
    @classmethod
    def _aliases_differ(cls, aliases: tuple[str, ...]) -> tuple[str, ...]:
        if again := duplicates(aliases):
            raise ValueError(f"alias {again[0]!r} is given twice")
        if any(not alias.strip() for alias in aliases):
            raise ValueError("an alias is empty")
        return aliases

    @field_validator("template")
    @classmethod
    def _template_shows_both(cls, template: str) -> str:
        if "{alias}" not in template or "{text}" not in template:
            raise ValueError("the template must hold {alias} and {text}")
        return template


class Ranking(PlacedReadout[RankingOptions]):
    """Reads an exact permutation of the shown aliases."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="ranking",
        column="ranking",
        needs_logprobs=False,
        claims=frozenset({"ranking", "top1", "pairwise"}),
        claim="ranking",
        analysed_as="ranking",
        structured={"structured": True},
        simulated="embedded:stable",
        controls="compared",
    )
    options_model = RankingOptions
    must_show = frozenset({"candidates"})

    def provided_fields(self) -> frozenset[str]:
        """Return `{candidates}`, `{aliases}` and `{count}`."""
        return frozenset({"candidates", "aliases", "count"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the candidates as shown, the aliases joined by commas, and their number."""
        shown = self.alias_map(item)
        blocks = [self._block(alias, candidate.text) for alias, candidate in shown.items()]
        return {
            "candidates": self.options.separator.join(blocks),
            "aliases": ", ".join(shown),
            "count": len(shown),
        }

    def _block(self, alias: str, text: str) -> str:
        # The alias first: a candidate's own text may hold the characters "{alias}".
        return self.options.template.replace("{alias}", alias).replace("{text}", text)

    def alias_map(self, item: Item) -> dict[str, Candidate]:
        """Return which candidate stands behind each alias, in the order shown."""
        candidates = list(item.candidates)
        if self.options.order == "seeded":
            candidates = permuted(candidates, f"{self.options.seed}:{item.id}")
        return dict(zip(self.options.aliases, candidates, strict=False))

    def item_problems(self, item: Item) -> list[str]:
        """Return too few or too many candidates."""
        count, most = len(item.candidates), len(self.options.aliases)
        if count < 2:
            return [f"{count} candidates, a ranking needs at least 2"]
        return [f"{count} candidates, but {most} aliases"] if count > most else []

    def schema(self, item: Item) -> Mapping[str, JSON] | None:
        """Return the schema whose `ranking` takes the shown aliases alone, when structured."""
        if not self.options.structured:
            return None
        aliases = list(self.alias_map(item))
        entries = {"type": "string", "enum": aliases}
        count = len(aliases)
        array = {"type": "array", "items": entries, "minItems": count, "maxItems": count}
        return {
            "type": "object",
            "properties": {self.options.key: array},
            "required": [self.options.key],
            "additionalProperties": False,
        }

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Return the cell's candidate ids, best first; text is `c1>c2>c3` or a JSON list.

        All ids of the item must be there, each once: aliases are known in replies alone.
        """
        ids = _names_in(cell) if isinstance(cell, str) else list(cell)
        if isinstance(ids, Invalid):
            return ids
        if fault := _not_a_permutation(ids, [c.id for c in item.candidates], "candidate"):
            return Invalid(Reason.NOT_A_PERMUTATION, fault)
        return Value(ranking=tuple(ids), label=" ".join(ids))

    def written_value(self, written: str, item: Item, arm: str) -> Value | Invalid:
        """Return the ranking written as `B > A > C`, as a JSON list or in the JSON object."""
        if written.startswith("{"):
            found = json_answer(written, self.options.key, other_keys=self.options.other_keys)
        else:
            found = _names_in(written)
        return found if isinstance(found, Invalid) else self.json_value(found, item, arm)

    def json_value(self, answer: JSON, item: Item, arm: str) -> Value | Invalid:
        """Return candidate ids, best first; the aliases as answered are the label."""
        shown = self.alias_map(item)
        if fault := _not_a_permutation(answer, list(shown)):
            return Invalid(Reason.NOT_A_PERMUTATION, fault)
        return Value(ranking=tuple(shown[alias].id for alias in answer), label=" ".join(answer))


def permuted(candidates: list[Candidate], key: str) -> list[Candidate]:
    """Return the candidates in an order drawn from SHA-256 of `key` and their position.

    A sort by digest needs no random generator, so it is the same on every machine and version.
    """
    order = sorted(
        range(len(candidates)), key=lambda i: hashlib.sha256(f"{key}:{i}".encode()).digest()
    )
    return [candidates[i] for i in order]


def _names_in(text: str) -> list[JSON] | Invalid:
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(">")]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return unparsed(f"not a JSON list: {clip(text)}")
    return found if isinstance(found, list) else unparsed(f"not a JSON list: {clip(text)}")


def _not_a_permutation(answer: JSON, aliases: list[str], what: str = "alias") -> str:
    if not isinstance(answer, list):
        return f"not a list: {clip(repr(answer))}"
    if strange := [entry for entry in answer if entry not in aliases]:
        return f"{clip(repr(strange[0]), 40)} is no shown {what}"
    if again := duplicates(answer):
        return f"{what} {again[0]!r} twice"
    missing = [alias for alias in aliases if alias not in answer]
    return f"{what} {missing[0]!r} missing" if missing else ""
