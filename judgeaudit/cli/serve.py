"""`judgeaudit serve`: an embedded judge on a loopback port, for other programs."""

from __future__ import annotations

import threading
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError

Port = Annotated[int, typer.Option(min=0, max=65535, help="Loopback port; 0 takes a free one.")]


@exits
def serve(
    scenario: Annotated[
        str | None, typer.Option(help="A simulated judge: its scenario, e.g. stable.")
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="The real local judge.")] = False,
    port: Port = 0,
    seed: Annotated[int, typer.Option(help="Seed of the simulated judge.")] = 0,
    as_json: AsJson = False,
) -> ExitCode:
    """Serve an embedded judge until interrupted; speaks OpenAI chat and Anthropic Messages.

    Example: judgeaudit serve --scenario label-bias --port 8080
    """
    from judgeaudit.study.serve import serve as served

    if local == (scenario is not None):
        raise InputError("serve", found="not exactly one of --scenario and --local")
    name = "embedded:local" if local else f"embedded:{scenario}"
    with served(name, port=port, seed=seed) as judge:
        if as_json:
            document({"base_url": judge.base_url, "identity": dict(judge.identity)})
        else:
            lines([f"{name} at {judge.base_url}"])
        remark("serving until interrupted (Ctrl-C)")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            remark("stopped")
    return ExitCode.DONE
