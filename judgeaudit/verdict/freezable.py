"""Whether a study's gates may be frozen; pure: characteristics and facts in, problems out.

* A gate whose pass or fail branch can never fire is refused, always.
* A declared instrument, or a threshold, laxer than the consumer's requirement is refused, always.
* A gate that declares healthy and degraded is confirmatory by intention. It is refused without a
  sealed, unexpired pilot of the same judge, if healthy passes with less than .9 or degraded with
  more than .1, and if the pilot does not show the instrument to be capable.
* `[pilot] override` lets such a gate through with its reason; the verdict is marked for life.
* A gate that declares neither is exploratory, and can be frozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgeaudit.design.document import Registration
from judgeaudit.errors import Problem
from judgeaudit.stats.betting import fewest_units
from judgeaudit.stats.operating import DEGRADED_PASSES, HEALTHY_PASSES
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.sequential import SequentialRule
from judgeaudit.verdict.oc.words import chances_text
from judgeaudit.verdict.requirement import requirement_problems


def freeze_problems(
    registration: Registration,
    found: Sequence[Characteristic],
    pilot: Sequence[Problem] | None,
) -> Iterator[Problem]:
    """Yield what stops a freeze.

    `found` has one characteristic a gate in the registration's order; `pilot` what is wrong with
    the pilot, None where there is no pilot.
    """
    yield from requirement_problems(registration)
    for number, one in enumerate(found):
        yield from branch_problems(f"gates[{number}]", one)
    overridden = registration.pilot is not None and registration.pilot.override is not None
    intended = [(n, one) for n, one in enumerate(found) if one.declared]
    if not intended or overridden:
        return
    if pilot is None:
        ids = ", ".join(one.gate.id for _, one in intended)
        yield Problem(
            "pilot",
            f"missing, and confirmatory gates would rest on it ({ids})",
            "`judgeaudit pilot` makes one; or leave out healthy and degraded: exploratory",
        )
        return
    yield from pilot
    for number, one in intended:
        yield from _confirmatory(f"gates[{number}]", one)


def branch_problems(key: str, one: Characteristic) -> Iterator[Problem]:
    """Yield a branch that can never fire."""
    size = one.size
    at = f"with {size.units} independent units and {size.comparisons} comparisons"
    for branch, fires in zip(("pass", "fail"), one.fires, strict=True):
        if not fires:
            yield Problem(
                key,
                f"gate {one.gate.id!r} can never {branch} {at}",
                _enough(one) or "ask more items, or gate another statistic",
            )


def _enough(one: Characteristic) -> str:
    """Return how many units can pass at all, where units of several items are bet on."""
    rule, limit = one.rule, one.gate.at_most
    if not isinstance(rule, SequentialRule) or rule.unit == "item" or limit is None:
        return ""
    units = fewest_units(float(limit), float(one.gate.alpha))
    return (
        f"{units} {rule.unit}s without a flip can pass, fewer cannot: plan more, and smaller ones"
    )


def _confirmatory(key: str, one: Characteristic) -> Iterator[Problem]:
    gate, faults = one.gate, list(_faults(one))
    if not faults:
        return
    designs = "; ".join(f"({n}) {text}" for n, text in enumerate(one.proposals, 1))
    remedy = f"redesign it: {designs}" if designs else "give it a design that discriminates"
    yield Problem(key, f"gate {gate.id!r} {' and '.join(faults)}", remedy)


def _faults(one: Characteristic) -> Iterator[str]:
    gate = one.gate
    assert gate.healthy is not None
    assert gate.degraded is not None
    if one.healthy is None or one.degraded is None:
        yield "has no operating characteristic: the pilot gives its statistic no interval"
    elif not one.discriminates:
        yield (
            f"does not discriminate: healthy {gate.healthy.value} has {chances_text(one.healthy)} "
            f"(pass >= {HEALTHY_PASSES} is asked), degraded {gate.degraded.value} has "
            f"{chances_text(one.degraded)} (pass <= {DEGRADED_PASSES})"
        )
    if one.capable is not True:
        yield _incapable(one)


def _incapable(one: Characteristic) -> str:
    assert one.gate.degraded is not None
    readings = []
    for estimate in one.pilot.at_capable if one.pilot is not None else ():
        if estimate.value is None:
            readings.append(f"{estimate.endpoint} undefined")
        elif estimate.low is None or estimate.high is None:
            readings.append(f"{estimate.endpoint} {estimate.value:.4g} without an interval")
        else:
            span = f"{estimate.low:.4g} to {estimate.high:.4g}"
            readings.append(f"{estimate.endpoint} {estimate.value:.4g} [{span}]")
    told = f"its pilot reads {', '.join(readings) or 'nothing'}"
    if one.predicted is not None:
        told += f" and predicts {chances_text(one.predicted.chances)}"
    verb = "is not capable" if one.capable is False else "is not shown to be capable"
    if one.capable is None and one.pilot_items is not None:
        told += f"; the pilot is too small to tell, {one.pilot_items} items would"
    return f"{verb} (better than degraded {one.gate.degraded.value} is asked): {told}"
