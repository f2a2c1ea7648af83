"""`judgeaudit prereg`: from a registration to a lock, and from a lock to an amendment."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.registration.check import CheckReport
    from judgeaudit.registration.check_criteria import Catalogue

app = typer.Typer(
    name="prereg",
    help="Check, freeze, verify, amend and show a registration.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def statistics() -> Catalogue | None:
    """Return the statistics that gates and rules may use."""
    if importlib.util.find_spec("judgeaudit.analysis.catalogue") is None:
        return None
    from judgeaudit.analysis.catalogue import NAMES

    return NAMES


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
    from judgeaudit.registration import check as checks
    from judgeaudit.registration.files import load_study

    report = checks.check(load_study(study), statistics())
    if as_json:
        document(report_json(report))
    else:
        lines(checks.lines(report))
        remark(f"{len(report.problems)} problems" if report.problems else "ready to freeze")
    return ExitCode.DONE if report.ok else ExitCode.NO


@app.command()
@exits
def freeze(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Render every request once and lock the study.

    Freezing an unchanged study again changes nothing. Example: judgeaudit prereg freeze my-study
    """
    from datetime import UTC, datetime

    from judgeaudit.registration import check as checks
    from judgeaudit.registration import files
    from judgeaudit.registration.environment import facts

    report = checks.require_sound(files.load_study(study), statistics())
    lock, written = files.freeze(study, facts(study, datetime.now(UTC)))
    if as_json:
        found = {"lock_digest": lock.digest, "written": written, "lock": lock.document}
        document({**found, "notes": list(report.notes)})
        return ExitCode.DONE
    content = lock.document["content"]
    lines(
        [
            f"{'frozen' if written else 'unchanged'}: {study / files.FROZEN}",
            f"lock {lock.digest}",
            f"{content['plan']['rows']} calls, {content['bodies']['rows']} bodies",
        ]
    )
    for note in report.notes:
        remark(f"note: {note}")
    return ExitCode.DONE


@app.command()
@exits
def show(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Print what a study has frozen: digests, windows, calls by endpoint and condition.

    Example: judgeaudit prereg show my-study
    """
    from judgeaudit.registration.files import load_frozen
    from judgeaudit.registration.summary import summary, summary_lines

    found = summary(load_frozen(study))
    if as_json:
        document(found)
    else:
        lines(summary_lines(found))
    return ExitCode.DONE
