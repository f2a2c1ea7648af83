"""What the noise does to the consumer: decisions that come out otherwise on another reading.

* `pass_fail_flip`: an item passes or fails otherwise; the mark is `params.mark`, without it the
  worst of all marks that the scores tell apart.
* `best_of_n_change`: another item of the group is picked.
* `advantage_sign_flip`: the sign of a group-centred advantage changes, arccos(rho)/pi.
* `shrinkage_weight`: rho itself, the reliability within groups, by which a noisy advantage is
  shrunk (AdaStep).
* `leaderboard_top_change`: another system leads; systems by `params.system`, a column or an item's
  meta key, on the same tasks.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.repeatability import numbers
from judgeaudit.analysis.build import Context, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid
from judgeaudit.analysis.pairing import row_clusters
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import META
from judgeaudit.statistic import WHOLE, Answer, Statistic, column, number, words
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.decisions import advantage_sign_flip as sign_flip
from judgeaudit.stats.decisions import best_of_n, leaderboard
from judgeaudit.stats.icc import Icc, icc
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.pass_marks import at_mark, mark_curve
from judgeaudit.stats.scaled import MIN_ITEMS

Floats = NDArray[np.float64]


def pass_fail_flip(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the chance that an item passes or fails otherwise on another reading."""
    grid = numbers(part)
    scores = grid.numbers()
    said = context("pass_fail_flip", part, question, **scale_use(scores.ravel()))
    tasks = row_clusters(grid, question)
    twice = (~np.isnan(scores)).sum(axis=1) >= 2
    n = {**said.n, "items": int(grid.rows["item"][twice].nunique())}
    if "mark" in question.params:
        given = at_mark(scores, question.number("mark", 0.0), tasks)
        if isinstance(given, Undefined):
            return [said.none(given.reason)]
        details = {**said.details, "mark": given.mark, "mark_is": "given"}
        return [said.of(given.flips, n=n, details=details)]
    found = mark_curve(scores, tasks, question.level)
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    details = {
        **said.details,
        "mark": found.worst.mark,
        "mark_is": f"worst of {len(found.marks)}",
        "curve": [[m.mark, m.flips, m.passing] for m in found.marks],
    }
    return [said.bounded(found.worst.flips.value, found.worst_interval, n=n, details=details)]


def _groups(grid: Grid) -> tuple[NDArray[np.int64], Floats]:
    """Return group codes and scores of the rows whose whole group has all its readings."""
    scores = grid.numbers()
    codes = grid.rows.groupby(["stage", "group", "arm"], sort=False).ngroup().to_numpy()
    lost = np.bincount(codes, weights=np.isnan(scores).any(axis=1))
    whole = (lost[codes] == 0) & (np.bincount(codes)[codes] > 1)
    return codes[whole].astype(np.int64), scores[whole]


