"""`judgeaudit monitor`: an alarm over a study's windows whose false-alarm rate is registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.exits import ExitCode, code_for, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.verdict.monitor import Monitored


@exits
def monitor(
    study: StudyPath,
    ask: Annotated[
        bool, typer.Option("--run", help="Run the next window first, if its time has come.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Exit 0 if no watched run raises an alarm, 1 if one does, 3 if it cannot be told yet.

    Threshold and false-alarm rate come from `[watch]` and the calibration runs.
    Example: judgeaudit monitor my-study --run
    """
    from judgeaudit.cli.progress import shown
    from judgeaudit.study.monitor import monitor as watched

    with shown() as progress:
        found = watched(study, ask=ask, progress=progress)
    if as_json:
        document(found.to_dict())
    else:
        lines(text for one in found.endpoints for text in text_of(one))
        lines(amendment.sentence() for amendment in found.amendments)
    remark(f"{found.outcome.value.upper()}: {found.study}")
    return code_for(found.outcome)


def text_of(found: Monitored) -> Iterator[str]:
    """Yield one endpoint's monitoring for people."""
    from judgeaudit.verdict.words import number

    yield f"{found.endpoint}: {found.outcome.value}" + (
        f" ({found.reason})" if found.reason else ""
    )
    limit = found.threshold
    if limit is None:
        return
    low, high = limit.conditional_range()
    yield (
        f"  threshold {number(limit.value)} from {limit.runs} calibration runs; registered alpha "
        f"{limit.alpha:g}, realised {limit.false_alarm:.3f} a run on average over calibrations "
        f"(95% of calibrations: {low:.3f} to {high:.3f}); {limit.alarms_per_year():.1f} false "
        "alarms a year expected at one run a day"
    )
    for run in found.runs:
        if run.outcome.value == "fail":
            yield (
                f"  ALARM in {run.window} (day {run.day}): {number(run.largest or 0.0)}, crossed "
                f"after {run.step} readings, at item {run.item}"
            )
        elif run.reason:
            yield f"  undefined: {run.reason}"
    if found.first_alarm is not None:
        yield f"  first alarm in watched run {found.first_alarm[0]}"
    quiet = sum(run.outcome.value == "pass" for run in found.runs)
    yield f"  {quiet} of {len(found.runs)} watched runs are quiet"
