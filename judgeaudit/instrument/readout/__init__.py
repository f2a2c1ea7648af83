"""Readouts: how an item is asked, and how an answer becomes a value or `Invalid`.

A new readout is one file with a class on `Base`, its record in it, and one line in `READOUTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from judgeaudit.errors import Problem, RegistrationError
from judgeaudit.instrument.readout.base import Base
from judgeaudit.instrument.readout.choice import Choice
from judgeaudit.instrument.readout.interface import Cell, Prompt, Readout
from judgeaudit.instrument.readout.label import LabelLogprob, LabelPair, combine_pair
from judgeaudit.instrument.readout.numbers import number_of
from judgeaudit.instrument.readout.ranking import Ranking
from judgeaudit.instrument.readout.record import Claim, Column, ReadoutRecord
from judgeaudit.instrument.readout.score import Score
from judgeaudit.instrument.readout.text import Text
from judgeaudit.instrument.readout.verdict import Verdict
from judgeaudit.model import JSON, Item

__all__ = [
    "READOUTS",
    "Cell",
    "Claim",
    "Column",
    "Prompt",
    "Readout",
    "ReadoutRecord",
    "build",
    "combine_pair",
    "number_of",
    "options_problems",
    "problems_for",
]

READOUTS: dict[str, type[Base[Any]]] = {
    readout.record.name: readout
    for readout in (LabelLogprob, LabelPair, Ranking, Score, Verdict, Choice, Text)
}
"""The names that a protocol may use."""


def build(kind: str, prompt: Prompt, options: Mapping[str, JSON]) -> Readout:
    """Return the readout `kind` with its prompt and options.

    Raises `RegistrationError` with every problem of the options, keys relative to the readout's
    own table (`scale.low`).
    """
    if problems := options_problems(kind, options):
        raise RegistrationError("readout", problems)
    readout = READOUTS[kind]
    return cast(Readout, readout(prompt, readout.options_model.model_validate(dict(options))))


def options_problems(kind: str, options: Mapping[str, JSON]) -> list[Problem]:
    """Return everything wrong with a readout's name and options, each with its key path."""
    if kind not in READOUTS:
        return [Problem("kind", f"no readout {kind!r}", f"one of {', '.join(sorted(READOUTS))}")]
    try:
        READOUTS[kind].options_model.model_validate(dict(options))
    except ValidationError as error:
        return [
            Problem(
                ".".join(map(str, fault["loc"])) or "options",
                f"{fault['input']!r}"[:120],
                fault["msg"].removeprefix("Value error, "),
            )
            for fault in error.errors(include_url=False)
        ]
    return []


def problems_for(readout: Readout, item: Item) -> list[str]:
    """Return why `item` cannot be asked by `readout`, one line each; empty when it can."""
    return [f"item {item.id!r}: {problem}" for problem in readout.problems(item)]
