"""`judgeaudit monitor`: an alarm over a study's windows whose false-alarm rate is registered."""

from __future__ import annotations

from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, answer, code_for, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark


@exits
def monitor(
    study: StudyPath,
    ask: Annotated[
        bool, typer.Option("--run", help="Run the next window first, if its time has come.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Exit 0 if no watched run raises an alarm, 1 if one does, 3 if it cannot be told yet.

    Threshold and false-alarm rate come from `[watch]` and the calibration runs.
    Example: judgeaudit monitor my-study --run
    """
    from judgeaudit.cli.progress import shown
    from judgeaudit.report.monitor_text import monitor_lines
    from judgeaudit.study.monitor import monitor as watched

    with shown() as progress:
        found = watched(study, ask=ask, progress=progress)
    code = answer(code_for(found.outcome.value))
    if as_json:
        document(found.to_dict())
    else:
        lines(text for one in found.endpoints for text in monitor_lines(one))
        lines(amendment.sentence() for amendment in found.amendments)
    remark(f"{found.outcome.value.upper()}: {found.study}")
    return code
