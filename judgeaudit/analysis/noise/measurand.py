"""Whether there is something to rank: gaps, ranges, ties and mixed correctness as estimates.

* `gap_delta`: the resolution bound, the 95th percentile (`params.quantile`) of how far the gap of
  two candidates of a group moves between two readings; `params.scale` is "raw" or "logit". The
  noise that matters to an order is that of gaps, not that of each candidate.
* `gap_adjacent`: median over groups of the smallest gap of neighbours, with the tied groups.
* `group_range`: median over groups of the range of the candidates' readings.
* `mixed_correctness`: share of groups with right and wrong candidates; without them no judge can
  show that it tells right from wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import logit, quantile, share_of_rows, symmetrised
from judgeaudit.analysis.build import Context, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.resample import MIN_CLUSTERS
from judgeaudit.errors import InputError
from judgeaudit.statistic import PAIRS, WHOLE, Statistic, choice, number, words

Floats = NDArray[np.float64]
RESOLUTION = 0.95
SCALES = ("raw", "logit")


@dataclass(frozen=True, slots=True)
class Group:
    """One group's numbers, points x readings, nan where there is none; its task."""

    task: str
    values: Floats

    def gaps(self) -> Floats:
        """Return the gaps of all pairs of points, pairs x readings."""
        left, right = np.triu_indices(self.values.shape[0], 1)
        return np.asarray(self.values[left] - self.values[right])


def groups_of(part: pd.DataFrame, scale: str) -> tuple[list[Group], pd.DataFrame]:
    """Return every group of two or more points, and the columns that its readings stand in."""
    if scale not in SCALES:
        raise InputError("params", "scale", f"{scale!r}", f"one of {', '.join(SCALES)}")
    grid = layout(symmetrised(part))
    values = logit(grid.numbers()) if scale == "logit" else grid.numbers()
    indices = grid.rows.groupby(["stage", "group", "arm"], sort=False).indices
    found = [
        Group(str(grid.rows["task"].iloc[rows[0]]), values[rows])
        for rows in indices.values()
        if len(rows) > 1
    ]
    return found, grid.columns


def gap_delta(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the resolution bound: a quantile of how far gaps move between two readings."""
    scale = str(question.params.get("scale", "raw"))
    share = question.number("quantile", RESOLUTION)
    found, columns = groups_of(part, scale)
    said = context("gap_delta", part, question, scale=scale, quantile=share)
    pairs = column_pairs(columns, question.over)
    if not pairs or not found:
        return [said.none("no group has two points that were read twice")]
    changes, tasks, planned = [], [], 0
    for read in found:
        gaps = read.gaps()
        moved = np.concatenate([np.abs(gaps[:, a] - gaps[:, b]) for a, b in pairs])
        seen = moved[~np.isnan(moved)]
        planned += moved.size
        changes.append(seen)
        tasks += [read.task] * seen.size
    every = np.concatenate(changes)
    n = {**said.n, "groups": len(found), "gaps": int(every.size)}
    bounds = (0.0, float(every.max(initial=0.0)))
    return [quantile(every, _rows(tasks), share, said, bounds, planned, n=n)]


def _rows(tasks: list[str]) -> pd.DataFrame:
    # Gaps of one group share their points, so that the task is the smallest honest cluster.
    return pd.DataFrame({"item": tasks, "task": tasks})


def gap_adjacent(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median over groups of the smallest gap of neighbours; ties in the details."""
    found = _first_readings(part)
    said = context("gap_adjacent", part, question)
    if not found:
        return [said.none("no group has two points with a reading")]
    smallest = np.array([np.diff(np.sort(values)).min() for _, values in found])
    details = {
        "q25": float(np.quantile(smallest, 0.25)),
        "q75": float(np.quantile(smallest, 0.75)),
        "tied_groups": int((smallest == 0).sum()),
    }
    return [_over_groups(smallest, found, said, details)]


def group_range(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median over groups of the range of the candidates' first complete reading."""
    found = _first_readings(part)
    said = context("group_range", part, question)
    if not found:
        return [said.none("no group has two points with a reading")]
    return [_over_groups(np.array([np.ptp(values) for _, values in found]), found, said, {})]


def _first_readings(part: pd.DataFrame) -> list[tuple[Group, Floats]]:
    found = []
    for read in groups_of(part, "raw")[0]:
        whole = np.flatnonzero(~np.isnan(read.values).any(axis=0))
        if whole.size:
            found.append((read, read.values[:, whole[0]]))
    return found


def _over_groups(
    values: Floats, found: list[tuple[Group, Floats]], said: Context, details: Mapping[str, object]
) -> Estimate:
    rows = _rows([read.task for read, _ in found])
    n = {**said.n, "groups": len(found)}
    bounds = (0.0, float(max(np.ptp(reading) for _, reading in found)))
    return quantile(values, rows, 0.5, said, bounds, values.size, n=n, details=details)


def mixed_correctness(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of groups with right and wrong candidates; the share of right beside."""
    known = part[part["correct"].notna()].drop_duplicates("item")
    said = context("mixed_correctness", part, question)
    if not len(known):
        return [said.none("no item has constructed truth")]
    truth = known["correct"].astype(bool)
    by_group = truth.groupby(known["group"]).agg(["any", "all"])
    rows = known.drop_duplicates("group").set_index("group").loc[by_group.index].reset_index()
    mixed = pd.Series((by_group["any"] & ~by_group["all"]).to_numpy(), index=rows.index)
    details = {"share_correct": float(truth.mean())}
    named = Context(said.analysis, question, said.n, said.excluded, details)
    return [share_of_rows(mixed, rows, named, question, "groups", len(rows))]


_measurand = partial(
    Statistic,
    claims=words("score probability"),
    covered=None,
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)

STATISTICS = (
    _measurand(
        name="gap_delta",
        compute=gap_delta,
        kind="plain",
        reads=("number",),
        bounds=(0.0, math.inf),
        least_units=MIN_CLUSTERS,
        over=PAIRS,
        needs=words("repeats groups"),
        better="low",
        label="how far gaps move between two readings",
        unit="scale units",
        answers=(),
        subject="precision",
        params=(
            choice("scale", "scale of the gaps", *SCALES),
            number("quantile", "which quantile of the movements", 0, 1),
        ),
    ),
    _measurand(
        name="gap_adjacent",
        compute=gap_adjacent,
        kind="plain",
        reads=("number",),
        bounds=(0.0, math.inf),
        least_units=MIN_CLUSTERS,
        over=WHOLE,
        needs=words("groups"),
        better="high",
        label="smallest gap of neighbours in a group, median",
        unit="scale units",
        answers=(),
        subject="precision",
        params=(),
    ),
    _measurand(
        name="group_range",
        compute=group_range,
        kind="plain",
        reads=("number",),
        bounds=(0.0, math.inf),
        least_units=MIN_CLUSTERS,
        over=WHOLE,
        needs=words("groups"),
        better="high",
        label="range of a group's readings, median",
        unit="scale units",
        answers=(),
        subject="precision",
        params=(),
    ),
    _measurand(
        name="mixed_correctness",
        compute=mixed_correctness,
        kind="share",
        reads=(),
        bounds=(0.0, 1.0),
        least_units=2,
        over=WHOLE,
        needs=words("groups truth"),
        better="high",
        label="groups with right and wrong candidates",
        unit="share",
        answers=(),
        subject="truth",
        params=(),
    ),
)
