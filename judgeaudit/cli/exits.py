"""Exit codes: a contract with CI jobs, listed in the README. Nothing else here decides one."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from enum import IntEnum
from typing import Any, ParamSpec, TypeVar

import typer

from judgeaudit.cli.output import remark
from judgeaudit.errors import (
    JudgeauditError,
    OtherVersion,
    RegistrationError,
    TooEarly,
    UndefinedEstimate,
)
from judgeaudit.printable import printable_json, printable_lines


class ExitCode(IntEnum):
    """What a command found."""

    DONE = 0  # done, or passed
    NO = 1  # the answer is no: gate, monitor, verify, prereg check|oc|verify alone
    BAD_INPUT = 2  # usage or bad input; a tampered file; a paused run; Typer's own code too
    UNDECIDED = 3  # undefined, inconclusive, nothing could be said, or too early
    BUG = 70  # Python's own code for a crash is 1, which would read as NO
    INTERRUPTED = 130


P = ParamSpec("P")


def code_for(outcome: str) -> ExitCode:
    """Return the exit code of a gate's outcome."""
    return {"pass": ExitCode.DONE, "fail": ExitCode.NO}.get(outcome, ExitCode.UNDECIDED)


_known: ContextVar[int | None] = ContextVar("known", default=None)
Code = TypeVar("Code", bound=int)


def answer(code: Code) -> Code:
    """Note what a command found before it prints it, and return it.

    Whoever reads stdout may leave (`judgeaudit gate S | head`), and a disk may be full: what CI
    reads is the exit code, and it does not depend on that.
    """
    _known.set(code)
    return code


def code_of(error: BaseException) -> ExitCode:
    """Return the exit code that an escaped error means."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if isinstance(error, TooEarly | UndefinedEstimate | OtherVersion):
        return ExitCode.UNDECIDED
    if isinstance(error, JudgeauditError | OSError):
        return ExitCode.BAD_INPUT
    return ExitCode.BUG


def _text(error: BaseException) -> str:
    """Return an error's words; the system's own as file and cause, without their number."""
    if isinstance(error, OSError) and isinstance(error.filename, str) and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _say(error: BaseException, named: ExitCode, code: int, as_json: bool) -> None:
    """Tell an error: one line a problem on stderr, or one JSON document on stdout."""
    if named is ExitCode.BUG:
        sys.stderr.write(printable_lines("".join(traceback.format_exception(error))))
    message = (
        "interrupted; run the same command again to resume"
        if isinstance(error, KeyboardInterrupt)
        else " ".join(_text(error).split())
    )
    if as_json:
        document: dict[str, Any] = {
            "error": message,
            "kind": type(error).__name__,
            "exit_code": int(code),
        }
        if isinstance(error, TooEarly):
            document["earliest"] = error.earliest.isoformat()
        if isinstance(error, RegistrationError):
            document["problems"] = [
                {"key": p.key, "found": p.found, "allowed": p.allowed} for p in error.problems
            ]
        with contextlib.suppress(OSError):  # stdout itself may be what failed: a full disk
            typer.echo(printable_json(document))
    if isinstance(error, RegistrationError):
        for problem in error.problems:
            remark(f"error: {error.source}: {problem}")
    elif named is not ExitCode.BUG:
        remark(f"error: {message}")


def _flush() -> None:
    if sys.stdout is not None:  # None where the shell closed it (`>&-`)
        sys.stdout.flush()


def _to_nowhere() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _drop_unwritten() -> None:
    """Let go of what stdout cannot take, which would be tried, and told, again at exit."""
    try:
        _flush()
    except OSError:
        _to_nowhere()


def exits(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what `command` returns or raises into an exit code."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        _known.set(None)
        try:
            code: int = answer(command(*args, **kwargs))
            _flush()  # a full disk is told here, not by the interpreter's exit
        except BrokenPipeError:
            # The reader of our stdout left (`| head`): not an error, and no traceback at exit.
            _to_nowhere()
            code = _known.get() or ExitCode.DONE
        except (KeyboardInterrupt, Exception) as error:
            named = code_of(error)
            code = named
            known = _known.get()
            if isinstance(error, OSError) and known is not None:
                code = known or code  # found before stdout could take no more: a no stays no
            _say(error, named, code, bool(kwargs.get("as_json", False)))
            _drop_unwritten()
        raise typer.Exit(code)

    return wrapper
