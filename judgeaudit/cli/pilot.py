"""`judgeaudit pilot`: measure the instrument before anything is frozen on it."""

from __future__ import annotations

from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark


@exits
def pilot(
    study: StudyPath,
    precision: Annotated[
        float, typer.Option(min=0.01, max=0.5, help="Relative error of the noise that is wanted.")
    ] = 0.1,
    items: Annotated[
        int | None, typer.Option(min=2, help="Ask so many items, whatever the precision.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for windows that are due later.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Make, run and seal a study's pilot, a study of its own, and say what the judge is capable of.

    It holds the facets of every gate: three repeats in two windows, or five windows and more over
    two days. Windows that are not due yet exit 3 with the earliest time; the same command goes on.
    Its digest then goes into [pilot]. Example: judgeaudit pilot my-study
    """
    from judgeaudit.cli.progress import shown
    from judgeaudit.report.design_text import pilot_lines
    from judgeaudit.study.pilot import pilot as piloted

    with shown() as progress:
        found = piloted(study, precision=precision, items=items, wait=wait, progress=progress)
    if as_json:
        document(found.to_dict())
    else:
        lines(pilot_lines(found.record, found.gates, found.digest, found.folder))
        remark(f"written: {found.path}")
    return ExitCode.DONE
