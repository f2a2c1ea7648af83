"""The list of commands: one line each, in the order of `--help`.

A command `name` is the function `name` of the module `judgeaudit.cli.name`, or that module's `app`
with commands of its own. A command line imports the module of the command that it names, no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import typer

COMMANDS = (
    "demo",
    "init",
    "battery",
    "pilot",
    "prereg",
    "run",
    "status",
    "show",
    "verify",
    "analyze",
    "gate",
    "export",
    "monitor",
    "serve",
    "gateway",
    "gateway",
)


def register(app: typer.Typer, names: Sequence[str] = COMMANDS) -> None:
    """Put the commands called `names` on `app`, without them every command."""
    for name in names:
        module = import_module(f"judgeaudit.cli.{name}")
        group = getattr(module, "app", None)
        if group is not None:
            app.add_typer(group)
        else:
            app.command(name)(getattr(module, name))


def named(arguments: Sequence[str]) -> Sequence[str]:
    """Return the commands that a command line needs: the one that it begins with, or all."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
