"""A gate's verdict from its estimates.

Rules of this module:

* `decide = "bound"`: pass if the whole interval of level 1 - 2 alpha meets the threshold, fail if
  no point of it does, else inconclusive. `decide = "point"`: the estimate itself decides, and
  beside it stands what the bound says.
* No estimate is undefined. An estimate without an interval leaves a bound decision inconclusive.
* More than `max_missing` of the comparisons missing: readings may be missing because of what they
  would have said, so that the bounds of the two worst cases decide, not those of what came. A pass
  needs the upper bound of the worst case on its side, a fail the lower bound of the best; by the
  point, the two worst cases themselves. Else inconclusive. Where the gate counts invalid readings
  as disagreements nothing is left open. Choices of declared cells: any share missing counts, and
  the endpoints that lost worlds are named.
* Each endpoint is decided on its own. The verdict over several is their worst: fail, undefined,
  inconclusive, pass. "All pass" needs no correction (intersection-union).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate
from judgeaudit.stats.proportions import clopper_pearson
from judgeaudit.verdict.compare import clears, meets, misses, threshold_text
from judgeaudit.verdict.words import held_sentence, not_said
from judgeaudit.verdict.worth import effective_draws, is_share


class Outcome(StrEnum):
    """What a gate found."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    UNDEFINED = "undefined"


WORST_FIRST = (Outcome.FAIL, Outcome.UNDEFINED, Outcome.INCONCLUSIVE, Outcome.PASS)


@dataclass(frozen=True, slots=True)
class Held:
    """One endpoint's estimate held against a gate.

    `bound_says` is what the bound would decide, None where there is no interval; `reasons` say why
    the outcome is not simply that of the number.
    """

    endpoint: str
    outcome: Outcome
    estimate: Estimate
    bound_says: Outcome | None
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "endpoint": self.endpoint,
            "outcome": self.outcome.value,
            "bound_says": self.bound_says.value if self.bound_says else None,
            "reasons": list(self.reasons),
            "estimate": estimate_to_dict(self.estimate),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate's outcome with what it rests on.

    `held` has one entry an endpoint; a composite gate has `parts` instead. `sensitivity` are
    estimates that were registered to stand beside and decide nothing. `marks` are for life: an
    override at the freeze, a judge that answers under another name than in the pilot, an amendment
    that changed the outcome. `endpoints` are those that it is asked of (all registered ones, or the
    one that `where` names), `barred` the kinds of bars that keep it from passing.
    """

    id: str
    outcome: Outcome
    statistic: str
    over: str
    asks: str
    decided_by: str
    held: tuple[Held, ...] = ()
    parts: tuple[str, ...] = ()
    sensitivity: tuple[Estimate, ...] = ()
    part_of: str | None = None
    source: str = ""
    confirmatory: bool = False
    says: str = ""
    does_not_say: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, for `verdicts.json`."""
        return {
            "kind": "gate" if self.held or not self.parts else "composite gate",
            "id": self.id,
            "outcome": self.outcome.value,
            "says": self.says,
            "does_not_say": list(self.does_not_say),
            "statistic": self.statistic,
            "over": self.over,
            "asks": self.asks,
            "decided_by": self.decided_by,
            "held": [held.to_dict() for held in self.held],
            "parts": list(self.parts),
            "sensitivity": [estimate_to_dict(estimate) for estimate in self.sensitivity],
            "part_of": self.part_of,
            "source": self.source,
            "confirmatory": self.confirmatory,
            "marks": list(self.marks),
            "barred": list(self.barred),
        }


