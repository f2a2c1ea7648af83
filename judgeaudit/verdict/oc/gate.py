"""A gate before it is frozen: whether it can tell a healthy instrument from a degraded one.

* Healthy and degraded are declared from the consumer's requirement. The pilot lends them its
  precision, never its value.
* A gate discriminates if healthy passes with chance >= .9 and degraded with <= .1.
* An instrument is capable if the pilot's one-sided bound at .1 is better than degraded.
* A branch that no data of the planned size can reach makes a gate that is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from statistics import median

import numpy as np
import pandas as pd

from judgeaudit.analysis.catalogue import compute, statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.declared import Design
from judgeaudit.analysis.question import Question
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import probes, select
from judgeaudit.statistic import Kind
from judgeaudit.stats.interval import Interval
from judgeaudit.stats.operating import (
    CAPABLE_LEVEL,
    DEGRADED_PASSES,
    HEALTHY_PASSES,
    Chances,
    capable,
    per_comparison,
    pilot_size,
)
from judgeaudit.verdict.oc.fixed import FixedRule
from judgeaudit.verdict.oc.instrument import (
    Precision,
    curve,
    grid,
    region_of,
    share_outcomes,
    standard_error,
)
from judgeaudit.verdict.oc.laid import Laid
from judgeaudit.verdict.oc.planned import Size
from judgeaudit.verdict.oc.predictive import Predicted, Resampler
from judgeaudit.verdict.oc.sequential import SequentialRule
from judgeaudit.verdict.oc.simulated import EVEN, Simulated
from judgeaudit.verdict.registered import question_of
from judgeaudit.verdict.worth import effective_draws

THINNED = 5
"""How often the pilot is thinned to the planned facets."""


@dataclass(frozen=True, slots=True)
class Piloted:
    """What a pilot says of one gate: its estimates at the gate's level, and at that for capability.

    The lists have one estimate an endpoint, the least precise first. `thinned` are estimates from
    as many days, windows and repeats of the pilot as the study will have, drawn several times:
    what the study's estimate will be worth follows from these, not from the richer pilot.
    """

    estimates: tuple[Estimate, ...]
    at_capable: tuple[Estimate, ...]
    thinned: tuple[Estimate, ...] = ()

    @property
    def units(self) -> int:
        """How many independent units the pilot has."""
        n = self.estimates[0].n
        return max(1, n.get("items" if self.estimates[0].cluster == "item" else "tasks", 1))


def piloted(
    gate: Gate,
    registration: Registration,
    table: pd.DataFrame,
    candidates: pd.DataFrame | None,
    design: Design | None = None,
) -> Piloted:
    """Return a pilot's readings of a gate's statistic, the least precise endpoint first."""
    question = question_of(gate, registration, candidates, design)
    both = []
    for level in (question.level, CAPABLE_LEVEL):
        found = compute(gate.statistic, table, replace(question, level=level), gate.where)
        heads: dict[str, Estimate] = {}
        for estimate in found:
            if estimate.analysis == gate.statistic:
                heads.setdefault(estimate.endpoint, estimate)
        both.append(tuple(sorted(heads.values(), key=_width, reverse=True)))
    return Piloted(both[0], both[1], _thinned(gate, registration, table, question))


def _thinned(
    gate: Gate, registration: Registration, table: pd.DataFrame, question: Question
) -> tuple[Estimate, ...]:
    """Return the least precise endpoint's estimate from each of several thinned pilots."""
    chosen = probes(select(table, gate.where))
    resampler = Resampler(chosen, registration.unit.cluster, 1, registration.schedule)
    rng, found = np.random.default_rng(question.seed), []
    for _ in range(THINNED):
        told = compute(gate.statistic, resampler.thinned(rng), question)
        heads = [e for e in told if e.analysis == gate.statistic and e.value is not None]
        found += sorted(heads, key=_width, reverse=True)[:1]
    return tuple(found)


def _width(estimate: Estimate) -> float:
    if estimate.low is None or estimate.high is None:
        return math.inf
    return estimate.high - estimate.low


