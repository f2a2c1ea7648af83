"""An alarm over a study's windows whose false-alarm rate is registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgeaudit.design.amendments import Amendment
from judgeaudit.errors import InputError
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.study.amendments import amendments_of
from judgeaudit.study.folders import Folder
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.run import run
from judgeaudit.study.sealed import planned_table, sealed_runs_of
from judgeaudit.verdict.monitor import Monitored, check_watch
from judgeaudit.verdict.monitor import monitor as watch_runs
from judgeaudit.verdict.verdicts import Outcome, overall


@dataclass(frozen=True, slots=True)
class Watched:
    """What every endpoint's runs say, and the study's amendments."""

    study: str
    endpoints: tuple[Monitored, ...]
    amendments: tuple[Amendment, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Fail where one endpoint raises an alarm, undefined where one cannot be told."""
        return overall(one.outcome for one in self.endpoints)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "outcome": self.outcome.value,
            "endpoints": [_endpoint(one) for one in self.endpoints],
            "amendments": [amendment.to_dict() for amendment in self.amendments],
        }


def monitor(
    folder: Folder,
    *,
    ask: bool = False,
    environment: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Watched:
    """Return whether a watched run raises the registered alarm; `ask` runs the next window first.

    Threshold and false-alarm rate come from `[watch]` and the calibration runs. Raises `InputError`
    without `[watch]`, `UndefinedEstimate` where nothing is sealed, `TooEarly` as `run` does.
    """
    root = Path(folder)
    frozen = load_frozen(root)
    watch = frozen.registration.watch
    if watch is None:
        raise InputError(root, found="no [watch] is registered", remedy="add it and freeze anew")
    check_watch(watch)
    if ask:
        run(root, environment=environment, progress=progress)
    sealed_runs_of(frozen)
    table = planned_table(frozen)
    found = tuple(watch_runs(table, watch, spec.id) for spec in frozen.registration.endpoints)
    return Watched(frozen.registration.study.id, found, amendments_of(frozen))


def _endpoint(found: Monitored) -> dict[str, Any]:
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
