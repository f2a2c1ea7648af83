"""Estimates as a table, for `estimates.parquet` and for notebooks: one row an estimate."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from judgeaudit.analysis.estimate import Estimate

COLUMNS: Mapping[str, str] = {
    "analysis": "Name of the statistic in the catalogue.",
    "endpoint": "Endpoint that it speaks of; `all` where several are pooled or counted.",
    "scope": "Which part of the data; `all` for the whole.",
    "over": "Which pairs of readings are compared; see a registration's `over`.",
    "params": "Parameters of the statistic, as JSON.",
    "asked_by": "The gate, rule or analysis that registered it; empty where none did.",
    "outcome": "What the gate or rule that asked for it found; empty for others.",
    "value": "The estimate; null where it is undefined.",
    "exact": "The estimate as a rational, numerator/denominator, where it is one.",
    "low": "Lower end of the interval; null where there is none.",
    "high": "Upper end of the interval.",
    "level": "Two-sided level of the interval.",
    "method": "How the interval was made.",
    "cluster": "What was taken as independent.",
    "target": "What the interval speaks of.",
    "unit": "Averaging unit: a single reading, or the mean of m.",
    "n": "Counts by kind, as JSON.",
    "excluded": "Readings or items left out, by reason, as JSON.",
    "missing": "Share of planned comparisons without a valid value.",
    "worst_low": "The least value that the missing comparisons could have made of it.",
    "worst_high": "The greatest.",
    "caveats": "What a reader should know, in words, as a JSON list.",
    "undefined": "Why there is no estimate; null where there is one.",
    "details": "Further numbers, as JSON.",
    "seed": "Seed of a resampling interval.",
    "confirmatory": "True where frozen beforehand: for a piloted gate, a rule, or beside one.",
}


def estimates_frame(estimates: Iterable[Estimate]) -> pd.DataFrame:
    """Return one row an estimate, with the columns of `COLUMNS`; nested values are JSON text."""
    rows = [_row(estimate) for estimate in estimates]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in ("value", "low", "high", "level", "missing", "worst_low", "worst_high"):
        frame[name] = frame[name].astype(float)
    frame["seed"] = frame["seed"].astype("Int64")
    frame["confirmatory"] = frame["confirmatory"].astype(bool)
    return frame


def _row(estimate: Estimate) -> dict[str, Any]:
    exact, worst = estimate.exact, estimate.worst or (None, None)
    return {
        **{name: getattr(estimate, name) for name in COLUMNS if hasattr(estimate, name)},
        "exact": None if exact is None else f"{exact.numerator}/{exact.denominator}",
        "n": _json(estimate.n),
        "params": _json(estimate.params),
        "excluded": _json(estimate.excluded),
        "details": _json(estimate.details),
        "caveats": _json(list(estimate.caveats)),
        "worst_low": worst[0],
        "worst_high": worst[1],
    }


def _json(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return JSON values: numpy's numbers as Python's, nan as null, what is unknown as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return None
    return plain if isinstance(plain, str | int | float | bool | None) else str(plain)
