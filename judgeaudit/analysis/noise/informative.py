"""Gaps between candidates against the noise of repeats: which pairs a judge can order at all.

* A gap is the difference of two candidates of one group in one reading. `delta`, the resolution
  bound, is the 95th percentile of how much gaps change between two readings of the same requests:
  raw, by thirds of the level (noise of a probability is smaller near 0 and 1) and in logits.
* Gap distribution: range within a group, smallest gap of neighbours, exact ties.
* `informative_concordance` ranks informative pairs alone. A pair counts, for two readings, if its
  mean gap over the *other* readings is at least the frozen `params.delta`: selected on one part of
  the repeats, judged on the rest. Choosing pairs by the readings that are then judged would make
  any judge look better. It needs three readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import logit, symmetrised
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.statistic import PAIRS, Answer, Statistic, choice, number, words
from judgeaudit.stats.agreement import effective_proportion

Floats = NDArray[np.float64]
SCALES = ("raw", "logit")
RESOLUTION = 0.95
QUANTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75, "p90": 0.9, "p95": 0.95, "max": 1.0}


@dataclass(frozen=True, slots=True)
class Read:
    """One group's readings, points x readings, nan where there is none; its task."""

    group: str
    task: str
    values: Floats


def groups_read(part: pd.DataFrame, scale: str = "raw") -> tuple[list[Read], pd.DataFrame]:
    """Return every group of two or more points, and the columns that its readings stand in."""
    if scale not in SCALES:
        raise InputError("params", "scale", f"{scale!r}", f"one of {', '.join(SCALES)}")
    cells = layout(symmetrised(part))
    numbers = cells.numbers()
    values = logit(numbers) if scale == "logit" else numbers
    found = []
    for key, rows in cells.rows.groupby(["stage", "group", "arm"], sort=False).indices.items():
        if len(rows) > 1:
            task = str(cells.rows["task"].iloc[rows[0]])
            found.append(Read(str(tuple(key)[1]), task, values[rows]))  # type: ignore[arg-type]
    return found, cells.columns


def gap_table(values: Floats) -> Floats:
    """Return the gaps of all pairs of points, pairs x readings."""
    left, right = np.triu_indices(values.shape[0], 1)
    return np.asarray(values[left] - values[right])


def spread(values: Floats) -> dict[str, float]:
    """Return quartiles, p90, p95 and the greatest; empty for no value."""
    seen = values[~np.isnan(values)]
    return (
        {name: float(np.quantile(seen, share)) for name, share in QUANTILES.items()}
        if seen.size
        else {}
    )


def gap_report(part: pd.DataFrame, question: Question) -> dict[str, Any]:
    """Return the noise floor and the gaps of one endpoint's numbers, as plain values.

    Keys: `repeat_deltas` (quantiles of |x - x'|), `range`, `smallest_gap`, `gap` (quantiles),
    `groups`, `groups_with_ties`, `delta`, `delta_logit`, `delta_by_level`, `pairs`,
    `share_below_delta` (of the mean gaps). Empty where no point was read twice.
    """
    found, columns = groups_read(part)
    pairs = column_pairs(columns, question.over)
    if not found or not pairs:
        return {}
    every = np.concatenate([read.values for read in found])
    changes, levels = _changes(found, pairs)
    if not changes.size:
        return {}
    in_logits, _ = groups_read(part, "logit") if _is_probability(every) else ([], None)
    delta = float(np.quantile(changes, RESOLUTION))
    sizes = np.abs(np.concatenate([_mean_gaps(read.values) for read in found]))
    sizes = sizes[~np.isnan(sizes)]
    return {
        "repeat_deltas": spread(_deltas(every, pairs)),
        "range": spread(np.array([_range(read.values) for read in found])),
        "smallest_gap": spread(np.array([_smallest(read.values) for read in found])),
        "gap": spread(sizes),
        "groups": len(found),
        "groups_with_ties": sum(_smallest(read.values) == 0 for read in found),
        "delta": delta,
        "delta_logit": _quantile(_changes(in_logits, pairs)[0]) if in_logits else None,
        "delta_by_level": _by_level(changes, levels),
        "pairs": int(sizes.size),
        "share_below_delta": float((sizes < delta).mean()) if sizes.size else None,
    }


def _is_probability(values: Floats) -> bool:
    seen = values[~np.isnan(values)]
    return bool(seen.size) and bool((seen >= 0).all() and (seen <= 1).all())


def _deltas(values: Floats, pairs: list[tuple[int, int]]) -> Floats:
    return np.concatenate([np.abs(values[:, a] - values[:, b]) for a, b in pairs])


