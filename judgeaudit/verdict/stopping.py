"""The stop rule of a sequential gate: sealed blocks in, decided or not out. Pure.

* Items count in the order in which the plan asks them, each once. What an item shows is decided
  here: `flip_within` compares its two fresh readings, `flip_vs_baseline` its one fresh reading with
  one of the baseline's, drawn by the run's seed.
* Where the block or the task is the unit (`sequential.unit`), its share of flips is one value, and
  two bettors on its mean decide (`stats.betting`): noise may lie in a unit as it likes.
* Flips feed two Beta-mixture e-processes a gate and endpoint (`stats.sequential`): they may be
  looked at after every item, and what was decided stays decided.
* Spearman is looked at where blocks end, from `first_look` items on, with planned bounds
  (`stats.looks`). A judge that repeats every rank exactly has no standard error, so no look decides
  it; more than `max_missing` items without two scores keep it from passing.
* A study stops when every gate is decided at every endpoint. At the cap an undecided gate is
  inconclusive, and undefined where no item could be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import pandas as pd

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate, Sequential
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import probes
from judgeaudit.stats.betting import mean_bounds, stop_mean_gates
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.looks import PlannedLooks, plan_looks, z_at_look
from judgeaudit.stats.ranks import spearman_between
from judgeaudit.stats.sequential import FlipGate, log_e_fail, log_e_pass
from judgeaudit.verdict.compare import threshold_text
from judgeaudit.verdict.flips import (
    BaselineReplies,
    Flip,
    Floats,
    Ints,
    against,
    drawn,
    unit_codes,
    unit_values,
    within,
)
from judgeaudit.verdict.verdicts import Held, Outcome, Verdict, overall
from judgeaudit.verdict.words import held_sentence, not_said

EARLY = "stopped by a rule: the share itself is biased by the stop, its interval is not"
LEAST_BASELINE = 5
SLOTS = (
    "The verdict speaks of the time slots that were asked: what a judge does in other runs, runs "
    "alone can show."
)
NO_BURSTS = (
    "The verdict's error holds where noise does not come in bursts; for noise in bursts register "
    'sequential.unit = "block".'
)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one gate is at one endpoint.

    `items` is how many were asked when it was decided, or so far; `done` whether it was.
    """

    gate: Gate
    endpoint: str
    outcome: Outcome
    estimate: Estimate
    items: int
    done: bool
    reason: str = ""


def progress(
    registration: Registration,
    table: pd.DataFrame,
    cap: int,
    baseline: BaselineReplies | None = None,
) -> list[Progress]:
    """Return where every gate stands at every endpoint after the readings of `table`.

    `table` holds the sealed readings in plan order, calls that were never asked left out; `cap` is
    how many items the plan holds.
    """
    design = registration.sequential
    assert design is not None
    asked = probes(table)
    found = []
    for gate in registration.gates:
        wanted = gate.where.get("endpoint")
        for spec in registration.endpoints:
            if wanted in (None, spec.id):
                part = asked[asked["endpoint"].eq(spec.id)]
                one = _one(gate, spec.id, part, design, registration, cap, baseline or {})
                target = registration.unit.target
                found.append(replace(one, estimate=replace(one.estimate, target=target)))
    return found


def decided(found: Sequence[Progress]) -> bool:
    """Return whether nothing is left to ask for: the stop rule."""
    return bool(found) and all(one.done for one in found)


def _one(
    gate: Gate,
    endpoint: str,
    part: pd.DataFrame,
    design: Sequential,
    registration: Registration,
    cap: int,
    baseline: BaselineReplies,
) -> Progress:
    if design.design == "spearman_looks":
        return _looks(gate, endpoint, part, design, registration.schedule.block or cap, cap)
    if design.design == "flip_within":
        flips = within(part)
    else:
        seed = registration.schedule.seed
        flips = against(part, lambda item: drawn(baseline.get((endpoint, item), ()), seed, item))
    if design.unit == "item":
        return _flips(gate, endpoint, flips, cap)
    return _by_unit(gate, endpoint, unit_values(flips, unit_codes(part, design.unit)), design, cap)


