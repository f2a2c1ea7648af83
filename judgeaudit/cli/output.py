"""What commands print: one JSON document, or lines; progress and remarks go to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
StudyPath = Annotated[Path, typer.Argument(help="Folder of the study.")]


def document(value: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def lines(texts: Iterable[str]) -> None:
    """Print findings, one a line."""
    for text in texts:
        typer.echo(text)


def remark(text: str) -> None:
    """Tell a person something that is no finding."""
    typer.echo(text, err=True)