def _changes(found: list[Read], pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    """Return |change of gap| of each pair of points and readings, and the mean level it is at."""
    changes, levels = [], []
    for read in found:
        gaps, left_right = gap_table(read.values), np.triu_indices(read.values.shape[0], 1)
        means = read.values[left_right[0]] + read.values[left_right[1]]
        for a, b in pairs:
            changes.append(np.abs(gaps[:, a] - gaps[:, b]))
            levels.append((means[:, a] + means[:, b]) / 4)
    if not changes:
        return np.zeros(0), np.zeros(0)
    change, level = np.concatenate(changes), np.concatenate(levels)
    kept = ~np.isnan(change)
    return change[kept], level[kept]


def _quantile(values: Floats) -> float | None:
    return float(np.quantile(values, RESOLUTION)) if values.size else None


def _by_level(changes: Floats, levels: Floats) -> list[dict[str, float]]:
    """Return delta within each third of the level."""
    edges = np.quantile(levels, [0, 1 / 3, 2 / 3, 1])
    found = []
    for low, high in pairwise(edges):
        inside = (levels >= low) & (levels <= high)
        if inside.any():
            delta = float(np.quantile(changes[inside], RESOLUTION))
            found.append({"from": float(low), "to": float(high), "delta": delta})
    return found


def _mean_gaps(values: Floats) -> Floats:
    gaps = gap_table(values)
    seen = ~np.isnan(gaps)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(seen, gaps, 0.0).sum(axis=1) / seen.sum(axis=1))


def _first_complete(values: Floats) -> Floats | None:
    whole = ~np.isnan(values).any(axis=0)
    return np.asarray(values[:, int(np.argmax(whole))]) if whole.any() else None


def _range(values: Floats) -> float:
    first = _first_complete(values)
    return float("nan") if first is None else float(np.ptp(first))


def _smallest(values: Floats) -> float:
    """Return the smallest gap of neighbours in the first complete reading, nan without one."""
    first = _first_complete(values)
    return float("nan") if first is None else float(np.diff(np.sort(first)).min())


def informative_concordance(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean concordance of pairs that the other readings separate by `params.delta`.

    `params.scale` is "raw" or "logit". The share of pairs below delta stands in the details; groups
    without an informative pair are counted.
    """
    delta, scale = question.number("delta", 0.0), str(question.params.get("scale", "raw"))
    found, columns = groups_read(part, scale)
    pairs = column_pairs(columns, question.over)
    said = context("informative_concordance", part, question, delta=delta, scale=scale)
    if "delta" not in question.params:
        return [said.none("needs params.delta, the resolution bound of the pilot")]
    if not found or not pairs:
        return [said.none("no group has two readings over these pairs")]
    if len(columns) < 3:
        return [said.none("needs a third reading, by which the pairs are selected")]
    judged = [_judged(read.values, pairs, delta) for read in found]
    hits, counts, of = (np.array(column, dtype=float) for column in zip(*judged, strict=True))
    n = {**said.n, "groups": len(found), "pairs": int(counts.sum())}
    details = {**said.details, "share_below_delta": float(1 - counts.sum() / max(1.0, of.sum()))}
    without = int((counts == 0).sum())
    excluded = {**said.excluded, **({"group_without_informative_pair": without} if without else {})}
    if not counts.any():
        return [said.none("no pair is informative", n=n, details=details, excluded=excluded)]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(counts > 0, hits / counts, np.nan)
    tasks = pd.factorize(pd.Series([read.task for read in found]))[0]
    share = effective_proportion(shares, counts, tasks)
    return [said.of(share, n=n, details=details, excluded=excluded, cluster="task")]


def _judged(
    values: Floats, pairs: list[tuple[int, int]], delta: float
) -> tuple[float, float, float]:
    """Return concordant comparisons (ties half), informative ones, and all that were possible."""
    gaps = gap_table(values)
    hits = count = of = 0.0
    for a, b, chosen in _selections(gaps, pairs):
        both = ~np.isnan(gaps[:, a]) & ~np.isnan(gaps[:, b]) & ~np.isnan(chosen)
        informative = both & (np.round(np.abs(chosen), 12) >= delta)
        sign = np.sign(gaps[informative, a]) * np.sign(gaps[informative, b])
        hits += float(((sign + 1) / 2).sum())
        count += float(informative.sum())
        of += float(both.sum())
    return hits, count, of


def _selections(gaps: Floats, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int, Floats]]:
    """Yield each pair of readings with the mean gaps over all the others."""
    seen = ~np.isnan(gaps)
    total, count = np.where(seen, gaps, 0.0).sum(axis=1), seen.sum(axis=1)
    for a, b in pairs:
        own = np.where(seen[:, [a, b]], gaps[:, [a, b]], 0.0).sum(axis=1)
        others = count - seen[:, [a, b]].sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield a, b, np.where(others > 0, (total - own) / others, np.nan)


INFORMATIVE_CONCORDANCE = Statistic(
    name="informative_concordance",
    compute=informative_concordance,
    reads=("number",),
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    claims=words("ranking pairwise probability score"),
    over=PAIRS,
    needs=words("repeats groups"),
    better="high",
    label="informative pairs of a group in the same order",
    unit="share",
    covered=None,
    answers=(Answer("ranking", "right", "pairwise"),),
    subject="precision",
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    params=(
        number("delta", "least mean gap of an informative pair over the other readings", 0),
        choice("scale", "scale of the gaps", *SCALES),
    ),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)