def decide(
    gate: Gate,
    estimates: Sequence[Estimate],
    *,
    sensitivity: Sequence[Estimate] = (),
    confirmatory: bool = False,
) -> Verdict:
    """Return the verdict of `gate` on `estimates`, the first of each endpoint deciding.

    Raises `ValueError` where an interval's level is not the 1 - 2 alpha that the gate's bound
    needs: such an estimate was made for another question.
    """
    heads: dict[str, Estimate] = {}
    for estimate in estimates:
        if estimate.analysis == gate.statistic:
            heads.setdefault(estimate.endpoint, estimate)
    held = tuple(_hold(gate, estimate) for estimate in heads.values())
    outcome = overall(one.outcome for one in held)
    asks = threshold_text(gate)
    return Verdict(
        id=gate.id,
        outcome=outcome,
        statistic=gate.statistic,
        over=gate.over,
        asks=asks,
        decided_by=gate.decide,
        held=held,
        sensitivity=tuple(sensitivity),
        part_of=gate.part_of,
        source=gate.source,
        confirmatory=confirmatory,
        says=" ".join(
            held_sentence(one.endpoint, one.outcome, one.estimate, asks, gate.over, one.reasons)
            for one in held
        )
        or f"Undefined: no reading speaks of {gate.statistic}.",
        does_not_say=not_said(
            [one.estimate for one in held],
            subject=statistic(gate.statistic).subject,
            by_point=gate.decide == "point",
            bounds=[one.bound_says for one in held],
            confirmatory=confirmatory,
        ),
    )


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of several outcomes; undefined where there are none."""
    found = set(outcomes)
    return next((outcome for outcome in WORST_FIRST if outcome in found), Outcome.UNDEFINED)


def outcome_of(gate: Gate, estimate: Estimate) -> Outcome:
    """Return what one estimate gives by a gate, its missing readings counted."""
    return _hold(gate, estimate).outcome


def _hold(gate: Gate, estimate: Estimate) -> Held:
    if estimate.value is None:
        why = estimate.undefined or ""
        return Held(estimate.endpoint, Outcome.UNDEFINED, estimate, None, (why,))
    bound = _bound(gate, estimate)
    if gate.decide == "point":
        number = estimate.value if estimate.exact is None else estimate.exact
        outcome = Outcome.PASS if meets(number, gate) else Outcome.FAIL
        held = Held(estimate.endpoint, outcome, estimate, bound)
    elif bound is None:
        why = "; ".join(estimate.caveats) or "the estimate has no interval"
        held = Held(estimate.endpoint, Outcome.INCONCLUSIVE, estimate, None, (why,))
    else:
        held = Held(estimate.endpoint, bound, estimate, bound)
    return _with_missing(gate, held)


def _bound(gate: Gate, estimate: Estimate) -> Outcome | None:
    """Return what the interval decides, None where there is none."""
    if estimate.low is None or estimate.high is None:
        return None
    needed = 1 - 2 * float(gate.alpha)
    if abs(estimate.level - needed) > 1e-9:
        raise ValueError(f"gate {gate.id}: interval of level {estimate.level}, needs {needed}")
    if clears(estimate.low, estimate.high, gate):
        return Outcome.PASS
    return Outcome.FAIL if misses(estimate.low, estimate.high, gate) else Outcome.INCONCLUSIVE


def _with_missing(gate: Gate, held: Held) -> Held:
    missing, worst = held.estimate.missing, held.estimate.worst
    counted = gate.denominator == "planned" or gate.invalid == "disagree"
    loss = held.estimate.details.get("loss")
    # A study of choices tells what was lost where: whatever could turn its verdict does.
    tolerated = 0.0 if loss else float(gate.max_missing)
    if counted or missing is None or missing <= tolerated:
        return held
    share = f"{missing:.1%} of the comparisons are missing" + (f" ({loss})" if loss else "")
    if worst is None:
        why = f"{share}, and what they could change is not known"
    else:
        low, high = worst if gate.decide == "point" else _worst_bounds(held.estimate, worst)
        if clears(low, high, gate) or misses(low, high, gate):
            return held
        kind = "values" if gate.decide == "point" else "bounds"
        why = f"{share}; the {kind} of the worst cases, {low:.4g} to {high:.4g}, span the threshold"
    return replace(held, outcome=Outcome.INCONCLUSIVE, reasons=(*held.reasons, why))


def _worst_bounds(estimate: Estimate, worst: tuple[float, float]) -> tuple[float, float]:
    """Return the lower bound of the lowest and the upper bound of the highest case.

    A share's bounds are Clopper and Pearson's on as many draws as its interval is worth; another
    statistic keeps the distance of its own.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return worst
    draws = effective_draws(estimate) if is_share(estimate) else None
    if draws is not None:
        ends = [clopper_pearson(w * draws, draws, estimate.level) for w in worst]
        return ends[0].low, ends[1].high
    return (
        worst[0] - (estimate.value - estimate.low),
        worst[1] + (estimate.high - estimate.value),
    )


def compose(name: str, parts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of a composite gate: it passes only if all its parts do."""
    outcome = overall(part.outcome for part in parts)
    by: dict[Outcome, list[str]] = {}
    for part in parts:
        by.setdefault(part.outcome, []).append(part.id)
    told = "; ".join(f"{outcome.value}: {', '.join(ids)}" for outcome, ids in by.items())
    return Verdict(
        id=name,
        outcome=outcome,
        statistic="",
        over="",
        asks=f"all of {', '.join(part.id for part in parts)}",
        decided_by="parts",
        parts=tuple(part.id for part in parts),
        confirmatory=all(part.confirmatory for part in parts),
        says=f"{outcome.value.upper()}: {name} asks for all its parts ({told}).",
        does_not_say=tuple(dict.fromkeys(text for part in parts for text in part.does_not_say)),
        marks=tuple(dict.fromkeys(text for part in parts for text in part.marks)),
        barred=tuple(dict.fromkeys(kind for part in parts for kind in part.barred)),
    )


def estimate_to_dict(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values; the exact rational as text."""
    exact = estimate.exact
    return {
        "analysis": estimate.analysis,
        "endpoint": estimate.endpoint,
        "scope": estimate.scope,
        "over": estimate.over,
        "params": _plain(estimate.params),
        "asked_by": estimate.asked_by,
        "outcome": estimate.outcome,
        "value": estimate.value,
        "exact": None if exact is None else f"{exact.numerator}/{exact.denominator}",
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
        "method": estimate.method,
        "cluster": estimate.cluster,
        "target": estimate.target,
        "unit": estimate.unit,
        "n": dict(estimate.n),
        "excluded": dict(estimate.excluded),
        "missing": estimate.missing,
        "worst": None if estimate.worst is None else list(estimate.worst),
        "caveats": list(estimate.caveats),
        "undefined": estimate.undefined,
        "details": _plain(estimate.details),
        "seed": estimate.seed,
        "confirmatory": estimate.confirmatory,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    plain = value.item() if hasattr(value, "item") else value
    # JSON has no nan; a number that is none is null.
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
