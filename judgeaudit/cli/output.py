"""What commands print: one JSON document, or lines; progress and remarks go to stderr.

Everything passes `printable` here: what a server or a file wrote is shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from judgeaudit.printable import printable, printable_json, printable_lines

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
StudyPath = Annotated[Path, typer.Argument(help="Folder of the study.")]


def document(value: Any) -> None:
    """Print one JSON document."""
    typer.echo(printable_json(value, indent=2))


def lines(texts: Iterable[str]) -> None:
    """Print findings, one a line."""
    for text in texts:
        typer.echo(_safe(text))


def remark(text: str) -> None:
    """Tell a person something that is no finding."""
    typer.echo(_safe(text), err=True)


def annotation(command: str) -> None:
    """Give a CI service a command of our own, which is not text to show."""
    typer.echo(printable(command), err=True)


def _safe(text: str) -> str:
    return printable_lines(printable(text))
