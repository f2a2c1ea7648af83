"""The command line: one file a command, `exits.py` alone decides exit codes.

Command modules import nothing heavy at the top; what they use is imported when they run.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Annotated

import typer

from judgeaudit.version import __version__

app = typer.Typer(
    name="judgeaudit",
    help="Reliability studies of LLM judges: register, freeze, run, seal, verify, analyze.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"judgeaudit {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Reliability studies of LLM judges: register, freeze, run, seal, verify, analyze."""


def _interrupt(*_: object) -> None:
    """End as Ctrl-C does: what was sent is recorded, and the run can be resumed."""
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
        raise KeyboardInterrupt  # a shell that starts jobs in the background ignores SIGINT
    signal.raise_signal(signal.SIGINT)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _interrupt)
    # Matrices here are small: a threaded BLAS would spin on the other cores, which costs CPU.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Start-up makes many objects and hardly any garbage: fewer looks for it save a twentieth.
    gc.set_threshold(50_000, 20, 20)
    from judgeaudit.cli import commands

    commands.register(app, commands.named(sys.argv[1:]))
    try:
        app()
    finally:
        gc.freeze()  # the interpreter's last looks find nothing, and cost a tenth of a second