def precision_of(gate: Gate, size: Size, pilot: Piloted | None) -> Precision | None:
    """Return what the planned estimate is worth; None where only a pilot could tell.

    Without a pilot a share counts one draw a unit, the least it can be worth.
    """
    kind = statistic(gate.statistic).kind
    measured = None if pilot is None or not pilot.estimates else _measured(kind, size, pilot)
    if measured is not None:
        return measured
    if kind == "share":
        return Precision(kind, size.units, draws=size.units)
    kappa = _declared_kappa(gate)
    return None if kappa is None else Precision(kind, size.units, se=kappa / math.sqrt(size.units))


def _measured(kind: Kind, size: Size, pilot: Piloted) -> Precision | None:
    """Return the median precision of the thinned pilots, at the planned number of units."""
    worth = effective_draws if kind == "share" else partial(standard_error, kind)
    known = [value for e in pilot.thinned if (value := worth(e)) is not None]
    if not known:
        return None
    middle = float(median(known))
    if kind != "share":
        return Precision(kind, pilot.units, se=middle, from_pilot=True).at(size.units)
    draws = Precision(kind, pilot.units, draws=middle, from_pilot=True).at(size.units).draws
    assert draws is not None
    most = max(size.comparisons, size.units)
    draws = min(max(draws, size.units), most)
    return Precision(kind, size.units, draws=draws, from_pilot=True)


def _declared_kappa(gate: Gate) -> float | None:
    for instrument in (gate.healthy, gate.degraded):
        if instrument is not None and "kappa" in instrument.params:
            return float(instrument.params["kappa"])
    return statistic(gate.statistic).kappa


def can_fire(gate: Gate, size: Size) -> tuple[bool, bool]:
    """Say whether data of the planned size can ever make the gate pass, and fail."""
    region, kind = region_of(gate), statistic(gate.statistic).kind
    if not size.comparisons:
        return False, False
    least = statistic(gate.statistic).least_units
    if gate.decide == "bound" and not 0 < least <= size.units:
        return False, False
    if kind == "share":
        sizes = {max(1, size.units), max(1, min(size.comparisons, 20_000))}
        found = [share_outcomes(n, region, gate.decide, float(gate.alpha)) for n in sizes]
        return any(p.any() for p, _ in found), any(f.any() for _, f in found)
    low, high = statistic(gate.statistic).bounds
    bottom = -math.inf if region.low is None else region.low
    top = math.inf if region.high is None else region.high
    return bottom <= high and top >= low, bottom > low or top < high


@dataclass(frozen=True, slots=True)
class Characteristic:
    """Everything that is known of a gate before any of its data."""

    gate: Gate
    size: Size
    fires: tuple[bool, bool]
    precision: Precision | None
    healthy: Chances | None
    degraded: Chances | None
    pilot: Piloted | None = None
    predicted: Predicted | None = None
    each_pair: tuple[float, int] | None = None
    points: tuple[tuple[float, Chances], ...] = ()
    proposals: tuple[str, ...] = ()
    cells: Mapping[str, Sequence[Simulated]] = field(default_factory=dict)
    rule: SequentialRule | FixedRule | None = None

    @property
    def declared(self) -> bool:
        """Whether the gate is meant to be confirmatory: it declares healthy and degraded."""
        return self.gate.healthy is not None and self.gate.degraded is not None

    @property
    def discriminates(self) -> bool | None:
        """Whether healthy passes often and degraded rarely enough; None where it is not known."""
        if self.healthy is None or self.degraded is None:
            return None
        return self.healthy.passes >= HEALTHY_PASSES and self.degraded.passes <= DEGRADED_PASSES

    @property
    def capable(self) -> bool | None:
        """Whether the pilot shows every endpoint to be better than degraded; None: not known."""
        if self.pilot is None or self.gate.degraded is None or not self.pilot.at_capable:
            return None
        found = [self._one_capable(estimate) for estimate in self.pilot.at_capable]
        return False if False in found else None if None in found else True

    def _one_capable(self, estimate: Estimate) -> bool | None:
        if estimate.low is None or estimate.high is None:
            return None
        if self.gate.band is not None:
            region = region_of(self.gate)
            assert region.low is not None
            assert region.high is not None
            if region.low <= estimate.low and estimate.high <= region.high:
                return True
            return False if estimate.low > region.high or estimate.high < region.low else None
        assert self.gate.degraded is not None
        interval = Interval(estimate.low, estimate.high, estimate.level, estimate.method)
        better = self.gate.at_least is not None
        return capable(interval, float(self.gate.degraded.value), higher_is_better=better)

    @property
    def pilot_items(self) -> int | None:
        """How many items a pilot needs to tell, for a share that declares both instruments."""
        gate = self.gate
        if gate.healthy is None or gate.degraded is None or gate.band is not None:
            return None
        if statistic(gate.statistic).kind != "share":
            return None
        return pilot_size(float(gate.healthy.value), float(gate.degraded.value))

    @property
    def sound(self) -> bool:
        """Whether nothing here stops a freeze of a confirmatory gate."""
        return all(self.fires) and bool(self.discriminates) and bool(self.capable)