def _by_unit(
    gate: Gate,
    endpoint: str,
    values: tuple[Floats, Floats, Ints],
    design: Sequential,
    cap: int,
) -> Progress:
    assert gate.at_most is not None
    strict, lenient, ends = values
    alpha = float(gate.alpha)
    asked = int(ends[-1]) if len(ends) else 0
    name, none = f"{design.unit}s", "no item has two valid readings to compare"
    if np.isnan(lenient).all():
        estimate = Estimate("flip_rate", None, endpoint, cluster=design.unit, undefined=none)
        return Progress(gate, endpoint, Outcome.UNDEFINED, estimate, asked, asked >= cap, none)
    stops = stop_mean_gates(strict[None], lenient[None], float(gate.at_most), alpha)
    code, units = int(stops.outcome[0]), int(stops.items[0])
    items = int(ends[units - 1])
    strict, lenient = strict[:units], lenient[:units]
    low, high = mean_bounds(strict, lenient, alpha)
    there = ~np.isnan(lenient)
    estimate = Estimate(
        "flip_rate",
        float(lenient[there].mean()) if there.any() else None,
        endpoint,
        low=low,
        high=high,
        level=1 - 2 * alpha,
        method=f"betting on the mean of {name}",
        cluster=design.unit,
        n={name: units, "items": items},
        caveats=(EARLY,),
        details={"cap": cap},
        undefined=None if there.any() else none,
    )
    if code == 0:
        why = f"{items} of at most {cap} items in {units} {name} leave it open"
        return Progress(gate, endpoint, Outcome.INCONCLUSIVE, estimate, items, items >= cap, why)
    outcome = Outcome.PASS if code > 0 else Outcome.FAIL
    return Progress(gate, endpoint, outcome, estimate, items, True)


def _flips(gate: Gate, endpoint: str, flips: Sequence[Flip], cap: int) -> Progress:
    assert gate.at_most is not None
    state = FlipGate(float(gate.at_most), float(gate.alpha)).run(flips)
    asked = state.items + state.invalid
    n = {"items": state.items, "pairs": state.items, "flips": state.flips}
    details = {
        "log_e_pass": state.log_e_pass,
        "log_e_fail": state.log_e_fail,
        "bar": -float(np.log(float(gate.alpha))),
        "cap": cap,
    }
    excluded = {"invalid": state.invalid} if state.invalid else {}
    if not state.items:
        why = "no item has two valid readings to compare"
        estimate = Estimate("flip_rate", None, endpoint, n=n, excluded=excluded, undefined=why)
        return Progress(gate, endpoint, Outcome.UNDEFINED, estimate, asked, asked >= cap, why)
    low, high = sequence_bounds(state.flips, state.items, state.invalid, float(gate.alpha))
    estimate = Estimate(
        "flip_rate",
        state.flips / state.items,
        endpoint,
        exact=Fraction(state.flips, state.items),
        low=low,
        high=high,
        level=1 - 2 * float(gate.alpha),
        method="Beta-mixture confidence sequence",
        n=n,
        excluded=excluded,
        caveats=(EARLY,),
        details=details,
        missing=state.invalid / asked,
    )
    if state.decision is None:
        why = f"{asked} of at most {cap} items leave it open"
        return Progress(gate, endpoint, Outcome.INCONCLUSIVE, estimate, asked, asked >= cap, why)
    return Progress(gate, endpoint, Outcome(state.decision), estimate, asked, True)


def sequence_bounds(flips: int, items: int, invalid: int, alpha: float) -> tuple[float, float]:
    """Return the rates, to .001, that neither e-process rejects: valid at every look.

    The upper end counts invalid replies as flips, the lower leaves them out.
    """
    rates, bar = [n / 1000 for n in range(1, 1000)], -float(np.log(alpha))
    strict = (flips + invalid, items + invalid)
    too_low = [rate for rate in rates if log_e_fail(flips, items, rate) >= bar]
    too_high = [rate for rate in rates if log_e_pass(*strict, rate) >= bar]
    return max(too_low, default=0.0), min(too_high, default=1.0)


def look_plan(gate: Gate, design: Sequential, block: int, cap: int) -> PlannedLooks:
    """Return the looks that a design plans: at the ends of blocks, from `first_look` items on."""
    ends = [n for n in range(block, cap + block, block) if min(n, cap) >= design.first_look]
    times = sorted({min(n, cap) for n in ends}) or [cap]
    return plan_looks(times, float(gate.alpha), design.bound)


def looked(
    scores: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    gate: Gate,
    looks: PlannedLooks,
    cap: int,
) -> tuple[str, int, bool]:
    """Return outcome, items asked, and whether it is decided, for scores (n, 2) in plan order."""
    assert gate.at_least is not None
    outcome, at = None, len(scores)
    for look, at in enumerate(n for n in looks.items if n <= len(scores)):
        outcome = looks.decide(look, _z(scores[:at], float(gate.at_least)))
        if outcome is not None:
            break
    done = outcome is not None or len(scores) >= cap
    items = at if outcome is not None else len(scores)
    lost = float(np.isnan(scores[:items]).any(axis=1).mean()) if items else 0.0
    if outcome == "pass" and lost > float(gate.max_missing):
        outcome = "inconclusive"
    return outcome or "inconclusive", items, done


