"""`judgeaudit prereg`: from a registration to a lock, and from a lock to an amendment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark
from judgeaudit.errors import InputError, RegistrationError

if TYPE_CHECKING:
    from judgeaudit.design.check.study import CheckReport

app = typer.Typer(
    name="prereg",
    help="Check, weigh, freeze, verify, amend and show a registration.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def report_json(report: CheckReport) -> dict[str, Any]:
    """Return a check's report as JSON."""
    return {
        "ok": report.ok,
        "problems": [
            {"key": p.key, "found": p.found, "allowed": p.allowed} for p in report.problems
        ],
        "notes": list(report.notes),
        "numbers": None if report.numbers is None else report.numbers.as_json(),
    }


@app.command()
@exits
def check(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """List every problem of a registration, and what the study will cost.

    Exits 0 if it can be frozen, 1 if not. Example: judgeaudit prereg check my-study
    """
    from dataclasses import replace

    from judgeaudit.cli.progress import heard
    from judgeaudit.design.check import study as checks
    from judgeaudit.evidence.lock.files import load_study
    from judgeaudit.study.characteristics import with_gates
    from judgeaudit.study.embedded import judge_problems
    from judgeaudit.study.sound import statistics

    draft = load_study(study)
    report = checks.check(draft, statistics())
    report = replace(report, problems=report.problems + judge_problems(draft.registration))
    report = with_gates(study, draft, report, heard)
    if as_json:
        document(report_json(report))
    else:
        lines(checks.lines(report))
        count = len(report.problems)
        told = "1 problem" if count == 1 else f"{count} problems"
        remark(told if count else "ready to freeze")
    return ExitCode.DONE if report.ok else ExitCode.NO


@app.command()
@exits
def oc(
    study: StudyPath,
    draws: Annotated[
        int, typer.Option(min=20, max=20_000, help="Resamples of the pilot for each gate.")
    ] = 200,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curves into this file: .svg, .png or .pdf.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say how often each gate passes, fails or cannot tell, before anything is frozen on it.

    For the declared healthy and degraded instruments, and predictively for the piloted one. Exits
    0 if every gate discriminates and the judge is capable of it, 1 if not, 3 if it cannot be told.
    Example: judgeaudit prereg oc my-study --plot oc.svg
    """
    from judgeaudit.cli.oc import oc as body

    return body(study, draws, plot, as_json)


@app.command()
@exits
def power(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Say how often each gate would pass a healthy judge, and the size for 80 and 90 %.

    For shares, rank and intraclass correlations, noise, equivalence bands and memory-luck margins.
    Exits 3 if it cannot be told for every gate. Example: judgeaudit prereg power my-study
    """
    from judgeaudit.cli.power import power as body

    return body(study, as_json)


@app.command()
@exits
def freeze(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Render every request once and lock the study; later, its next stage.

    Freezing an unchanged study again changes nothing. Once every window of a stage is sealed, the
    next stage's requests are made from its readings. A gate that declares healthy and degraded is
    refused without a pilot that shows it can tell them apart.
    Example: judgeaudit prereg freeze my-study
    """
    from datetime import UTC, datetime

    from judgeaudit.cli.progress import heard
    from judgeaudit.design.layout import FROZEN
    from judgeaudit.evidence.lock import files
    from judgeaudit.evidence.lock.environment import facts
    from judgeaudit.study.characteristics import require_freezable
    from judgeaudit.study.embedded import judge_problems
    from judgeaudit.study.log_facts import freeze_next_stage
    from judgeaudit.study.sound import sound

    draft = files.load_study(study)
    report = sound(draft)
    if not (study / FROZEN).exists():
        if problems := judge_problems(draft.registration):
            raise RegistrationError(study / "registration.toml", problems)
        require_freezable(study, draft, report, heard)
    lock, written = files.freeze(study, facts(study, datetime.now(UTC)))
    stage = None if written else freeze_next_stage(files.load_frozen(study))
    if as_json:
        found = {"lock_digest": lock.digest, "written": written, "lock": lock.document}
        later = None if stage is None else {"stage": stage[0], "lock_digest": stage[1].digest}
        document({**found, "stage": later, "notes": list(report.notes)})
        return ExitCode.DONE
    content = lock.document["content"]
    lines(
        [
            f"{'frozen' if written else 'unchanged'}: {study / FROZEN}",
            f"lock {lock.digest}",
            f"{content['plan']['rows']} calls, {content['bodies']['rows']} bodies",
        ]
    )
    if stage is not None:
        lines([f"frozen: stage {stage[0]}, lock {stage[1].digest}"])
    for note in report.notes:
        remark(f"note: {note}")
    return ExitCode.DONE


@app.command()
@exits
def verify(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Derive plan and bodies again from the frozen files, and name whatever differs.

    Exits 0 if nothing does, 1 otherwise. Example: judgeaudit prereg verify my-study
    """
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.evidence.lock.verify import verify_frozen
    from judgeaudit.study.log_facts import stage_findings

    findings = verify_frozen(study)
    if not findings:
        findings = stage_findings(load_frozen(study))
    if as_json:
        document({"ok": not findings, "findings": findings})
    else:
        lines(findings)
        remark(f"{len(findings)} findings" if findings else "as frozen")
    return ExitCode.NO if findings else ExitCode.DONE


@app.command()
@exits
def amend(
    study: StudyPath,
    what: Annotated[str, typer.Option(help="What is changed.")],
    why: Annotated[str, typer.Option(help="Why; what was met.")],
    effect: Annotated[str, typer.Option(help="What it does to calls, readings and verdicts.")],
    as_json: AsJson = False,
) -> ExitCode:
    """Freeze changed files over the frozen ones, before the calls that the change affects.

    Calls that were tried keep what was sent; refused where an answered call would change.
    Example: judgeaudit prereg amend my-study --what "temperature left out"
    --why "the model answers 400 to it" --effect "all calls; none had been answered"
    """
    from datetime import UTC, datetime

    from judgeaudit.design.amendments import Words, described
    from judgeaudit.evidence.lock.amendment_files import amend as amend_files
    from judgeaudit.evidence.lock.environment import facts
    from judgeaudit.evidence.lock.files import load_study
    from judgeaudit.study.log_facts import progress_of
    from judgeaudit.study.sound import sound

    words = Words(what, why, effect)
    sound(load_study(study))
    lock, written = amend_files(study, words, facts(study, datetime.now(UTC)), progress_of(study))
    if as_json:
        document({"lock_digest": lock.digest, "amendment": written})
        return ExitCode.DONE
    lines([*described([written]), f"lock {lock.digest} supersedes {written['superseded_lock']}"])
    return ExitCode.DONE


@app.command()
@exits
def stamp(
    study: StudyPath,
    request: Annotated[
        Path | None, typer.Option(help="Write a time-stamp request for the lock to this file.")
    ] = None,
    token: Annotated[
        Path | None, typer.Option(help="Check an authority's response and keep it.")
    ] = None,
    root: Annotated[
        list[Path] | None, typer.Option(help="The authority's root certificate, PEM.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Ask for, or keep, an RFC 3161 time stamp of the lock. Nothing is sent from here.

    Example: judgeaudit prereg stamp my-study --request lock.tsq
    """
    from judgeaudit.study.stamping import keep_token, write_request

    if (request is None) == (token is None):
        raise InputError("stamp", found="one of --request and --token is wanted")
    found = write_request(study, request) if request else keep_token(study, token, root or [])
    if as_json:
        document(found)
    else:
        lines(f"{name}: {value}" for name, value in found.items())
    return ExitCode.DONE


@app.command()
@exits
def show(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Print what a study has frozen: digests, windows, calls by endpoint and condition.

    Example: judgeaudit prereg show my-study
    """
    from judgeaudit.design.summary import summary, summary_lines
    from judgeaudit.evidence.lock.files import load_frozen

    found = summary(load_frozen(study))
    if as_json:
        document(found)
    else:
        lines(summary_lines(found))
    return ExitCode.DONE
