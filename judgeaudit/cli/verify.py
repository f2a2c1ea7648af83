"""`judgeaudit verify`: whether every file is what it was, registration to last reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.exits import ExitCode, answer, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.verify import Verified


@exits
def verify(
    study: StudyPath,
    expected_head: Annotated[
        str | None,
        typer.Option(
            "--expected-head",
            help="Digest of the last manifest as noted elsewhere: shows removed last runs.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Re-hash and re-derive everything frozen and sealed, results, gate runs and exports.

    Exits 0 where every file is what its digest says, 1 where one is not, naming file, row and
    digest, 3 for what another version of judgeaudit wrote. The head digest, kept elsewhere, shows
    later whether runs were removed (`--expected-head`). An export's folder can be verified too.
    Example: judgeaudit verify my-study
    """
    from judgeaudit.study.verify import verify as verified

    found = verified(study, expected_head=expected_head)
    code = answer(_code(found))
    if as_json:
        document({"ok": found.ok, **asdict(found)})
    else:
        lines([*found.findings, *found.other_versions, *told(found)])
        remark(_verdict(found))
    return code


def _code(found: Verified) -> ExitCode:
    if found.findings:
        return ExitCode.NO
    return ExitCode.UNDECIDED if found.other_versions else ExitCode.DONE


def told(found: Verified) -> Iterator[str]:
    """Yield the head, runs that are not sealed, and what nothing covers."""
    if found.head is not None:
        yield f"head {found.head}"
    yield from found.unsealed
    yield from (f"note: {note}" for note in found.notes)


def _verdict(found: Verified) -> str:
    if found.findings:
        count = len(found.findings)
        return f"{count} finding{'' if count == 1 else 's'}: this is not what it was"
    if found.other_versions:
        return "written by another version of judgeaudit: nothing can be said here"
    if found.calls is None:
        return "verified: an export, every file as its manifest has it"
    if not found.runs and found.planned:
        return f"verified: registration, plan of {found.calls} calls; nothing sealed"
    runs = len(found.runs)
    what = "registration, plan of" if found.planned else "a gateway's log,"
    name = "run" if found.planned else "session"
    return (
        f"verified: {what} {found.calls} calls, {runs} sealed "
        f"{name}{'' if runs == 1 else 's'}; this shows integrity, not who made it or when"
    )
