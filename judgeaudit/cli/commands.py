"""The list of commands: one line each, in the order of `--help`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Put every command on `app`."""
