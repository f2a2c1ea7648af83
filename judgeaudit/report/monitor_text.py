"""One endpoint's monitoring for people."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.verdict.monitor import Monitored
from judgeaudit.verdict.words import number


def monitor_lines(found: Monitored) -> Iterator[str]:
    """Yield one endpoint's monitoring for people."""
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
