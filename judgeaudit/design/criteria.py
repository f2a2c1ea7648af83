"""Gates and rules: what a study's verdicts are held against, as registered.

A gate passes, fails, is inconclusive or undefined. A rule names an outcome by frozen bands and
gates nothing. Thresholds are decimals as written.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from judgeaudit.design.base import Name, Strict
from judgeaudit.statistic import Over


class Instrument(Strict):
    """A declared instrument for operating characteristics: the statistic's true value and more."""

    value: Decimal
    note: str = ""
    params: dict[str, Any] = Field(default_factory=dict)


class Gate(Strict):
    """One gate.

    Exactly one of `at_least`, `at_most`, `band` is given. `decide = "point"` compares the estimate
    itself; `"bound"` asks the one-sided `alpha` bound (both bounds inside for a band).
    `part_of` names a composite gate that passes only if all its parts do.
    """

    id: Name
    statistic: str
    over: Over = "same_window"
    where: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)
    part_of: Name | None = None
    at_least: Decimal | None = None
    at_most: Decimal | None = None
    band: tuple[Decimal, Decimal] | None = None
    decide: Literal["point", "bound"] = "bound"
    alpha: Decimal = Decimal("0.05")
    denominator: Literal["valid", "planned"] = "valid"
    invalid: Literal["exclude", "disagree"] = "exclude"
    max_missing: Decimal = Decimal("0.02")
    healthy: Instrument | None = None
    degraded: Instrument | None = None
    sensitivity: list[str] = Field(default_factory=list)
    source: str = ""

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        given = [
            name for name in ("at_least", "at_most", "band") if getattr(self, name) is not None
        ]
        if len(given) != 1:
            raise ValueError(
                f"give exactly one of at_least, at_most, band (found {given or 'none'})"
            )
        if self.band is not None and not self.band[0] < self.band[1]:
            raise ValueError(f"band {self.band[0]}..{self.band[1]} is empty")
        if not 0 < self.alpha < Decimal("0.5"):
            raise ValueError(f"alpha {self.alpha} is not between 0 and .5")
        return self


class Band(Strict):
    """A named stretch of a rule's statistic: low <= value < high, of |value| where `absolute`."""

    name: Name
    at_least: Decimal | None = None
    below: Decimal | None = None
    above: Decimal | None = None
    absolute: bool = False


class Rule(Strict):
    """A rule: the first band that holds names the outcome; none holding is `unnamed`."""

    id: Name
    statistic: str
    over: Over = "all"
    where: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)
    bands: list[Band] = Field(min_length=1)
    source: str = ""


class Analysis(Strict):
    """What a study has computed and decides nothing on; without `over`, each comparison it holds.

    In a registration its name alone may stand for it.
    """

    statistic: str
    over: Over | None = None
    where: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)


class Sequential(Strict):
    """A gate that asks in blocks and stops as soon as its registered rule allows.

    `flip_within`: two fresh calls an item. `flip_vs_baseline`: one call an item, held against one
    of the baseline's k >= 5 replies, drawn anew by each run (a single stored reply would bias the
    rate for life); `baseline` is that study's folder relative to this one, `digest` that of its
    last manifest. `spearman_looks`: two fresh calls an item, looks at the blocks' ends from
    `first_look` items on, with bounds of O'Brien and Fleming or Pocock.

    `unit` is what counts as one independent look at flips: the item; the block, where noise may
    come in bursts; or the task, where items of one task are alike (`schedule.block` then counts
    whole tasks).
    """

    design: Literal["flip_within", "flip_vs_baseline", "spearman_looks"]
    bound: Literal["obf", "pocock"] = "obf"
    first_look: int = Field(default=40, ge=20)
    unit: Literal["item", "block", "task"] = "item"
    baseline: str | None = Field(default=None, min_length=1)
    digest: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")


class Watch(Strict):
    """Monitoring: what a run over the anchors is compared with, and when it raises an alarm.

    The windows are runs, in order. The first `reference` set each item's mean and the within-item
    SD, the next `calibration` set the threshold (one run a day), all later ones are watched.
    `alpha` is the chance of a false alarm a run, at least 1/(calibration + 1). `allowance` is half
    of the shift, in SDs, that should be found soonest. `margin` is the largest change against a
    baseline that the consumer tolerates, in units of the reading.
    """

    alpha: Decimal = Field(default=Decimal("0.05"), gt=0, lt=1)
    reference: int = Field(default=2, ge=1)
    calibration: int = Field(default=19, ge=1)
    allowance: Decimal = Field(default=Decimal("0.5"), ge=0)
    margin: Decimal | None = Field(default=None, gt=0)
