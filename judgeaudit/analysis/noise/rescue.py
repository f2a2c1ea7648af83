"""Sampling cannot rescue a degenerate measurand (FIELD, section 3): a seeded demonstration.

Each point is read from M binary draws as (m + 1/2)/(M + 1) (Jeffreys), twice; in each simulated
repeat the statistic is the median over groups of Spearman between the two, held against
`params.threshold` (.90). Where the points of a group have the same p, more draws do not make an
order exist: CE's pass rate was 0 of 500 for every M.

The p are the judge's own r of each point, averaged over its readings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import symmetrised
from judgeaudit.analysis.build import Context, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import layout
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import DESIGNS, WHOLE, Statistic, number, numbers, whole, words
from judgeaudit.stats.proportions import clopper_pearson, jeffreys_se

Floats = NDArray[np.float64]
DRAWS = (8, 16, 32, 64, 100, 200, 500)
REPEATS = 500
THRESHOLD = 0.90
DIGITS = 12


def sampling_rescue(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return for each M the share of simulated repeats whose median rank agreement passes."""
    groups = point_means(part)
    said = context("sampling_rescue", part, question)
    if not groups:
        return [said.none("no group has two points with a reading")]
    draws = [int(m) for m in question.params.get("draws", DRAWS)]
    repeats = question.whole("repeats", REPEATS)
    threshold = question.number("threshold", THRESHOLD)
    rng = question.rng()
    n = {**said.n, "groups": len(groups), "repeats": repeats}
    return [_for(said, m, groups, repeats, threshold, rng, n) for m in draws]


def point_means(part: pd.DataFrame) -> list[Floats]:
    """Return each group's points, r averaged over readings; groups with two points or more."""
    grid = layout(symmetrised(part))
    values = grid.numbers()
    seen = ~np.isnan(values)
    counts = seen.sum(axis=1)
    means = np.where(seen, values, 0.0).sum(axis=1) / np.maximum(counts, 1)
    indices = grid.rows.groupby(["stage", "group", "arm"], sort=False).indices
    return [
        means[rows[counts[rows] > 0]] for rows in indices.values() if (counts[rows] > 0).sum() >= 2
    ]


def _for(
    said: Context,
    m: int,
    groups: Sequence[Floats],
    repeats: int,
    threshold: float,
    rng: np.random.Generator,
    n: dict[str, int],
) -> Estimate:
    passed = simulated_medians(groups, m, repeats, rng) >= threshold
    hits = int(passed.sum())
    details = {"draws": m, "threshold": threshold, "se_at_half": jeffreys_se(m)}
    return said.bounded(
        hits / repeats,
        clopper_pearson(hits, repeats, said.question.level),
        scope=f"draws={m}",
        n={**n, "passed": hits},
        details=details,
        seed=said.question.seed,
        target="these probes",
    )


def simulated_medians(
    groups: Sequence[Floats], m: int, repeats: int, rng: np.random.Generator
) -> Floats:
    """Return for each simulated repeat the median over groups of Spearman between two readings.

    Groups that are constant in a reading are left out of that repeat; a repeat without any group
    is nan and passes nothing.
    """
    found = np.full((repeats, len(groups)), np.nan)
    for g, p in enumerate(groups):
        first, second = (rng.binomial(m, np.clip(p, 0, 1), (repeats, p.size)) for _ in range(2))
        found[:, g] = _spearman(first, second)
    medians = np.full(repeats, np.nan)
    some = ~np.isnan(found).all(axis=1)
    medians[some] = np.nanmedian(found[some], axis=1)
    return np.round(medians, DIGITS)


def _spearman(first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Mid-rank Spearman of each row; nan where a side is constant."""
    a, b = _centred(first), _centred(second)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    dot = (a * b).sum(axis=1)
    return np.where(scale > 0, dot / np.where(scale > 0, scale, 1.0), np.nan)


def _centred(values: NDArray[np.int64]) -> Floats:
    # Sum of signs against all others is twice the centred mid-rank; few points a group.
    return np.asarray(np.sign(values[:, :, None] - values[:, None, :]).sum(axis=2), dtype=float)


SAMPLING_RESCUE = Statistic(
    name="sampling_rescue",
    compute=sampling_rescue,
    reads=("number",),
    kind="plain",
    bounds=(0.0, 1.0),
    least_units=1,
    claims=words("score probability"),
    over=WHOLE,
    needs=words("groups"),
    better="high",
    label="simulated repeats that pass with m draws a point",
    unit="share",
    subject="precision",
    params=(
        numbers("draws", "binary draws a point", 1),
        whole("repeats", "simulated repeats", 1),
        number("threshold", "least median rank agreement", -1, 1),
    ),
    why_no_gate=DESIGNS,
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
)
