"""The log side of `judgeaudit analyze`: what a gateway's log says, by kind of call."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines


def analyze_log(
    root: Path, value: str | None, gap: float | None, pass_at: float | None, as_json: bool
) -> ExitCode:
    """Print what a log says; 3 where nothing tells of repeatability."""
    from judgeaudit.report.gateway_text import report_document, report_lines
    from judgeaudit.study.gateway_log import analyze_log as analyzed

    report = analyzed(root, value=value, gap=gap, pass_at=pass_at)
    if as_json:
        document(report_document(report))
    else:
        lines(report_lines(report))
    return ExitCode.UNDECIDED if report.says_nothing else ExitCode.DONE
