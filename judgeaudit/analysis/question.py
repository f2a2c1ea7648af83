"""What is asked of a table: which pairs, which rule for invalid readings, which unit, which level.

A registration's gate or rule becomes a `Question` (see `verdict.question_of`); an exploratory
analysis makes one by hand. Families take it as their only argument beside the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.statistic import Over as Over

if TYPE_CHECKING:
    import pandas as pd

    from judgeaudit.analysis.luck.declared import Design


@dataclass(frozen=True, slots=True)
class Question:
    """How a statistic is to be taken.

    `denominator = "planned"` and `invalid = "disagree"` both count a planned pair with an invalid
    reading as a disagreement; `"valid"` with `"exclude"` leaves it out and counts it. `cluster` is
    what is independent, `target` what the interval speaks of, `level` the two-sided level (a
    one-sided bound at alpha takes 1 - 2 alpha). `threshold` is the registered one, for families
    that tell how much of their data lies beyond it. `candidates` holds one row a candidate (columns
    item, candidate, correct, and its meta) where truth was constructed; `design` what a protocol
    declares of cells and contrasts.
    """

    over: Over = "same_window"
    params: Mapping[str, Any] = field(default_factory=dict)
    denominator: Literal["valid", "planned"] = "valid"
    invalid: Literal["exclude", "disagree"] = "exclude"
    cluster: Literal["item", "task", "world", "window"] = "item"
    target: str = "probes like these"
    level: float = 0.95
    seed: int = 0
    threshold: Decimal | None = None
    candidates: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    design: Design | None = field(default=None, compare=False, repr=False)

    @property
    def counts_invalid(self) -> bool:
        """True where a planned pair with an invalid reading is a disagreement."""
        return self.denominator == "planned" or self.invalid == "disagree"

    def rng(self) -> np.random.Generator:
        """Return a fresh generator from the seed: the same question gives the same numbers."""
        return np.random.default_rng(self.seed)

    def number(self, name: str, default: float) -> float:
        """Return the parameter `name` as a float; raises `InputError` where it is no number."""
        value = self.params.get(name, default)
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise InputError("params", name, f"{value!r} is no number", "give a number") from error

    def whole(self, name: str, default: int) -> int:
        """Return the parameter `name` as an int >= 1."""
        value = self.number(name, default)
        if value != int(value) or value < 1:
            raise InputError("params", name, f"{value!r}", "give a whole number of at least 1")
        return int(value)

    def over_pairs(self, over: Over) -> Self:
        """Return the same question over other pairs."""
        return replace(self, over=over)
