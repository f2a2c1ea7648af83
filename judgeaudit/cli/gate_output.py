"""Where a gate's report goes: stdout, JUnit, Markdown, and GitHub when it runs there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.output import annotation, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.verdict.gate_report import GateReport


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files that were asked for, and whether stdout is one JSON document."""

    junit: Path | None = None
    markdown: Path | None = None
    as_json: bool = False


def tell(report: GateReport, outputs: Outputs, seconds: float) -> None:
    """Print the report and write what was asked for.

    In GitHub Actions annotations go to stderr, which its log reads as well, so that `--json` leaves
    stdout one document.
    """
    if outputs.junit is not None:
        from judgeaudit.report.junit import junit

        _write(outputs.junit, junit(report, seconds))
    if outputs.markdown is not None:
        from judgeaudit.report.markdown import markdown

        _write(outputs.markdown, markdown(report))
    _github(report)
    if outputs.as_json:
        document(report.to_dict())
    else:
        lines(text_of(report))
    remark(report.headline)


def _write(path: Path, text: str) -> None:
    from judgeaudit.tables.write import replace_whole

    path.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _github(report: GateReport) -> None:
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from judgeaudit.report.github import workflow_commands

        for line in workflow_commands(report):
            annotation(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        from judgeaudit.report.markdown import markdown

        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown(report) + "\n")


def text_of(report: GateReport) -> Iterator[str]:
    """Yield the report for people, criteria first."""
    from judgeaudit.verdict.gate_report import criteria

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
    if report.compared is not None:
        yield f"against the baseline: {report.compared['says']}"
    for finding in report.findings:
        yield f"finding: {finding}"
    if report.asked is not None:
        yield report.asked.sentence()
    for note in report.notes():
        yield f"note: {note}"
