"""`judgeaudit verify`: whether every file is what it was, registration to last reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
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
    """Re-hash and re-derive everything frozen and sealed.

    Exits 0 where every file is what its digest says, 1 where one is not, naming file, row and
    digest. Example: judgeaudit verify my-study
    """
    from judgeaudit.study.verify import verify as verified

    found = verified(study, expected_head=expected_head)
    if found.calls is None:
        remark("the log was not checked, since what it stands on does not hold")
    if as_json:
        told = {"ok": found.ok, "findings": found.findings}
        document({**told, "runs": found.runs, "calls": found.calls})
    else:
        lines(found.findings)
        remark(_verdict(found))
    return ExitCode.DONE if found.ok else ExitCode.NO


def _verdict(found: Verified) -> str:
    if found.findings:
        return f"{len(found.findings)} findings: this study is not what it was"
    runs = len(found.runs)
    return (
        f"verified: registration, plan of {found.calls} calls, {runs} sealed "
        f"run{'' if runs == 1 else 's'}; this shows integrity, not who made it or when"
    )
