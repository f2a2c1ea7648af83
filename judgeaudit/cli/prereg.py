"""`judgeaudit prereg`: from a registration to a lock, and from a lock to an amendment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, answer, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

app = typer.Typer(
    name="prereg",
    help="Check, weigh, freeze, verify, amend and show a registration.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@exits
def check(
    study: StudyPath,
    online: Annotated[
        bool, typer.Option("--online", help="Ask each provider whether it has the model.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """List every problem of a registration, and what the study will cost.

    With --online each provider's model list is asked once; its answer is kept in declared.json.
    Exits 0 if it can be frozen, 1 if not. Example: judgeaudit prereg check my-study --online
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.study import check as room

    report = room.check(study, online=online, progress=heard)
    code = answer(ExitCode.DONE if report.ok else ExitCode.NO)
    if as_json:
        document(room.check_document(report))
    else:
        lines(room.check_lines(report))
        count = len(report.problems)
        if count:
            remark("1 problem" if count == 1 else f"{count} problems")
        elif report.frozen:
            remark(f"frozen already, and unchanged; next: judgeaudit run {study}")
        else:
            remark(f"ready to freeze; next: judgeaudit prereg freeze {study}")
    return code


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
    from judgeaudit.cli.progress import heard
    from judgeaudit.study.freeze import freeze as frozen

    found = frozen(study, progress=heard)
    lock, stage = found.lock, found.stage
    if as_json:
        told = {"lock_digest": lock.digest, "written": found.written, "lock": lock.document}
        later = None if stage is None else {"stage": stage[0], "lock_digest": stage[1].digest}
        document({**told, "stage": later, "notes": list(found.notes)})
        return ExitCode.DONE
    content = lock.document["content"]
    lines(
        [
            f"{'frozen' if found.written else 'unchanged'}: {found.folder}",
            f"lock {lock.digest}",
            f"{content['plan']['rows']} calls, {content['bodies']['rows']} bodies",
        ]
    )
    if stage is not None:
        lines([f"frozen: stage {stage[0]}, lock {stage[1].digest}"])
    for note in found.notes:
        remark(f"note: {note}")
    remark(f"next: judgeaudit run {study}")
    return ExitCode.DONE


@app.command()
@exits
def verify(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Derive plan and bodies again from the frozen files, and name whatever differs.

    Exits 0 if nothing does, 1 otherwise. Example: judgeaudit prereg verify my-study
    """
    from judgeaudit.study.freeze import frozen_findings

    findings = frozen_findings(study)
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
    from judgeaudit.study.amend import amend as amended

    found = amended(study, what=what, why=why, effect=effect)
    lock, written = found.lock, found.amendment
    if as_json:
        document({"lock_digest": lock.digest, "amendment": written})
        return ExitCode.DONE
    lines([found.sentence(), f"lock {lock.digest} supersedes {written['superseded_lock']}"])
    remark(f"next: judgeaudit run {study}")
    return ExitCode.DONE


@app.command()
@exits
def restore(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Put input files that were changed after the freeze back as they were frozen.

    Shows what differed and keeps each edited file beside it as NAME.edited.
    Example: judgeaudit prereg restore my-study
    """
    from judgeaudit.printable import printable
    from judgeaudit.study.restore import restore as restored

    found = restored(study)
    if as_json:
        document({"restored": [one.to_dict() for one in found]})
        return ExitCode.DONE
    for one in found:
        lines(printable(line) for line in one.difference)
        lines([f"restored: {one.path}" + (f"; the edited file is {one.kept}" if one.kept else "")])
    if not found:
        remark("nothing to restore: every input file is as frozen")
    return ExitCode.DONE


@app.command()
@exits
def deviate(
    study: StudyPath,
    what: Annotated[str, typer.Option(help="What was done otherwise than registered.")],
    why: Annotated[str, typer.Option(help="Why it was.")],
    effect: Annotated[str, typer.Option(help="What it does to calls, readings and verdicts.")],
    as_json: AsJson = False,
) -> ExitCode:
    """Tell a departure from the registration that has happened. Nothing frozen changes.

    It is kept under deviations/ with what was sealed by then, and reports list it.
    Example: judgeaudit prereg deviate my-study --what "window d2w1 began two hours late"
    --why "the machine was off" --effect "none on the items asked"
    """
    from judgeaudit.study.restore import deviate as deviated

    found = deviated(study, what=what, why=why, effect=effect)
    if as_json:
        document(found)
    else:
        lines([f"deviation {found['number']} ({found['told_at']}): {found['what']}"])
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
    from judgeaudit.study.stamp import stamp as stamped

    found = stamped(study, request=request, token=token, roots=root or [])
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
    from judgeaudit.study.freeze import frozen_summary, summary_lines

    found = frozen_summary(study)
    if as_json:
        document(found)
    else:
        lines(summary_lines(found))
    return ExitCode.DONE
