"""What follows from a table's estimates for somebody who uses the judge: facts beside them.

* From the noise: how far two readings differ by chance, which gap of two systems can be told, what
  rounding leaves, and how many readings a wanted gap of two items takes.
* From verdicts: the share of runs unlike their item's majority in these runs. Bounds of that chance
  for very many runs follow from the flip rate (`stats.majority`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.repeatability import numbers
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exact import exact_mean
from judgeaudit.analysis.grid import layout
from judgeaudit.stats.agreement import category_counts
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import (
    detectable_change,
    quantisation_floor,
    repeats_for_gap,
)

Floats = NDArray[np.float64]
MOST_LEVELS = 200
"""Up to this many different scores a step of the scale is looked for."""


def facts_of(
    part: pd.DataFrame, kind: str, found: Iterable[Estimate], gap: float | None
) -> dict[str, Any]:
    """Return the facts of one part of a table of scores, probabilities or verdicts."""
    heads = {e.analysis: e for e in reversed(list(found))}
    if kind == "verdict":
        return _majorities(part)
    if kind not in ("score", "probability"):
        return {}
    facts = _noise(numbers(part).numbers(), heads.get("noise"), gap)
    for name in ("advantage_sign_flip", "shrinkage_weight"):
        if name in heads and heads[name].value is not None:
            facts[name] = heads[name].value
    return facts


def _noise(scores: Floats, noise: Estimate | None, gap: float | None) -> dict[str, Any]:
    step = scale_step(scores)
    facts: dict[str, Any] = {"step": step}
    if noise is None or noise.value is None:
        return facts
    sd = noise.value
    repeats = max(1, int(np.median((~np.isnan(scores)).sum(axis=1))))
    facts |= {
        "repeatability": detectable_change(sd),
        "repeatability_of_mean": detectable_change(sd, repeats),
        "repeats_had": repeats,
        "quantisation_floor": quantisation_floor(sd, step) if step else 0.0,
    }
    if gap is not None:
        needed = repeats_for_gap(sd, gap)
        facts["gap"] = gap
        facts["repeats_for_gap"] = None if isinstance(needed, Undefined) else needed
        facts["gap_unresolvable"] = needed.reason if isinstance(needed, Undefined) else ""
    return facts


def scale_step(scores: Floats) -> float | None:
    """Return the smallest distance between two different scores; None where there are many."""
    levels = np.unique(scores[~np.isnan(scores)])
    if not 2 <= levels.size <= MOST_LEVELS:
        return None
    return float(np.round(np.diff(levels).min(), 12))


def _majorities(part: pd.DataFrame) -> dict[str, Any]:
    """Return the flip rate by majority, exact, and ties among majorities."""
    grid = layout(part)
    codes, levels = grid.codes(part["category"])
    counts = category_counts(codes, max(len(levels), 1)).astype(np.int64)
    k = counts.sum(axis=1)
    most = counts.max(axis=1, initial=0)
    unlike = exact_mean(np.where(k >= 2, k - most, 0), np.where(k >= 2, k, 0))
    ties = int((((counts == most[:, None]) & (counts > 0)).sum(axis=1)[k >= 2] > 1).sum())
    facts: dict[str, Any] = {
        "unlike_majority": float(unlike) if isinstance(unlike, Fraction) else None,
        "tied_majorities": ties,
    }
    return facts