def characterise_sequential(
    gate: Gate, registration: Registration, size: Size, pilot: Piloted | None, laid: Laid | None
) -> Characteristic:
    """Return the characteristic of a sequential gate: its stop rule on the even instrument.

    Tasks of several items are taken to be of one size.
    """
    rule = sequential_rule(gate, registration, size, laid)
    found = {
        name: rule.weigh(EVEN, float(value)).chances
        for name, value in values_of(gate).items()
        if name != "threshold"
    }
    return Characteristic(
        gate, size, rule.fires(), None, found.get("healthy"), found.get("degraded"), pilot,
        rule=rule,
    )  # fmt: skip


def sequential_rule(
    gate: Gate, registration: Registration, size: Size, laid: Laid | None
) -> SequentialRule:
    """Return a sequential gate's rule on what its plan can ask at most."""
    items = size.rows
    tasks = items if laid is None else np.unique(laid.tasks).size
    return SequentialRule(gate, registration, items, max(1, round(items / tasks)))


def values_of(gate: Gate) -> dict[str, Decimal]:
    """Return the true values that a gate is held against: healthy, threshold, degraded.

    The threshold is left out where it is one of the others.
    """
    threshold = gate.at_most if gate.at_most is not None else gate.at_least
    found = {
        "healthy": None if gate.healthy is None else gate.healthy.value,
        "threshold": threshold,
        "degraded": None if gate.degraded is None else gate.degraded.value,
    }
    if threshold in (found["healthy"], found["degraded"]):
        del found["threshold"]
    return {name: value for name, value in found.items() if value is not None}


def with_instruments(found: Characteristic) -> Characteristic:
    """Return a gate's characteristic with every instrument that its rule is held against."""
    rule = found.rule
    if rule is None:
        return found
    cells = {
        name: [rule.weigh(one, float(value)) for one in rule.instruments]
        for name, value in values_of(found.gate).items()
    }
    return replace(found, cells=cells)


def characterise(
    gate: Gate,
    size: Size,
    candidates: int,
    pilot: Piloted | None,
    rule: FixedRule | None = None,
) -> Characteristic:
    """Return a fixed gate's characteristic without what must be simulated or priced."""
    precision, region = precision_of(gate, size, pilot), region_of(gate)
    alpha, found = float(gate.alpha), {}
    for name in ("healthy", "degraded"):
        instrument = getattr(gate, name)
        if instrument is not None and precision is not None:
            found[name] = precision.chances(float(instrument.value), region, gate.decide, alpha)
    exact = (
        "aggregate" in statistic(gate.statistic).redesigns
        and gate.at_least is not None
        and candidates >= 2
    )
    each = (per_comparison(float(gate.at_least), candidates), candidates) if exact else None  # type: ignore[arg-type]
    points = (
        ()
        if precision is None
        else curve(precision, region, gate.decide, alpha, grid(precision.kind, _marks(gate, pilot)))
    )
    return Characteristic(
        gate,
        size,
        can_fire(gate, size),
        precision,
        found.get("healthy"),
        found.get("degraded"),
        pilot,
        each_pair=each,
        points=tuple(points),
        rule=rule,
    )


def _marks(gate: Gate, pilot: Piloted | None) -> list[float]:
    region = region_of(gate)
    marks = [end for end in (region.low, region.high) if end is not None]
    marks += [float(i.value) for i in (gate.healthy, gate.degraded) if i is not None]
    if pilot is not None:
        marks += [e.value for e in pilot.estimates if e.value is not None]
    return marks
