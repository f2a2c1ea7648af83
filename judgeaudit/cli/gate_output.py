"""Where a gate's report goes: stdout, JUnit, Markdown, and GitHub when it runs there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.output import annotation, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.gate import GateReport


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
        from judgeaudit.report.gate_text import gate_lines

        lines(gate_lines(report))
    remark(report.headline)


def _write(path: Path, text: str) -> None:
    from judgeaudit.study.folders import write_text

    write_text(path, text)


def _github(report: GateReport) -> None:
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from judgeaudit.report.github import workflow_commands

        for line in workflow_commands(report):
            annotation(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        from judgeaudit.report.markdown import markdown

        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown(report) + "\n")
