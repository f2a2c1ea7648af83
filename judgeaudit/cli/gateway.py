"""`judgeaudit gateway`: audit a judge where it already runs, in somebody's harness."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judgeaudit.cli.exits import ExitCode, answer, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.study.gateway import Passed


@exits
def gateway(
    log: Annotated[Path, typer.Option("--log", help="Folder of the log; sessions are added.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="The harness; it is pointed at the gateway."),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option("--to", help="The judge's base URL; NAME=URL for each of several."),
    ] = None,
    reask: Annotated[
        float, typer.Option("--reask", help="Share of answered calls to ask again, twice each.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of which calls are asked again, and when.")] = 0,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="Ask again this kind alone: its name, or words of its prompt."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Ask again calls of this model alone.")
    ] = None,
    in_flight: Annotated[int, typer.Option(min=1, help="Re-asks under way at once.")] = 4,
    budget: Annotated[int | None, typer.Option(min=0, help="Most re-asks in all.")] = None,
    value: Annotated[
        str | None,
        typer.Option(help="How answers are read: '$.score', 'GRADE:'; exact text without it."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(help="What is judged: a request header, or a pattern with one group."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Address; not loopback only with a token.")] = (
        "127.0.0.1"
    ),
    token_env: Annotated[
        str | None, typer.Option(help="Variable with a token: the first part of every path.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Answer from this log, in recorded order.")
    ] = None,
    pass_through: Annotated[
        Literal["new"] | None,
        typer.Option(help="With --replay: pass unknown requests on, and record them."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Pass a harness's model calls through, record them, and ask a share of them again.

    Requests and replies pass unchanged, with the harness's own key, which is never written. With a
    command the exit code is the command's; without one, point OPENAI_BASE_URL (with /v1) or
    ANTHROPIC_BASE_URL (without) at the address that is told, and interrupt when done.

    Example: judgeaudit gateway --to https://api.openai.com --log judge-log --reask 0.2 -- pytest
    """
    from judgeaudit.study.gateway import gateway as served

    token = "" if token_env is None else os.environ.get(token_env, "")
    if token_env is not None and not token:
        raise InputError("--token-env", found=f"{token_env} is not set", remedy="export it")
    passed = served(
        to or [],
        log,
        command=command or (),
        reask=reask,
        seed=seed,
        kinds=kind or (),
        models=model or (),
        in_flight=in_flight,
        budget=budget,
        value=value,
        system=system,
        host=host,
        port=port,
        token=token,
        replay=replay,
        pass_through=pass_through,
        tell=remark,
    )
    code = answer(_code(passed))
    _say(passed, log, as_json, quiet=bool(command))
    return code


def _code(passed: Passed) -> int:
    """Return the command's exit code; 2 where the log failed or a replay met unknown requests."""
    ended = passed.ended
    if ended.code:
        # A signal's number comes back negative; shells say 128 + number.
        return ended.code if ended.code > 0 else 128 - ended.code
    return ExitCode.BAD_INPUT if ended.failure or ended.unknown else ExitCode.DONE


def _say(passed: Passed, log: Path, as_json: bool, *, quiet: bool) -> None:
    from judgeaudit.report.gateway_text import report_document, report_lines

    ended = passed.ended
    remark(_counts(passed, log))
    if ended.failure:
        remark(f"error: {ended.failure}")
    if as_json:
        document(None if passed.report is None else report_document(passed.report))
    elif passed.report is not None:
        texts = report_lines(passed.report)
        # A command's own output stands on stdout; the report stays beside it.
        if quiet:
            for text in texts:
                remark(text)
        else:
            lines(texts)


def _counts(passed: Passed, log: Path) -> str:
    ended = passed.ended
    if ended.session is None:
        told = f"replayed {ended.replayed} answers, {ended.unknown} unknown requests"
        return told if ended.replayed or ended.unknown else "nothing came through the gateway"
    parts = [f"session {ended.session} in {log}: {ended.calls} calls"]
    if ended.chosen:
        parts.append(f"{ended.chosen} asked again, {ended.asked_again} re-asks")
    if ended.unasked:
        parts.append(f"{ended.unasked} re-asks left unasked ({ended.stopped or 'interrupted'})")
    if ended.replayed:
        parts.append(f"{ended.replayed} replayed")
    return "; ".join(parts)
