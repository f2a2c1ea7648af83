"""An estimate: the number, its interval, what it speaks of, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimated quantity.

    `value` is None where the quantity is undefined; `undefined` then says why, in words. `exact` is
    the value as a rational where it is a count ratio or a rank statistic, for comparisons with
    decimal thresholds. `low`, `high` bound a two-sided interval at `level` by `method`; both are
    None where no honest interval exists, and `caveats` say so. `cluster` is what was treated as
    independent (item, task, world, window, endpoint), `target` what the interval speaks of
    ("these probes", "probes like these", ...). `unit` is the averaging unit ("single" or
    "mean of m"). `n` counts by kind (items, observations, pairs, groups, windows); `excluded`
    counts by reason. `scope` narrows the data ("all", "condition=quiet", "group=25%").
    `missing` is the share of planned comparisons without a valid value, `worst` the least and the
    greatest value that the missing ones could have made of it. `over` and `params` are those of the
    question; `asked_by` says what registered it ("gates.flips", "rules.day", "analyses.0",
    "controls"; empty where nothing did), `outcome` what a gate or rule named for it.
    """

    analysis: str
    value: float | None
    endpoint: str = "all"
    scope: str = "all"
    exact: Fraction | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    cluster: str = "item"
    target: str = "probes like these"
    unit: str = "single"
    n: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    undefined: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    confirmatory: bool = False
    missing: float | None = None
    worst: tuple[float, float] | None = None
    over: str = "all"
    params: Mapping[str, object] = field(default_factory=dict)
    asked_by: str = ""
    outcome: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != (self.undefined is not None):
            raise ValueError(f"{self.analysis}: an estimate has a value or says why it has none")

    def with_caveats(self, *caveats: str) -> Self:
        """Return the same estimate with further caveats."""
        return replace(self, caveats=self.caveats + caveats)

    def in_scope(self, scope: str) -> Self:
        """Return the same estimate for a part of the data."""
        return replace(self, scope=scope)

    def with_details(self, **details: object) -> Self:
        """Return the same estimate with further details; a key given twice takes the new value."""
        return replace(self, details={**self.details, **details})


def undefined(analysis: str, why: str, **fields: object) -> Estimate:
    """Return an estimate that says in words why it has no value."""
    return Estimate(analysis, None, undefined=why, **fields)  # type: ignore[arg-type]
