"""`judgeaudit show`: one call, from its prompt to its reading."""

from __future__ import annotations

from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines


@exits
def show(
    study: StudyPath,
    call: Annotated[str, typer.Argument(help="Call id, its beginning, or its place in the plan.")],
    as_json: AsJson = False,
) -> ExitCode:
    """Print one call: what was asked, every attempt, what came back, what was read.

    Example: judgeaudit show my-study 0
    """
    from judgeaudit.study.look import show as shown

    found = shown(study, call)
    if as_json:
        document(found)
    else:
        from judgeaudit.report.calls_text import call_lines

        lines(call_lines(found))
    return ExitCode.DONE
