"""`judgeaudit gate`: hold a judge against its registered criteria, for CI."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, answer, code_for, exits
from judgeaudit.cli.output import AsJson
from judgeaudit.errors import InputError


@exits
def gate(
    source: Annotated[Path, typer.Argument(help="Folder of a frozen study, or a table.")],
    registration: Annotated[
        Path | None,
        typer.Option(help="For a table: the study's folder or registration with the criteria."),
    ] = None,
    run_key: Annotated[
        str | None,
        typer.Option(help="Asks anew, in an order of its own; a sequential gate takes the commit."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Decide on what is sealed; send nothing.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(help="A sealed baseline study: has the judge moved, or have the items?"),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a comment in Markdown to this file.")
    ] = None,
    item: Annotated[str | None, typer.Option(help="For a table: the item's column.")] = None,
    repeat: Annotated[str | None, typer.Option(help="For a table: the repeat's column.")] = None,
    value: Annotated[str | None, typer.Option(help="For a table: the answer's column.")] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Exit 0 if every registered criterion passes, 1 if one fails, 3 if it cannot be told.

    Criteria come from the registration alone: no option moves a threshold. No evidence is never 0.
    Example: judgeaudit gate my-study --junit gate.xml
    """
    from judgeaudit.cli.gate_output import Outputs, tell

    begun = time.perf_counter()
    for path in (junit, markdown):
        if path is not None:
            path.unlink(missing_ok=True)  # an old report must not stand for a run that told nothing
    if source.is_dir():
        if registration is not None:
            raise InputError("--registration", found="a study has its own", remedy="leave it out")
        from judgeaudit.cli.progress import shown
        from judgeaudit.study import gate as room

        with shown() as progress:
            report = room.gate(
                source, run_key=run_key, read_only=read_only, against=against, progress=progress
            )
    else:
        if registration is None:
            raise InputError(source, found="a table without criteria", remedy="give --registration")
        if run_key is not None or read_only or against is not None:
            raise InputError(
                source,
                found="--run-key, --read-only, --against with a table",
                remedy="give a study",
            )
        from judgeaudit.study.gate_table import gate_table

        report = gate_table(source, registration, item=item, repeat=repeat, value=value)
    code = answer(code_for(report.outcome.value))
    tell(report, Outputs(junit, markdown, as_json), time.perf_counter() - begun)
    return code
