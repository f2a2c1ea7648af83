"""What would discriminate, where a gate does not: more items, a statistic, k draws; and its price.

The threshold is the requirement's. Lowering it to the judge is never proposed: a judge that does
not meet what its consumer needs is the finding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.analysis.catalogue import compute, statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.stats.aggregation import calls_for_sd, smallest_k
from judgeaudit.stats.interval import Undefined
from judgeaudit.verdict.oc.fixed import MOST_UNITS, FixedRule
from judgeaudit.verdict.oc.fixed import smallest_units as executed_units
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.instrument import region_of, smallest_units
from judgeaudit.verdict.oc.sequential import MOST_ITEMS, SequentialRule, smallest_cap
from judgeaudit.verdict.oc.simulated import EVEN, FEW_ITEMS, holds
from judgeaudit.verdict.registered import question_of

RUNS = 2_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a call costs on average, by currency; empty where no prices are registered."""

    a_call: Mapping[str, Decimal]

    def of(self, calls: float) -> str:
        """Return a number of calls with what they cost."""
        money = ", ".join(f"{amount * round(calls):.2f} {c}" for c, amount in self.a_call.items())
        return f"{round(calls):,} calls" + (f", about {money}" if money else "")


def proposals(
    found: Characteristic,
    registration: Registration,
    pilot: pd.DataFrame | None,
    candidates: int,
    price: Price,
) -> Iterator[str]:
    """Yield designs that could tell what this gate is meant to tell, none with a lower threshold.

    For a gate that discriminates with a capable instrument only what it takes where the noise lies
    in few items is told.
    """
    yield from for_few_items(found, price)
    if found.discriminates and found.capable is not False:
        return
    incapable, ways = found.capable is False, statistic(found.gate.statistic).redesigns
    if not found.discriminates and not incapable:
        yield from (
            more_items(found, price)
            if registration.sequential is None
            else more_blocks(found, price)
        )
    if "aggregate" in ways and pilot is not None and candidates >= 3:
        yield from aggregate_of_k(found, registration, pilot, candidates, price)
        yield from pairwise(found, registration, pilot)
    if "mean" in ways and incapable:
        yield from mean_of_k(found, price)
    if "continuous" in ways:
        yield (
            "a continuous readout (label_pair or score) with an equivalence band: two one-sided "
            "tests on its difference, whose width a new pilot's repeats give"
        )
    if incapable:
        yield (
            "do not run: the threshold is the requirement's and stays; that this judge does not "
            "meet it is a finding"
        )


def more_items(found: Characteristic, price: Price) -> Iterator[str]:
    """Yield the fewest units at which this very gate discriminates, by the point and the bound."""
    gate = found.gate
    if found.precision is None or gate.healthy is None or gate.degraded is None:
        return
    healthy, degraded = float(gate.healthy.value), float(gate.degraded.value)
    for rule in dict.fromkeys((gate.decide, "bound")):
        units = smallest_units(
            found.precision,
            region_of(gate),
            rule,
            float(gate.alpha),
            healthy,
            degraded,
        )
        if isinstance(units, Undefined):
            yield f"no number of items makes this gate discriminate by the {rule} ({units.reason})"
            continue
        calls = found.size.calls_a_unit * units
        yield (
            f"{units:,} independent units instead of {found.size.units:,}, decided by the {rule}: "
            f"{price.of(calls)} an endpoint"
        )


def more_blocks(found: Characteristic, price: Price) -> Iterator[str]:
    """Yield the fewest items at which the executed stop rule tells healthy from degraded."""
    gate, rule = found.gate, found.rule
    if gate.healthy is None or gate.degraded is None or not isinstance(rule, SequentialRule):
        return
    healthy, degraded = float(gate.healthy.value), float(gate.degraded.value)
    cap = smallest_cap(rule, healthy, degraded)
    if cap is None:
        yield f"no cap up to {MOST_ITEMS:,} items makes this stop rule discriminate"
        return
    mean = replace(rule, cap=cap).weigh(EVEN, healthy).calls
    yield (
        f"a cap of {cap:,} items instead of {rule.cap:,}, in blocks of {rule.block}: at most "
        f"{price.of(cap * rule.calls_an_item)} an endpoint, {mean:.0f} on average where healthy"
    )