def _looks(
    gate: Gate, endpoint: str, part: pd.DataFrame, design: Sequential, block: int, cap: int
) -> Progress:
    scores = two_scores(part)
    named, items, done = looked(scores, gate, look_plan(gate, design, block, cap), cap)
    estimate = _spearman(scores[:items], endpoint, gate, cap)
    return _settled(Progress(gate, endpoint, Outcome(named), estimate, items, done), cap)


def _settled(found: Progress, cap: int) -> Progress:
    """Return a Spearman gate's progress with what keeps it from passing."""
    estimate, missing = found.estimate, found.estimate.missing or 0.0
    outcome, why = found.outcome, ""
    if estimate.value is None:
        outcome, why = Outcome.UNDEFINED, estimate.undefined or ""
    elif outcome is Outcome.INCONCLUSIVE and missing > float(found.gate.max_missing):
        why = f"{missing:.1%} of the items have no two scores; what they could change is not known"
    elif outcome is Outcome.INCONCLUSIVE:
        why = f"{found.items} of at most {cap} items leave it open"
    return Progress(found.gate, found.endpoint, outcome, estimate, found.items, found.done, why)


def two_scores(part: pd.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return each item's two scores in order (n, 2), NaN where there is none."""
    found = []
    for _, rows in part.groupby("item", sort=False):
        values = np.where(rows["status"].eq("ok"), rows["number"].astype(float), np.nan)
        found.append(values[:2] if len(values) >= 2 else [np.nan, np.nan])
    return np.asarray(found, float).reshape(-1, 2)


def _z(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], threshold: float) -> float:
    both = scores[~np.isnan(scores).any(axis=1)]
    found = spearman_between(both[:, :1], both[:, 1:]) if len(both) > 2 else Undefined("too few")
    if isinstance(found, Undefined) or not abs(found.estimate.value) < 1:
        return float("nan")
    e = found.estimate
    return z_at_look(float(np.arctanh(e.value)), e.se, float(np.arctanh(threshold)), e.df)


def _spearman(
    scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], endpoint: str, gate: Gate, cap: int
) -> Estimate:
    both = scores[~np.isnan(scores).any(axis=1)]
    lost = len(scores) - len(both)
    n, missing = {"items": len(both)}, lost / len(scores) if len(scores) else None
    excluded = {"invalid": lost} if lost else {}
    found = (
        spearman_between(both[:, :1], both[:, 1:])
        if len(both) > 2
        else Undefined("fewer than three items have two scores")
    )
    if isinstance(found, Undefined):
        return Estimate("spearman", None, endpoint, n=n, excluded=excluded, undefined=found.reason)
    caveats = (EARLY,) if found.estimate.se > 0 else ("perfect agreement has no standard error",)
    return Estimate(
        "spearman",
        float(found.estimate.value),
        endpoint,
        level=1 - 2 * float(gate.alpha),
        method="planned looks; no interval of its own",
        n=n,
        excluded=excluded,
        caveats=caveats,
        details={"cap": cap},
        missing=missing,
    )


def verdicts_of(found: Sequence[Progress], confirmatory: bool) -> list[Verdict]:
    """Return the verdict of each gate from where it stands at its endpoints."""
    by_gate: dict[str, list[Progress]] = {}
    for one in found:
        by_gate.setdefault(one.gate.id, []).append(one)
    return [_verdict(parts, confirmatory) for parts in by_gate.values()]


def _verdict(parts: Sequence[Progress], confirmatory: bool) -> Verdict:
    gate, asks = parts[0].gate, threshold_text(parts[0].gate)
    decided_by: Literal["bound"] = "bound"
    held = tuple(
        Held(p.endpoint, p.outcome, p.estimate, p.outcome, (p.reason,) if p.reason else ())
        for p in parts
    )
    bursts = [] if parts[0].estimate.cluster == "block" or gate.at_most is None else [NO_BURSTS]
    limits = [*bursts, SLOTS]
    return Verdict(
        id=gate.id,
        outcome=overall(one.outcome for one in held),
        statistic=gate.statistic,
        over=gate.over,
        asks=asks,
        decided_by=decided_by,
        held=held,
        part_of=gate.part_of,
        source=gate.source,
        confirmatory=confirmatory,
        says=" ".join(
            held_sentence(one.endpoint, one.outcome, one.estimate, asks, gate.over, one.reasons)
            for one in held
        ),
        does_not_say=(
            *not_said(
                [one.estimate for one in held],
                subject="precision",
                by_point=False,
                bounds=(),
                confirmatory=confirmatory,
            ),
            *limits,
        ),
    )
