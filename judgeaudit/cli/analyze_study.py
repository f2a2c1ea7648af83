"""The study side of `judgeaudit analyze`: execution summary, controls, verdicts, in that order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.analysis.estimate import Estimate
    from judgeaudit.study.results import Analysed
    from judgeaudit.verdict import Verdict


def analyze_study(root: Path, as_json: bool) -> ExitCode:
    """Analyse a study, write `results/`, print what was found; done is 0 whatever it was."""
    from judgeaudit.study.analyze import analyze

    analysed = analyze(root)
    if as_json:
        document(as_document(analysed))
    else:
        lines(lines_of(analysed))
    remark(analysed.unwritten or f"written: {analysed.written}")
    return ExitCode.DONE


def as_document(analysed: Analysed) -> dict[str, Any]:
    """Return the findings as one JSON document."""
    from judgeaudit.study.results import verdicts_document
    from judgeaudit.verdict.verdicts import estimate_to_dict

    return {
        "execution": analysed.execution(),
        "controls": [estimate_to_dict(e) for e in analysed.findings.controls],
        **verdicts_document(analysed),
        "estimates": [estimate_to_dict(e) for e in analysed.findings.estimates],
    }


def lines_of(analysed: Analysed) -> Iterator[str]:
    """Yield the two reports, execution first and apart, for people."""
    yield from _execution(analysed)
    yield ""
    yield from _controls(analysed.findings.controls)
    yield ""
    yield from _verdicts(analysed)
    yield from _others(analysed)


def _execution(analysed: Analysed) -> Iterator[str]:
    found = analysed.execution()
    study, ledger = analysed.frozen.registration.study, found["ledger"]
    simulated = [s.id for s in analysed.frozen.registration.endpoints if s.is_simulated]
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


def _verdicts(analysed: Analysed) -> Iterator[str]:
    verdicts = analysed.findings.verdicts
    yield "Verdicts:"
    if not verdicts and not analysed.findings.named:
        yield "  no gate and no rule was registered"
    for verdict in verdicts:
        yield from _verdict(verdict)
    for named in analysed.findings.named:
        yield f"  rule {named.id}: {named.says}"
    said = [text for v in verdicts for text in v.does_not_say]
    said += [text for named in analysed.findings.named for text in named.does_not_say]
    for text in dict.fromkeys(said):
        yield f"  note: {text}"
    for bar in analysed.told_bars:
        place = "" if bar.endpoint == "all" else f" at {bar.endpoint}"
        yield f"  barred ({bar.kind}){place}: {bar.says}"
    if analysed.told_bars and verdicts:
        yield f"  together: {analysed.report.headline}"
    for amendment in analysed.amendments:
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
    from judgeaudit.verdict.words import number

    for estimate in verdict.sensitivity:
        if estimate.value is not None:
            where = "" if estimate.scope == "all" else f" ({estimate.scope})"
            yield f"    beside it, {estimate.analysis}{where}: {number(estimate.value)}"


def _others(analysed: Analysed) -> Iterator[str]:
    from judgeaudit.verdict.words import counts, interval, number

    told = analysed.findings.analyses
    if told:
        yield ""
        yield "Registered analyses:"
    for e in told:
        place = ", ".join(part for part in (e.endpoint, e.scope) if part != "all") or "all"
        if e.value is None:
            yield f"  {e.analysis} [{place}]: undefined, {e.undefined}"
        else:
            yield f"  {e.analysis} [{place}]: {number(e.value)} ({counts(e)}; {interval(e)})"
