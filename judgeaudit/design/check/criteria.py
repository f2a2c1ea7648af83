"""Checks of gates and rules: names, facets that the schedule must hold, the claim's granularity.

The claim names what the consumer uses. A gate must be taken at that granularity: an exact match of
whole rankings and an agreement on the best candidate are different instruments with different
answers (CE: the same 100 replays read .780, .950 and .986). Others may stand as sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgeaudit.design.base import plain
from judgeaudit.design.check.ranges import range_problems
from judgeaudit.design.criteria import Analysis, Gate, Rule
from judgeaudit.design.document import Registration
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.errors import Problem
from judgeaudit.instrument.readout import READOUTS, Claim
from judgeaudit.statistic import Catalogue, Statistic


def readouts_for(claim: Claim) -> set[str]:
    """Return the readouts that can carry a claim."""
    return {name for name, readout in READOUTS.items() if claim in readout.record.claims}


def criteria_problems(
    registration: Registration,
    protocol: ProtocolDocument | None,
    statistics: Catalogue | None,
) -> Iterator[Problem]:
    """Yield what is wrong with gates and rules, and with the claim."""
    spoken = [registration.study.claim]
    if protocol is not None:
        yield from _claim_problems(registration, protocol)
        # A reading of label probabilities is its own granularity, whatever is claimed from it.
        spoken += ["probability"] if readouts_of(protocol) & readouts_for("probability") else []
    for number, gate in enumerate(registration.gates):
        key = f"gates[{number}]"
        yield from _common_problems(key, gate, registration, statistics)
        yield from _gate_problems(key, gate, spoken, statistics or {})
        for position, name in enumerate(gate.sensitivity):
            yield from _known(f"{key}.sensitivity[{position}]", name, statistics)
    for number, rule in enumerate(registration.rules):
        yield from _common_problems(f"rules[{number}]", rule, registration, statistics)
    for number, analysis in enumerate(registration.asked_analyses()):
        key = f"analyses[{number}]"
        if isinstance(registration.analyses[number], str):
            yield from _known(key, analysis.statistic, statistics)
        else:
            yield from _common_problems(key, analysis, registration, statistics)


def readouts_of(protocol: ProtocolDocument) -> set[str]:
    """Return the readouts of the last stage, which claims and gates speak of."""
    stage = protocol.all_stages()[-1]
    return {cell.readout or stage.readout for cell in stage.cells} or {stage.readout}


def _claim_problems(registration: Registration, protocol: ProtocolDocument) -> Iterator[Problem]:
    claim, used = registration.study.claim, readouts_of(protocol)
    if not used & readouts_for(claim):
        yield Problem(
            "study.claim",
            f"{claim!r}, but the protocol's readout is {', '.join(sorted(used))}",
            f"readouts for this claim: {', '.join(sorted(readouts_for(claim)))}",
        )


def _common_problems(
    key: str,
    criterion: Gate | Rule | Analysis,
    registration: Registration,
    statistics: Catalogue | None,
) -> Iterator[Problem]:
    yield from _known(f"{key}.statistic", criterion.statistic, statistics)
    family = (statistics or {}).get(criterion.statistic)
    if criterion.over is not None and family is not None and criterion.over not in family.over:
        yield Problem(
            f"{key}.over",
            f"{criterion.statistic!r} cannot be taken over {criterion.over!r}",
            f"one of {', '.join(family.over)}",
        )
    if family is not None:
        yield from _param_problems(key, criterion.params, family)
    if (lack := _facet_lacking(criterion.over, registration)) is not None:
        yield Problem(f"{key}.over", f"{criterion.over!r} compares {lack[0]}", lack[1])
    endpoints = [spec.id for spec in registration.endpoints]
    name = criterion.where.get("endpoint")
    if name is not None and name not in endpoints:
        yield Problem(f"{key}.where.endpoint", f"found {name!r}", f"one of {', '.join(endpoints)}")
    conditions = [condition.name for condition in registration.schedule.conditions]
    name = criterion.where.get("condition")
    if name is not None and name not in conditions:
        yield Problem(
            f"{key}.where.condition", f"found {name!r}", f"one of {', '.join(conditions)}"
        )


def _known(key: str, name: str, statistics: Catalogue | None) -> Iterator[Problem]:
    if statistics is not None and name not in statistics:
        yield Problem(key, f"unknown statistic {name!r}", f"known: {', '.join(sorted(statistics))}")


def _param_problems(key: str, given: Mapping[str, Any], found: Statistic) -> Iterator[Problem]:
    known = {param.name: param for param in found.takes}
    for name, value in given.items():
        place = f"{key}.params.{name}"
        if name not in known:
            takes = f"it takes {', '.join(known) or 'none'}"
            yield Problem(place, f"{found.name!r} takes no such parameter", takes)
        elif (fault := known[name].fault(plain(value))) is not None:
            yield Problem(place, fault, known[name].about)


def _facet_lacking(over: str | None, registration: Registration) -> tuple[str, str] | None:
    """Return what a comparison needs and the schedule lacks, with what to do."""
    schedule = registration.schedule
    needs = {
        "same_window": (
            schedule.repeats * schedule.draws > 1,
            ("repeats within a window, of which there are none", "set schedule.repeats to 2"),
        ),
        "windows": (
            schedule.windows_per_day * schedule.days > 1,
            ("different windows, of which there is one", "set schedule.windows_per_day to 2"),
        ),
        "windows_same_day": (
            schedule.windows_per_day > 1,
            ("windows of one day, of which there is one", "set schedule.windows_per_day to 2"),
        ),
        "next_day": (
            schedule.days > 1,
            ("different days, of which there is one", "set schedule.days to 2"),
        ),
        "other_day": (
            schedule.days > 1,
            ("different days, of which there is one", "set schedule.days to 2"),
        ),
        "conditions": (
            len(schedule.conditions) > 1,
            ("conditions, of which there is one", "add a [[schedule.conditions]]"),
        ),
    }
    held, lack = needs.get(over or "", (True, ("", "")))
    return None if held else lack


def _gate_problems(
    key: str, gate: Gate, spoken: Sequence[str], statistics: Catalogue
) -> Iterator[Problem]:
    found = statistics.get(gate.statistic)
    if found is None:
        return
    if not found.gate:
        yield Problem(f"{key}.statistic", f"{gate.statistic!r} cannot gate", found.why_no_gate)
    elif found.claims and not found.claims & set(spoken):
        yield Problem(
            f"{key}.statistic",
            f"{gate.statistic!r} speaks of {', '.join(sorted(found.claims))}, "
            f"the claim is {spoken[0]}",
            "gate at the claim's granularity; list this statistic under `sensitivity`",
        )
    yield from range_problems(key, gate, found.bounds)


def criteria_notes(registration: Registration, statistics: Catalogue | None) -> Iterator[str]:
    """Yield what a reader should know about the criteria and no freeze depends on."""
    if statistics is None and (registration.gates or registration.rules):
        yield "the names of statistics were not checked"
    if registration.gates and registration.pilot is None:
        yield "no [pilot]: every gate frozen like this is exploratory"
    if not registration.gates and not registration.rules:
        yield "no gate and no rule: whatever this study finds is exploratory"
    if registration.gates and registration.study.consumer is None:
        yield "no [study.consumer]: nothing says what instability is tolerable"