def for_few_items(found: Characteristic, price: Price) -> Iterator[str]:
    """Yield the units at which a healthy judge passes whose noise lies in few items.

    Nothing where the planned number is enough, or where the even one fails as well.
    """
    gate, rule = found.gate, found.rule
    lacking = [
        cell
        for cell in found.cells.get("healthy", ())
        if cell.instrument == FEW_ITEMS and not holds("healthy", cell, float(gate.alpha))
    ]
    if not lacking or not isinstance(rule, FixedRule) or not found.discriminates:
        return
    healthy, head = lacking[0].truth, "a healthy judge whose noise lies in few items"
    units = executed_units(rule, healthy, None, (FEW_ITEMS,))
    if units is None:
        yield f"{head} is not passed with chance .9 by any number of units up to {MOST_UNITS:,}"
        return
    calls = found.size.calls_a_unit * units
    yield (
        f"{units:,} independent units instead of {found.size.units:,} pass {head} with chance .9, "
        f"too: {price.of(calls)} an endpoint"
    )


def aggregate_of_k(
    found: Characteristic,
    registration: Registration,
    pilot: pd.DataFrame,
    candidates: int,
    price: Price,
) -> Iterator[str]:
    """Yield the fewest calls whose Borda aggregate would reach healthy, by a surrogate."""
    gate = found.gate
    wanted = float(gate.healthy.value if gate.healthy is not None else gate.at_least or 1)
    headline = _pilot_reading("ranking_exact", gate, registration, pilot)
    raw: Any = None if headline is None else headline.details.get("spectrum")
    if not raw:
        return
    spectrum = np.zeros(math.comb(candidates, 2) + 1)
    for distance, count in raw.items():
        spectrum[int(distance)] += count
    rng = np.random.default_rng(registration.schedule.seed)
    k = smallest_k(spectrum, candidates, wanted, rng=rng, runs=RUNS)
    if isinstance(k, Undefined):
        yield f"an aggregate of k calls (Borda): {k.reason}"
        return
    calls = found.size.calls * k.k
    yield (
        f"an aggregate of k = {k.k} calls (Borda) as the measurement, every draw kept: two of them "
        f"would agree exactly with chance {k.exact:.3f} on the pilot's Kendall spectrum (surrogate "
        f"{k.surrogate}); {price.of(calls)} an endpoint; pilot it first"
    )


def pairwise(
    found: Characteristic, registration: Registration, pilot: pd.DataFrame
) -> Iterator[str]:
    """Yield the pairwise gate, with what the pilot read at that granularity."""
    reading = _pilot_reading("ranking_pairwise", found.gate, registration, pilot)
    if reading is None or reading.value is None:
        return
    low = "" if reading.low is None else f", lower bound at .05 {reading.low:.4f}"
    yield (
        f'a pairwise band: claim = "pairwise" and statistic ranking_pairwise, where the consumer '
        f"uses the order of pairs (the pilot reads {reading.value:.4f}{low}); its threshold is 1 "
        "less the share of pairs that the consumer lets differ"
    )


def mean_of_k(found: Characteristic, price: Price) -> Iterator[str]:
    """Yield how many calls a mean needs for the noise that is healthy."""
    gate = found.gate
    if found.pilot is None or gate.healthy is None:
        return
    value = found.pilot.estimates[0].value
    if not value:
        return
    k = calls_for_sd(value, float(gate.healthy.value))
    yield (
        f"the mean of k = {k} calls as the measurement, if the noise dithers the scale's steps: "
        f"{price.of(found.size.calls * k)} an endpoint; pilot it first"
    )


def _pilot_reading(
    name: str, gate: Gate, registration: Registration, pilot: pd.DataFrame
) -> Estimate | None:
    question = question_of(gate, registration)
    return next(iter(compute(name, pilot, question, gate.where)), None)


def items_for_power(found: Characteristic, power: float) -> int | Undefined:
    """Return the units at which the healthy instrument passes with chance `power`.

    By the search that `oc` takes: the executed stop rule where the gate is sequential, else exact
    for shares on independent draws and normal on the statistic's scale.
    """
    gate = found.gate
    if gate.healthy is None:
        return Undefined("needs a healthy instrument")
    healthy, region = float(gate.healthy.value), region_of(gate)
    if not region.holds(np.array([healthy]))[0]:
        return Undefined("the healthy instrument does not meet the threshold")
    if healthy in (region.low, region.high) and gate.decide == "bound":
        return Undefined("healthy equals the threshold: no number of items decides")
    if isinstance(found.rule, SequentialRule):
        cap = smallest_cap(found.rule, healthy, None, wanted=power)
        return cap or Undefined(f"no cap up to {MOST_ITEMS:,} items suffices")
    if found.precision is None:
        return Undefined("needs a pilot")
    return smallest_units(
        found.precision, region, gate.decide, float(gate.alpha), healthy, None,
        wanted=power, most=200_000,
    )  # fmt: skip
