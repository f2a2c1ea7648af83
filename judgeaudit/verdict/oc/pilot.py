"""What a sealed pilot shows of an instrument, endpoint by endpoint, as plain values.

Nothing is decided here: the noise floor at every level that the readout has, gaps, invalid readings
by reason, what the replies' metadata mean, controls, and kappa for the sample size. Whether the
instrument is capable of a gate, the gate's characteristic says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from judgeaudit.analysis.catalogue import NAMES, compute
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.noise.informative import gap_report
from judgeaudit.analysis.question import Over, Question
from judgeaudit.readings.table import VALUES, probes
from judgeaudit.verdict.oc.instrument import standard_error

OVERS: tuple[Over, ...] = ("same_window", "windows_same_day", "other_day")
METADATA = ("model_returned", "fingerprint", "service_tier")


def report(table: pd.DataFrame, question: Question) -> dict[str, Any]:
    """Return the pilot's report: by endpoint, and its controls."""
    asked = probes(table)
    controls = compute("controls", table, question)
    return {
        "endpoints": {
            str(name): endpoint_report(part, question)
            for name, part in asked.groupby("endpoint", sort=False)
        },
        "controls": [_told(e) | _control(e) for e in controls],
    }


def endpoint_report(part: pd.DataFrame, question: Question) -> dict[str, Any]:
    """Return one endpoint's report; `part` holds its probes."""
    invalid = part.loc[part["status"].eq("invalid"), "reason"].value_counts()
    found: dict[str, Any] = {
        "planned": len(part),
        "valid": int(part["status"].eq("ok").sum()),
        "invalid": {str(reason): int(count) for reason, count in invalid.items()},
        "items": int(part["item"].nunique()),
        "tasks": int(part["task"].nunique()),
        "windows": int(part["window"].nunique()),
        "days": int(part["day"].nunique()),
        "metadata": {name: metadata_status(part, name) for name in METADATA if name in part},
        "floor": list(floor(part, question)),
    }
    if part["number"].notna().any():
        found["gaps"] = gap_report(part, question.over_pairs("same_window"))
    return found


def floor(part: pd.DataFrame, question: Question) -> Iterator[dict[str, Any]]:
    """Yield the noise floor at every level, within a window and between windows and days."""
    there = {column for column in VALUES if part[column].notna().any()}
    names = [name for name, one in NAMES.items() if one.floor and there.intersection(one.reads)]
    for name in names:
        for over in OVERS:
            if over not in NAMES[name].over:
                continue
            found = compute(name, part, question.over_pairs(over))
            if not found or (found[0].value is None and over != "same_window"):
                continue
            told = _told(found[0]) | {"statistic": name, "over": over}
            if NAMES[name].kind == "correlation":
                told["kappa"] = kappa(found[0])
            yield told


def kappa(estimate: Estimate) -> float | None:
    """Return sqrt(n) times the standard error of atanh r, which sample size formulas take."""
    se = standard_error("correlation", estimate)
    items = estimate.n.get("items", 0)
    return None if se is None else se * math.sqrt(items)


def metadata_status(part: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return what a field of the replies says: absent, stable, or changing and how often."""
    values = part[name].dropna()
    distinct = [str(value) for value in pd.unique(values)]
    status = "absent" if not distinct else "stable" if len(distinct) == 1 else "changing"
    return {"status": status, "values": len(distinct), "examples": distinct[:5]}


def served(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the models that each endpoint's replies named."""
    if "model_returned" not in table:
        return {}
    found = table.dropna(subset=["model_returned"]).groupby("endpoint")["model_returned"]
    return {str(name): sorted(map(str, models.unique())) for name, models in found}


def _told(estimate: Estimate) -> dict[str, Any]:
    return {
        "endpoint": estimate.endpoint,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
        "undefined": estimate.undefined,
        "n": dict(estimate.n),
    }


def _control(estimate: Estimate) -> dict[str, Any]:
    return {"scope": estimate.scope, "counted": estimate.details.get("counted", "")}


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a report in words."""
    for name, told in found["endpoints"].items():
        yield (
            f"{name}: {told['valid']} of {told['planned']} readings valid, {told['items']} items, "
            f"{_count(told['windows'], 'window')} on {_count(told['days'], 'day')}"
        )
        if told["invalid"]:
            yield f"  invalid: {', '.join(f'{k} {v}' for k, v in told['invalid'].items())}"
        yield from map(_floor_line, told["floor"])
        yield from _gap_lines(told.get("gaps") or {})
        for field, status in told["metadata"].items():
            yield f"  {field}: {status['status']} ({_count(status['values'], 'value')})"
    for control in found["controls"]:
        place = f"control {control['endpoint']}, {control['scope'].removeprefix('control=')}"
        if control["value"] is None:
            yield f"{place}: {control['undefined']}"
        else:
            n = control["n"]
            yield f"{place}: {n['hits']} of {n['of']} {control['counted']}"


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _floor_line(told: Mapping[str, Any]) -> str:
    place = f"  {told['statistic']}, {told['over'].replace('_', ' ')}:"
    if told["value"] is None:
        return f"{place} undefined ({told['undefined']})"
    bounds = "no interval" if told["low"] is None else (
        f"{told['level']:.0%} {told['low']:.4g} to {told['high']:.4g}"
    )  # fmt: skip
    also = f"; kappa {told['kappa']:.3g}" if told.get("kappa") else ""
    return f"{place} {told['value']:.4g} ({bounds}{also})"


def _gap_lines(gaps: Mapping[str, Any]) -> Iterator[str]:
    if not gaps:
        return
    deltas, smallest = gaps["repeat_deltas"], gaps["smallest_gap"]
    yield "  repeat deltas: " + ", ".join(f"{k} {v:.3g}" for k, v in deltas.items())
    yield (
        f"  smallest gap of neighbours: median {smallest['median']:.3g}; exact ties in "
        f"{gaps['groups_with_ties']} of {gaps['groups']} groups"
    )
    yield (
        f"  delta (p95 of the change of gaps): {gaps['delta']:.4g}; "
        f"{gaps['share_below_delta']:.1%} of {gaps['pairs']} pairs lie below it"
    )
