"""Monitoring a study's windows: a CUSUM over each run, its threshold from clean runs.

* The sealed windows are runs in order. The first `reference` give each item's mean and the
  within-item SD, the next `calibration` the threshold, each on a day of its own; what follows is
  watched. The split makes a false alarm's chance at most alpha a run, if runs are exchangeable,
  whatever the dependence inside one (`stats.alarm`).
* A score is its own number. A verdict or ranking is 1 where it is the item's most frequent
  answer in the reference, else 0: a run with many new answers drives the CUSUM.
* A judge without noise in its reference has no SD. Its raw differences are then summed without an
  allowance, and any difference beyond those of calibration raises an alarm.
* Replies that could not be read are left out. A run with more than `MOST_INVALID` of them, and one
  of another set of items, is not judged: undefined, never quiet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.design.criteria import Watch
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes
from judgeaudit.stats.alarm import Threshold, calibrate, cusum, runs_needed
from judgeaudit.verdict.verdicts import Outcome

MOST_INVALID = 0.02
DECIMALS = 9
"""Kept of a CUSUM, in standard deviations."""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """One run after calibration: its largest CUSUM, and where it first crossed."""

    window: str
    day: int
    outcome: Outcome
    largest: float | None
    item: str | None = None
    step: int | None = None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; an alarm is the outcome `fail`."""
        return {
            "window": self.window,
            "day": self.day,
            "outcome": self.outcome.value,
            "largest": self.largest,
            "first_item": self.item,
            "delay_items": self.step,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Monitored:
    """What one endpoint's runs say; `threshold` is None while calibration is not complete."""

    endpoint: str
    threshold: Threshold | None
    runs: tuple[WatchedRun, ...]
    reason: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return fail for any alarm, undefined for a run that could not be judged or for none."""
        found = {run.outcome for run in self.runs}
        if Outcome.FAIL in found:
            return Outcome.FAIL
        if self.reason or not self.runs or Outcome.UNDEFINED in found:
            return Outcome.UNDEFINED
        return Outcome.PASS

    @property
    def first_alarm(self) -> tuple[int, WatchedRun] | None:
        """Return the first alarm and after how many watched runs it came, 1 for the first."""
        return next(
            ((n, run) for n, run in enumerate(self.runs, 1) if run.outcome is Outcome.FAIL), None
        )


def check_watch(watch: Watch) -> None:
    """Raise `InputError` where the registered alpha is below what so many runs can promise."""
    if watch.alpha * (watch.calibration + 1) < 1:
        raise InputError(
            "registration.toml",
            "watch.alpha",
            f"{watch.alpha} is below 1/({watch.calibration} + 1)",
            f"calibrate on >= {runs_needed(float(watch.alpha))} runs, or register a larger alpha",
        )


def monitor(table: pd.DataFrame, watch: Watch, endpoint: str) -> Monitored:
    """Return what the sealed windows of one endpoint say, in the table's order."""
    check_watch(watch)
    asked = probes(table)
    part = asked[asked["endpoint"].eq(endpoint)]
    windows = list(dict.fromkeys(part["window"]))
    first, last = watch.reference, watch.reference + watch.calibration
    if len(windows) < last:
        why = f"{len(windows)} of {last} reference and calibration runs are sealed"
        return Monitored(endpoint, None, (), why)
    if days_shared(part, windows[first:last]):
        return Monitored(endpoint, None, (), "two calibration runs stand on one day")
    values = measured(part, windows[:first])
    runs = [values[values["window"].eq(window)] for window in windows]
    means, sd = reference(runs[:first])
    allowance = float(watch.allowance) if sd > 0 else 0.0
    walks = [_walk(run, means, sd, allowance) for run in runs[first:]]
    maxima = [walk for walk in walks[: watch.calibration] if isinstance(walk, _Walk)]
    if len(maxima) < watch.calibration:
        lost = next(str(w) for w in walks if not isinstance(w, _Walk))
        return Monitored(endpoint, None, (), f"a calibration run cannot be used: {lost}")
    threshold = calibrate([walk.largest for walk in maxima], float(watch.alpha))
    watched = tuple(
        _watched(run, walk, threshold)
        for run, walk in zip(runs[last:], walks[watch.calibration :], strict=True)
    )
    why = "" if watched else "calibrated; no later run is sealed yet"
    return Monitored(endpoint, threshold, watched, why)


def days_shared(part: pd.DataFrame, windows: Sequence[str]) -> bool:
    """Return whether two of the windows stand on one day."""
    days = part[part["window"].isin(windows)].groupby("window")["day"].first()
    return bool(days.duplicated().any())


def measured(part: pd.DataFrame, windows: Sequence[str]) -> pd.DataFrame:
    """Return the table with a number `x` a reading: its score, or whether it is the usual answer.

    `windows` are the reference's, whose most frequent answer an item's usual one is.
    """
    ok = part["status"].eq("ok")
    if part.loc[ok, "number"].notna().all():
        return part.assign(x=part["number"].where(ok))
    answers = part["category"].where(part["category"].notna(), part["ranking"])
    text = answers.where(answers.notna(), part["text"]).astype(str)
    known = text[ok & part["window"].isin(windows)]
    keys = [part.loc[known.index, "item"], part.loc[known.index, "arm"]]
    usual = known.groupby(keys).agg(lambda found: found.value_counts().index[0])
    pairs = pd.MultiIndex.from_arrays([part["item"], part["arm"]])
    expected = usual.reindex(pairs).to_numpy()
    return part.assign(x=np.where(ok, (text.to_numpy() == expected).astype(float), np.nan))


def reference(runs: Sequence[pd.DataFrame]) -> tuple[pd.Series, float]:
    """Return each request's mean over the reference runs and the pooled within-request SD."""
    whole = pd.concat(runs)
    grouped = whole.groupby(["item", "arm"], sort=False)["x"]
    means, counts = grouped.mean(), grouped.count()
    squares = ((whole["x"] - grouped.transform("mean")) ** 2).sum()
    freedom = int((counts - 1).clip(lower=0).sum())
    return means, float(np.sqrt(squares / freedom)) if freedom else 0.0


@dataclass(frozen=True, slots=True)
class _Walk:
    """A run's CUSUM and the items it was taken over, in the order in which they were asked."""

    path: np.ndarray[Any, np.dtype[np.float64]]
    items: tuple[str, ...]

    @property
    def largest(self) -> float:
        return float(self.path.max())


def _walk(run: pd.DataFrame, means: pd.Series, sd: float, allowance: float) -> _Walk | str:
    window = str(run["window"].iloc[0])
    pairs = pd.MultiIndex.from_arrays([run["item"], run["arm"]])
    centre = means.reindex(pairs).to_numpy(dtype=float)
    if np.isnan(centre).any():
        stranger = run["item"].iloc[int(np.isnan(centre).argmax())]
        return f"window {window}: item {stranger!r} has no reference"
    x = run["x"].to_numpy(dtype=float)
    kept = ~np.isnan(x)
    if 1 - kept.mean() > MOST_INVALID:
        return f"window {window}: {1 - kept.mean():.1%} of the replies could not be read"
    residuals = (x - centre)[kept] / (sd if sd > 0 else 1.0)
    # Equal sums taken in another order differ in their last bits, and that is no alarm.
    path = np.round(cusum(residuals, allowance), DECIMALS)
    return _Walk(path, tuple(run["item"][kept].astype(str)))


def _watched(run: pd.DataFrame, walk: _Walk | str, threshold: Threshold) -> WatchedRun:
    window, day = str(run["window"].iloc[0]), int(run["day"].iloc[0])
    if isinstance(walk, str):
        return WatchedRun(window, day, Outcome.UNDEFINED, None, reason=walk)
    if not bool(threshold.alarms(walk.largest)):
        return WatchedRun(window, day, Outcome.PASS, walk.largest)
    step = int(np.flatnonzero(walk.path > threshold.value)[0])
    return WatchedRun(window, day, Outcome.FAIL, walk.largest, walk.items[step], step + 1)
