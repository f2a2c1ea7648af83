"""A gate's report as Markdown: a pull request's comment, or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.printable import printable
from judgeaudit.verdict.gate_report import GateReport, criteria
from judgeaudit.verdict.verdicts import Outcome, Verdict
from judgeaudit.verdict.words import counts, interval, number

SIGNS = {
    Outcome.PASS: "✅ pass",
    Outcome.FAIL: "❌ fail",
    Outcome.INCONCLUSIVE: "❔ inconclusive",
    Outcome.UNDEFINED: "⛔ undefined",
}
MARK = "<!-- judgeaudit gate -->"
"""First line of a comment, by which a later run finds its own and writes over it."""


def markdown(report: GateReport) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    return "\n".join([MARK, f"## Judge gate: {SIGNS[report.outcome]}", "", *_body(report)]) + "\n"


def _body(report: GateReport) -> Iterator[str]:
    yield f"**{cell(report.study)}**: {cell(report.headline)}"
    simulated = report.about.get("simulated")
    if simulated:
        yield f"\n> Simulated endpoints: {', '.join(simulated)}. This says nothing about a model."
    rows = [row for verdict in criteria(report) for row in _rows(verdict)]
    if rows:
        yield from ("", "| gate | outcome | found | asked |", "|---|---|---|---|", *rows)
    for bar in report.bars:
        place = "" if bar.endpoint == "all" else f" at `{bar.endpoint}`"
        yield f"\n**{SIGNS[bar.outcome]}** ({bar.kind}{place}): {cell(bar.says)}"
    for amendment in report.amendments:
        yield f"\n✏️ {cell(amendment.sentence())}"
    if report.compared is not None:
        against = report.compared
        yield f"\n**Against the baseline**: {SIGNS[Outcome(against['outcome'])]}"
        yield f"\n{cell(str(against['says']))}"
    if report.asked is not None:
        yield f"\nCost: {cell(report.asked.sentence())}."
    for finding in report.findings:
        yield f"\n⚠️ {cell(finding)}"
    yield from _notes(report)


def _rows(verdict: Verdict) -> Iterator[str]:
    if not verdict.held:
        found = cell(verdict.says)
        yield f"| {cell(verdict.id)} | {SIGNS[verdict.outcome]} | {found} | {verdict.asks} |"
    for held in verdict.held:
        place = "" if held.endpoint == "all" else f" at {held.endpoint}"
        asked = f"{verdict.statistic} {verdict.asks}"
        yield (
            f"| {cell(verdict.id + place)} | {SIGNS[held.outcome]} | "
            f"{cell(_found(held.estimate, held.reasons))} | {cell(asked)} |"
        )


def _found(estimate: Estimate, reasons: tuple[str, ...]) -> str:
    if estimate.value is None:
        return f"no estimate: {estimate.undefined}"
    said = f"{number(estimate.value)} ({counts(estimate)}; {interval(estimate)})"
    why = "; ".join(reason for reason in reasons if reason)
    return f"{said}. {why}" if why else said


def _notes(report: GateReport) -> Iterator[str]:
    if notes := report.notes():
        yield "\n<details><summary>What this does not say</summary>\n"
        yield from (f"- {cell(note)}" for note in notes)
        yield "\n</details>"
    if digest := report.about.get("lock_digest"):
        yield f"\n<sub>registration `{digest}`</sub>"


def cell(text: str) -> str:
    """Return text that stays in its cell and shows as it is written."""
    one_line = printable(" ".join(str(text).split()))
    return one_line.replace("|", "\\|").replace("<", "&lt;").replace("@", "&#64;")
