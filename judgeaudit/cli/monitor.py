"""`judgeaudit monitor`: an alarm over a study's windows whose false-alarm rate is registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark
from judgeaudit.errors import InputError

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
    from judgeaudit.cli.gate import code_for
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.study.gate_blocks import planned_table
    from judgeaudit.study.results import sealed_runs_of
    from judgeaudit.verdict.monitor import check_watch
    from judgeaudit.verdict.monitor import monitor as watch_runs
    from judgeaudit.verdict.verdicts import overall

    frozen = load_frozen(study)
    watch = frozen.registration.watch
    if watch is None:
        raise InputError(study, found="no [watch] is registered", remedy="add it and freeze anew")
    check_watch(watch)
    if ask:
        from judgeaudit.cli.progress import shown
        from judgeaudit.collect.lock import exclusive
        from judgeaudit.study.windows import Windows

        with exclusive(study), shown() as progress:
            Windows(study, frozen, progress).run(None, everything=False)
    sealed_runs_of(frozen)
    table = planned_table(frozen)
    found = [watch_runs(table, watch, spec.id) for spec in frozen.registration.endpoints]
    outcome = overall(one.outcome for one in found)
    if as_json:
        document({"outcome": outcome.value, "endpoints": [as_document(one) for one in found]})
    else:
        lines(text for one in found for text in text_of(one))
    remark(f"{outcome.value.upper()}: {frozen.registration.study.id}")
    return code_for(outcome)


def as_document(found: Monitored) -> dict[str, Any]:
    """Return one endpoint's monitoring as JSON values."""
    limit, first = found.threshold, found.first_alarm
    return {
        "endpoint": found.endpoint,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "threshold": None
        if limit is None
        else {
            "value": limit.value,
            "alpha": limit.alpha,
            "false_alarm": limit.false_alarm,
            "false_alarm_range": list(limit.conditional_range()),
            "alarms_per_year": limit.alarms_per_year(),
            "calibration_runs": limit.runs,
        },
        "first_alarm_after_runs": None if first is None else first[0],
        "runs": [run.to_dict() for run in found.runs],
    }


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
