"""Checks of gates and rules: names, facets that the schedule must hold, the claim's granularity.

The claim names what the consumer uses. A gate must be taken at that granularity: an exact match of
whole rankings and an agreement on the best candidate are different instruments with different
answers (CE: the same 100 replays read .780, .950 and .986). Others may stand as sensitivity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from judgeaudit.errors import Problem
from judgeaudit.registration.criteria import Gate, Rule
from judgeaudit.registration.document import Registration
from judgeaudit.registration.protocol import ProtocolDocument

GRANULARITY = {
    "exact": "ranking",
    "full": "ranking",
    "permutation": "ranking",
    "top1": "top1",
    "pairwise": "pairwise",
}
"""Words in a statistic's name that tell which granularity of a ranking it is taken at."""

RANKING_CLAIMS = ("ranking", "top1", "pairwise")

READOUTS_FOR = {
    "ranking": {"ranking", "label_logprob", "label_pair", "score"},
    "top1": {"ranking", "label_logprob", "label_pair", "score", "verdict"},
    "pairwise": {"ranking", "label_logprob", "label_pair", "score", "verdict"},
    "score": {"score", "label_logprob", "label_pair"},
    "verdict": {"verdict", "score", "label_logprob", "label_pair"},
    "choice": {"choice"},
    "probability": {"label_logprob", "label_pair"},
    "text": {"text"},
}
"""Which readouts can carry a claim."""


def criteria_problems(
    registration: Registration,
    protocol: ProtocolDocument | None,
    statistics: Collection[str] | None,
) -> Iterator[Problem]:
    """Yield what is wrong with gates and rules, and with the claim."""
    if protocol is not None:
        yield from _claim_problems(registration, protocol)
    for number, gate in enumerate(registration.gates):
        key = f"gates[{number}]"
        yield from _common_problems(key, gate, registration, statistics)
        yield from _granularity_problems(key, gate, registration.study.claim)
        yield from _sensitivity_problems(key, gate, statistics)
    for number, rule in enumerate(registration.rules):
        yield from _common_problems(f"rules[{number}]", rule, registration, statistics)
    for number, name in enumerate(registration.analyses):
        yield from _known(f"analyses[{number}]", name, statistics)


def _claim_problems(registration: Registration, protocol: ProtocolDocument) -> Iterator[Problem]:
    claim = registration.study.claim
    stage = protocol.all_stages()[-1]
    used = {cell.readout or stage.readout for cell in stage.cells} or {stage.readout}
    if not used & READOUTS_FOR[claim]:
        yield Problem(
            "study.claim",
            f"{claim!r}, but the protocol's readout is {', '.join(sorted(used))}",
            f"readouts for this claim: {', '.join(sorted(READOUTS_FOR[claim]))}",
        )


def _common_problems(
    key: str, criterion: Gate | Rule, registration: Registration, statistics: Collection[str] | None
) -> Iterator[Problem]:
    yield from _known(f"{key}.statistic", criterion.statistic, statistics)
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


def _known(key: str, name: str, statistics: Collection[str] | None) -> Iterator[Problem]:
    if statistics is not None and name not in statistics:
        yield Problem(key, f"unknown statistic {name!r}", f"known: {', '.join(sorted(statistics))}")


def _facet_lacking(over: str, registration: Registration) -> tuple[str, str] | None:
    """Return what a comparison needs and the schedule lacks, with what to do."""
    schedule = registration.schedule
    needs = {
        "same_window": (
            schedule.repeats * schedule.draws > 1,
            ("repeats within a window, of which there are none", "set schedule.repeats to 2"),
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
    held, lack = needs.get(over, (True, ("", "")))
    return None if held else lack


def granularity(statistic: str) -> str | None:
    """Return the granularity of a ranking that a statistic's name tells, or None."""
    words = statistic.lower().replace("-", "_").split("_")
    found = [GRANULARITY[word] for word in words if word in GRANULARITY]
    return found[0] if found else None


def _granularity_problems(key: str, gate: Gate, claim: str) -> Iterator[Problem]:
    found = granularity(gate.statistic)
    if claim in RANKING_CLAIMS and found is not None and found != claim:
        yield Problem(
            f"{key}.statistic",
            f"{gate.statistic!r} is taken at {found!r}, but the claim is {claim!r}",
            "gate at the claim's granularity; list this statistic under `sensitivity`",
        )


def _sensitivity_problems(
    key: str, gate: Gate, statistics: Collection[str] | None
) -> Iterator[Problem]:
    for number, name in enumerate(gate.sensitivity):
        yield from _known(f"{key}.sensitivity[{number}]", name, statistics)


def criteria_notes(registration: Registration, statistics: Collection[str] | None) -> Iterator[str]:
    """Yield what a reader should know about the criteria and no freeze depends on."""
    if statistics is None and (registration.gates or registration.rules):
        yield "the names of statistics were not checked"
    if registration.gates and registration.pilot is None:
        yield "no [pilot]: every gate frozen like this is exploratory"
    if not registration.gates and not registration.rules:
        yield "no gate and no rule: whatever this study finds is exploratory"
    if registration.gates and registration.study.consumer is None:
        yield "no [study.consumer]: nothing says what instability is tolerable"
