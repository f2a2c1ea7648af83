"""What commands print: one JSON document, or lines; progress and remarks go to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from judgeaudit.errors import printable

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
StudyPath = Annotated[Path, typer.Argument(help="Folder of the study.")]


def document(value: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def lines(texts: Iterable[str]) -> None:
    """Print findings, one a line; control characters in them as escapes."""
    for text in texts:
        typer.echo(printable(text))


def remark(text: str) -> None:
    """Tell a person something that is no finding."""
    typer.echo(printable(text), err=True)
