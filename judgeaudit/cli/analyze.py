"""`judgeaudit analyze`: a study by its registration, or anybody's table, exploratory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson


@exits
def analyze(
    target: Annotated[
        list[Path], typer.Argument(help="Folder of a study, or table files (each file a run).")
    ],
    as_json: AsJson = False,
) -> ExitCode:
    """Compute what a study registered, or describe a table of judge outputs.

    Example: judgeaudit analyze scores.csv --item item --repeat run --score score
    """
    if len(target) == 1 and target[0].is_dir():
        from judgeaudit.cli.analyze_study import analyze_study

        return analyze_study(target[0], as_json)
    raise NotImplementedError