def best_of_n_change(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the chance that another item of a group is picked; groups of the commonest size."""
    codes, scores = _groups(numbers(part))
    said = context("best_of_n_change", part, question)
    if not codes.size:
        return [said.none("no group has two items with all readings")]
    _, packed, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    common = int(np.bincount(sizes).argmax())
    rows = np.argsort(packed, kind="stable")
    rows = rows[sizes[packed[rows]] == common]
    found = best_of_n(scores[rows].reshape(-1, common, scores.shape[1]))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    pairs = scores.shape[1] * (scores.shape[1] - 1) / 2
    share = effective_proportion(found.by_prompt, np.full(found.by_prompt.size, pairs))
    details = {"candidates": common, "regret": [found.regret_low, found.regret_high]}
    n = {**said.n, "groups": found.by_prompt.size}
    return [said.of(share, n=n, details=details, cluster="group")]


def _within_groups(part: pd.DataFrame) -> Icc | Undefined:
    codes, scores = _groups(numbers(part))
    if not codes.size:
        return Undefined("no group has two items with all readings")
    _, packed = np.unique(codes, return_inverse=True)
    sizes = np.bincount(packed)
    means = np.stack([np.bincount(packed, weights=s) / sizes for s in scores.T], axis=1)
    return icc(scores - means[packed], "one-way")


def shrinkage_weight(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the reliability of one group-centred reading, s_t^2/(s_t^2 + s_w^2) within groups."""
    said = context("shrinkage_weight", part, question)
    found = _within_groups(part)
    return [said.none(found.reason) if isinstance(found, Undefined) else said.of(found.single)]


def advantage_sign_flip(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the chance that a group-relative advantage changes its sign between two readings.

    The interval maps the ends of the reliability's: a smaller reliability flips more.
    """
    said = context("advantage_sign_flip", part, question)
    found = _within_groups(part)
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    return [_mapped(said, found, question)]


def _mapped(said: Context, found: Icc, question: Question) -> Estimate:
    from dataclasses import replace

    def flip(rho: float) -> float:
        return sign_flip(min(max(rho, 0.0), 1.0))

    details = {"reliability": found.single.value}
    interval = found.single.interval(question.level)
    if not isinstance(interval, Undefined):
        interval = replace(
            interval,
            low=flip(interval.high),
            high=flip(interval.low),
            method=f"mapped {interval.method}",
        )
    return said.bounded(flip(found.single.value), interval, details=details)


def leaderboard_top_change(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the chance that another system leads in a second pass over the same tasks."""
    said = context("leaderboard_top_change", part, question)
    name = str(question.params.get("system", "system"))
    column = name if name in part else f"{META}{name}"
    if column not in part:
        return [said.none(f"no column {name!r} names the systems (params.system)")]
    grid = numbers(part)
    scores = grid.numbers()
    system = part.drop_duplicates("item").set_index("item")[column]
    systems = grid.rows["item"].map(system)
    cube = _cube(systems, grid.rows["task"], scores)
    if cube is None:
        return [said.none("the systems do not share tasks with all readings")]
    found = leaderboard(cube, rng=question.rng())
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    details = {"tau_between_passes": found.tau, "pair_flips": found.pair_flips.tolist()}
    n = {**said.n, "systems": cube.shape[0], "tasks": cube.shape[1]}
    return [
        said.plain(
            found.top_changes,
            "replicates are resampled on these items: no interval for items like these",
            details=details,
            n=n,
            target="these probes",
            seed=question.seed,
        )
    ]


def _cube(systems: pd.Series, tasks: pd.Series, scores: Floats) -> Floats | None:
    """Return scores as systems x tasks x readings, tasks that every system has whole."""
    frame = pd.DataFrame({"system": systems, "task": tasks, "row": np.arange(len(scores))})
    whole = np.flatnonzero(~np.isnan(scores).any(axis=1))
    frame = frame.iloc[whole].drop_duplicates(subset=["system", "task"])
    places = frame.pivot_table(index="system", columns="task", values="row").dropna(axis=1)
    if places.shape[0] < 2 or places.shape[1] < 2:
        return None
    return np.asarray(scores[places.to_numpy(dtype=np.int64)])


_decision = partial(
    Statistic,
    reads=("number",),
    over=WHOLE,
    subject="precision",
    covered=None,
    defaults=frozenset(),
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
    _decision(
        name="pass_fail_flip",
        compute=pass_fail_flip,
        told=words("score probability"),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        claims=words("score probability"),
        needs=words("repeats"),
        better="low",
        label="pass/fail changes on another reading",
        unit="share",
        answers=(Answer("pass_fail_filter", "flips", ""),),
        params=(number("mark", "the pass mark; without it the worst of all marks", -math.inf),),
    ),
    _decision(
        name="best_of_n_change",
        compute=best_of_n_change,
        told=words("score probability"),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        claims=words("score probability top1"),
        needs=words("repeats groups"),
        better="low",
        label="best of n picks another candidate",
        unit="share",
        answers=(Answer("best_of_n", "wrong", ""),),
        params=(),
    ),
    _decision(
        name="advantage_sign_flip",
        compute=advantage_sign_flip,
        told=words("score probability"),
        kind="plain",
        # arccos(rho) / pi at rho = 0; a reliability below 0 is read as 0.
        bounds=(0.0, 0.5),
        least_units=MIN_ITEMS,
        claims=words("score probability"),
        needs=words("repeats groups"),
        better="low",
        label="sign of a group-relative advantage changes",
        unit="share",
        answers=(Answer("reward_sign", "wrong", ""),),
        params=(),
    ),
    _decision(
        name="shrinkage_weight",
        compute=shrinkage_weight,
        told=words("score probability"),
        kind="plain",
        bounds=(-1.0, 1.0),
        least_units=MIN_ITEMS,
        claims=words("score probability"),
        needs=words("repeats groups"),
        better="high",
        label="reliability within groups, by which an advantage is shrunk",
        unit="coefficient",
        answers=(),
        params=(),
    ),
    _decision(
        name="leaderboard_top_change",
        compute=leaderboard_top_change,
        told=frozenset(),
        kind="plain",
        bounds=(0.0, 1.0),
        least_units=0,
        claims=words("score probability"),
        needs=words("repeats"),
        better="low",
        label="another system leads in a second pass",
        unit="share",
        answers=(),
        params=(column("system", "what names the systems"),),
    ),
)
