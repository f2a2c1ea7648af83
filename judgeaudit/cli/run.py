"""`judgeaudit run`: send what is frozen, window by window, and seal it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines
from judgeaudit.errors import InputError


@exits
def run(
    study: StudyPath,
    window: Annotated[
        str | None, typer.Option(help="Id of one window, as `judgeaudit status` lists them.")
    ] = None,
    next_: Annotated[
        bool, typer.Option("--next", help="The next window, if its time has come (for cron).")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Every window left, waiting for those that are due later.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent; send nothing.")
    ] = False,
    seal_anyway: Annotated[
        bool, typer.Option("--seal-anyway", help="Seal a paused window as it is; send nothing.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Run a frozen study's next window (or one, or all), and seal each when it is done.

    An interrupted run goes on where it ended. Exits 0 when sealed, 2 when paused, 3 when it is too
    early (with the earliest time), 130 when interrupted. Example: judgeaudit run my-study --all
    """
    if sum([window is not None, next_, all_]) > 1:
        raise InputError("run", found="more than one of --window, --next, --all", remedy="give one")
    if dry_run:
        return _preview(study, window, as_json)
    from judgeaudit.cli.progress import shown
    from judgeaudit.study.run import ended_document
    from judgeaudit.study.run import run as asked

    with shown() as progress:
        summaries = asked(
            study, window=window, everything=all_, seal_anyway=seal_anyway, progress=progress
        )
    if as_json:
        document({"runs": [ended_document(summary) for summary in summaries]})
    return ExitCode.DONE


def _preview(study: Path, window: str | None, as_json: bool) -> ExitCode:
    """Print what would be sent."""
    from judgeaudit.report.calls_text import preview_lines
    from judgeaudit.study.run import preview

    found = preview(study, window=window)
    if as_json:
        document({"dry_run": True, "windows": found})
    elif not found:
        lines(["all windows are sealed; nothing is left to run"])
    else:
        lines(line for one in found for line in preview_lines(one))
    return ExitCode.DONE
