"""`judgeaudit verify`: whether every file is what it was, registration to last reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.design.frozen import FrozenStudy


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
    from judgeaudit.errors import EvidenceError
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.evidence.lock.gate_run import home_of, is_run, load_run
    from judgeaudit.evidence.lock.verify import verify_frozen

    findings = verify_frozen(home_of(study) if is_run(study) else study)
    checked: dict[str, Any] = {"runs": [], "calls": None}
    try:
        frozen = load_run(study) if is_run(study) else load_frozen(study)
    except EvidenceError as error:
        findings += [] if str(error) in findings else [str(error)]
        remark("the log was not checked, since what it stands on does not hold")
    else:
        findings += log_findings(frozen, expected_head, checked)
        findings += stage_findings(frozen, findings)
    if as_json:
        document({"ok": not findings, "findings": findings, **checked})
    else:
        lines(findings)
        remark(_verdict(findings, checked))
    return ExitCode.NO if findings else ExitCode.DONE


def stage_findings(frozen: FrozenStudy, before: list[str]) -> list[str]:
    """Return what differs from later stages made again; not where the log itself is unsound."""
    from judgeaudit.study import log_facts

    return [] if before else log_facts.stage_findings(frozen)


def log_findings(
    frozen: FrozenStudy, expected_head: str | None, checked: dict[str, Any]
) -> list[str]:
    """Return what is wrong with the log; fills `checked` with what was looked at."""
    from judgeaudit.collect.past import log_dir
    from judgeaudit.evidence.derive import derive
    from judgeaudit.evidence.log.runs import sealed_folders
    from judgeaudit.evidence.log.verify import verify_log

    log = log_dir(frozen.root)
    findings = verify_log(
        log,
        frozen.plan,
        str(frozen.lock_digest),
        derive(frozen),
        expected_head=expected_head,
        superseded=frozen.locks,
    )
    checked["runs"] = [folder.name for folder in sealed_folders(log)]
    checked["calls"] = len(frozen.plan)
    return [str(finding) for finding in findings]


def _verdict(findings: list[str], checked: dict[str, Any]) -> str:
    if findings:
        return f"{len(findings)} findings: this study is not what it was"
    runs = len(checked["runs"])
    return (
        f"verified: registration, plan of {checked['calls']} calls, {runs} sealed "
        f"run{'' if runs == 1 else 's'}; this shows integrity, not who made it or when"
    )
