"""A study's report for people: execution summary, controls, verdicts, in that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.document import Registration
from judgeaudit.verdict import Findings, Verdict
from judgeaudit.verdict.gate_report import GateReport
from judgeaudit.verdict.words import beside, counts, interval, number, once


def study_lines(
    registration: Registration,
    execution: Mapping[str, Any],
    findings: Findings,
    together: GateReport,
) -> Iterator[str]:
    """Yield the two reports of a study, execution first and apart.

    `execution` counts delivery, `together` holds what bars the gates and the amendments.
    """
    yield from _execution(registration, execution)
    yield ""
    yield from _controls(findings.controls)
    yield ""
    yield from _verdicts(findings)
    yield from _bars(together)
    yield from _others(findings)


def _execution(registration: Registration, found: Mapping[str, Any]) -> Iterator[str]:
    study, ledger = registration.study, found["ledger"]
    simulated = [s.id for s in registration.endpoints if s.is_simulated]
    yield f"{study.id}: {study.title}"
    if simulated:
        yield f"SIMULATED endpoints: {', '.join(simulated)}"
    yield "Execution (says nothing about the judge):"
    sealed, waiting = len(found["sealed_windows"]), found["waiting_windows"]
    held = "1 window" if sealed == 1 else f"{sealed} windows"
    yield f"  {held} sealed" + (f", waiting: {', '.join(waiting)}" if waiting else "")
    statuses = ", ".join(f"{name} {count}" for name, count in found["by_status"].items())
    yield f"  {found['planned']} planned calls: {statuses}"
    yield (
        f"  {ledger.get('attempts', 0)} attempts = {ledger.get('response', 0)} responses + "
        f"{ledger.get('transport', 0)} transport failures + {ledger.get('unresolved', 0)} "
        "unresolved"
    )


def _controls(controls: tuple[Estimate, ...]) -> Iterator[str]:
    yield "Controls:"
    if not controls:
        yield "  none were registered"
    for estimate in controls:
        place = f"{estimate.endpoint}, {estimate.scope.removeprefix('control=')}"
        if estimate.value is None:
            yield f"  {place}: {estimate.undefined}"
            continue
        n, counted = estimate.n, estimate.details["counted"]
        yield f"  {place}: {n['hits']} of {n['of']} {counted}"


def _verdicts(findings: Findings) -> Iterator[str]:
    verdicts = findings.verdicts
    yield "Verdicts:"
    if not verdicts and not findings.named:
        yield "  no gate and no rule was registered"
    for verdict in verdicts:
        yield from _verdict(verdict)
    for named in findings.named:
        yield f"  rule {named.id}: {named.says}"
    said = [(f"gate {v.id}", v.does_not_say) for v in verdicts if not v.parts]
    said += [(f"rule {named.id}", named.does_not_say) for named in findings.named]
    for text in once(said):
        yield f"  note: {text}"


def _bars(together: GateReport) -> Iterator[str]:
    """Yield what bars the gates, what they say together where something does, and amendments."""
    for bar in together.bars:
        place = "" if bar.endpoint == "all" else f" at {bar.endpoint}"
        yield f"  barred ({bar.kind}){place}: {bar.says}"
    if together.bars and together.verdicts:
        yield f"  together: {together.headline}"
    for amendment in together.amendments:
        yield f"  {amendment.sentence()}"


def _verdict(verdict: Verdict) -> Iterator[str]:
    kind = "gate" if verdict.held or not verdict.parts else "composite gate"
    yield f"  {kind} {verdict.id}: {verdict.says}"
    for held in verdict.held:
        left_out = ", ".join(f"{k} {v}" for k, v in held.estimate.excluded.items())
        if left_out:
            yield f"    left out: {left_out}"
        if verdict.decided_by == "point" and held.bound_says:
            yield f"    the bound says {held.bound_says.value}"
    for estimate in verdict.sensitivity:
        where = ", ".join(part for part in (estimate.endpoint, estimate.scope) if part != "all")
        value = estimate.undefined if estimate.value is None else number(estimate.value)
        yield f"    beside it, {estimate.analysis}{f' ({where})' if where else ''}: {value}"


def _standing(told: Sequence[Estimate]) -> str:
    """Return whether registered analyses are confirmatory; all of a study's are, or none."""
    if all(e.confirmatory for e in told):
        return "registered beside its gates and rules; they decide nothing"
    return "exploratory: the study registers no gate and no rule"


def _others(findings: Findings) -> Iterator[str]:
    told = findings.analyses
    if told:
        yield ""
        yield f"Registered analyses ({_standing(told)}):"
    for e in told:
        place = ", ".join(part for part in (e.endpoint, e.scope) if part != "all") or "all"
        if e.value is None:
            yield f"  {e.analysis} [{place}]: undefined, {e.undefined}"
        else:
            said = (counts(e), interval(e), e.target, beside(e))
            more = "; ".join(part for part in said if part)
            yield f"  {e.analysis} [{place}]: {number(e.value)} ({more})"
