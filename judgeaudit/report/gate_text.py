"""A gate's report for people, criteria first."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.verdict.gate_report import GateReport, criteria


def gate_lines(report: GateReport) -> Iterator[str]:
    """Yield the report for people, criteria first."""
    if simulated := report.about.get("simulated"):
        yield f"SIMULATED endpoints: {', '.join(simulated)}"
    for verdict in criteria(report):
        yield f"gate {verdict.id}: {verdict.says}"
    for verdict in report.verdicts:
        if verdict.parts:
            yield f"composite gate {verdict.id}: {verdict.says}"
    for bar in report.bars:
        place = "" if bar.endpoint == "all" else f" at {bar.endpoint}"
        yield f"barred ({bar.kind}){place}: {bar.says}"
    yield from (amendment.sentence() for amendment in report.amendments)
    if report.compared is not None:
        yield f"against the baseline: {report.compared['says']}"
    for finding in report.findings:
        yield f"finding: {finding}"
    if report.asked is not None:
        yield report.asked.sentence()
    for note in report.notes():
        yield f"note: {note}"
