"""A gate's report as GitHub workflow commands: annotations of the job.

A failed gate and missing evidence are errors, an inconclusive gate and a finding are warnings. The
exit code decides the job, not these lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.printable import printable_lines
from judgeaudit.verdict.gate_report import GateReport, criteria
from judgeaudit.verdict.verdicts import Outcome

LEVEL = {Outcome.FAIL: "error", Outcome.UNDEFINED: "error", Outcome.INCONCLUSIVE: "warning"}


def workflow_commands(report: GateReport) -> Iterator[str]:
    """Yield one workflow command for everything that is not a pass."""
    for verdict in criteria(report):
        if verdict.outcome in LEVEL:
            yield command(LEVEL[verdict.outcome], f"judge gate {verdict.id}", verdict.says)
    for bar in report.bars:
        yield command("error", f"judge gate: {bar.kind}", f"{bar.endpoint}: {bar.says}")
    if report.compared is not None and (outcome := Outcome(report.compared["outcome"])) in LEVEL:
        says = str(report.compared["says"])
        yield command(LEVEL[outcome], "judge gate: against the baseline", says)
    for amendment in report.amendments:
        yield command("notice", "judge gate: amended", amendment.sentence())
    for finding in report.findings:
        yield command("warning", "judge gate: asks until it passes", finding)


def command(level: str, title: str, message: str) -> str:
    """Return one workflow command; what could end it early is escaped as GitHub asks."""
    data = _shown(message)
    named = _shown(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={named}::{data}"


def _shown(text: str) -> str:
    """Return text as data of a command: GitHub's escapes for % and line feeds, ours beside."""
    return printable_lines(text).replace("%", "%25").replace("\n", "%0A")
