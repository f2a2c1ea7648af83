"""Constructed errors of known size: what the judge can tell apart (A-S3 of CE).

A judgment is one slip of one variant in one reading: 1 if the correct candidate strictly outranks
it; chance is 1/2. By bins of relative error, and by type of slip within bins:

* CE's Wilson interval of a bin takes each judgment for independent. It is reproduced in the details
  (`wilson`), beside ours, whose cluster is the task: readings of one slip, slips of one variant and
  variants of one task are no new evidence.
* A bin is *resolved* if its lower bound is above chance. The reading over the bins from the
  smallest registered size up has four frozen names, CE's `limit_below_smallest_bin_tested` (all are
  resolved), and ours `none_resolved`, `limit_bracketed` (unresolved below, resolved above),
  `not_monotone`.
* The within-type contrast governs: pooled bins confound size with type. `detection_limit` is, for
  a type, the smallest size from which on every lower bound reaches `params.detect` (.95).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.statistic import WHOLE, Statistic, number, numbers, words
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.proportions import wilson

Floats = NDArray[np.float64]
EDGES = (1e-3, 1e-2, 1e-1, 1.0)
SMALLEST = 1e-3
CHANCE = 0.5
DETECT = 0.95
CELL = 20
"""Fewest independent slips in a cell of the within-type contrast."""

NEEDED = ("correct", "relative_error", "type")


@dataclass(frozen=True, slots=True)
class Bin:
    """A stretch of relative errors: low <= error < high."""

    low: float
    high: float

    @property
    def name(self) -> str:
        """Return the bin as CE writes it."""
        if self.low == 0:
            return f"<{self.high:g}"
        return f">={self.low:g}" if np.isinf(self.high) else f"[{self.low:g},{self.high:g})"


def bins(question: Question) -> list[Bin]:
    """Return the registered bins (`params.edges`), CE's without."""
    edges = [float(edge) for edge in question.params.get("edges", EDGES)]
    if edges != sorted(set(edges)) or not edges or edges[0] <= 0:
        raise InputError("params", "edges", f"{edges}", "give rising sizes above 0")
    return [Bin(a, b) for a, b in zip([0.0, *edges], [*edges, np.inf], strict=True)]


def judgments(part: pd.DataFrame, question: Question) -> pd.DataFrame | str:
    """Return one row a slip and reading (item, task, candidate, type, error, won), or why none.

    Raises `InputError` where items have no constructed candidates.
    """
    candidates = question.candidates
    if candidates is None or any(name not in candidates for name in NEEDED):
        return f"needs candidates with {', '.join(NEEDED)}"
    valid = part[part["status"].eq("ok") & part["ranking"].notna()]
    if not len(valid):
        return "no valid ranking"
    places = valid[["item", "task", "window", "repeat", "ranking"]].explode("ranking")
    places["place"] = places.groupby(level=0).cumcount()
    places = places.rename(columns={"ranking": "candidate"}).reset_index(names="reading")
    known = places.merge(candidates, on=["item", "candidate"], how="inner")
    right = known[known["correct"].eq(True)].set_index("reading")["place"]
    slips = known[known["correct"].eq(False)].copy()
    slips["won"] = slips["place"] > slips["reading"].map(right)
    slips["error"] = slips["relative_error"].astype(float)
    return slips.reset_index(drop=True)


def separation(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of judgments won, over all, by bin, and by type within bins.

    Details of the first: the reading's name, which bins are resolved, replay disagreement.
    """
    found = judgments(part, question)
    said = context("separation", part, question)
    if isinstance(found, str):
        return [said.none(found)]
    stretches = bins(question)
    pooled = [_cell(said, _inside(found, b), f"bin={b.name}") for b in stretches]
    reading, resolved = name_reading(stretches, pooled, question.number("smallest", SMALLEST))
    whole = _cell(said, found, "all").with_details(
        reading=reading,
        resolved=resolved,
        replay_disagreement=_replays(found),
        governs="the within-type contrast; pooled bins confound size with type",
    )
    typed = [
        _cell(said, _inside(rows, b), f"type={kind}, bin={b.name}")
        for kind, rows in found.groupby("type", sort=True)
        for b in stretches
        if len(_inside(rows, b))
    ]
    return [whole, *(cell for cell in pooled if cell.n.get("judgments")), *typed]


def _inside(found: pd.DataFrame, stretch: Bin) -> pd.DataFrame:
    return found[(found["error"] >= stretch.low) & (found["error"] < stretch.high)]


def _cell(said: Context, rows: pd.DataFrame, scope: str) -> Estimate:
    """Return one cell: its share with a task-clustered interval, CE's Wilson in the details."""
    wins, total = int(rows["won"].sum()), len(rows)
    slips = rows.groupby(["item", "candidate"])["won"].agg(["mean", "size"])
    tasks = rows.groupby(["item", "candidate"])["task"].first()
    n = {
        **said.n,
        "judgments": total,
        "won": wins,
        "slips": len(slips),
        "tasks": int(rows["task"].nunique()),
    }
    if not total:
        return said.none("no judgment in this cell", scope=scope, n=n)
    share = effective_proportion(
        slips["mean"].to_numpy(float), slips["size"].to_numpy(float), pd.factorize(tasks)[0]
    )
    published = wilson(wins, total, said.question.level)
    details = {"wilson": [published.low, published.high], "chance": CHANCE}
    thin = len(slips) < CELL
    caveats = (f"{len(slips)} slips: fewer than {CELL} bear no contrast",) if thin else ()
    return said.of(share, scope=scope, n=n, details=details, cluster="task", caveats=caveats)


def name_reading(
    stretches: Sequence[Bin], cells: Sequence[Estimate], smallest: float
) -> tuple[str, dict[str, bool]]:
    """Return the frozen name of the pattern over bins from `smallest` up, and each bin's state."""
    states = {
        stretch.name: cell.low is not None and cell.low > CHANCE
        for stretch, cell in zip(stretches, cells, strict=True)
        if stretch.low >= smallest and cell.value is not None
    }
    pattern = list(states.values())
    if not pattern or not any(pattern):
        return ("none_resolved" if pattern else "no_bin_tested"), states
    if all(pattern):
        return "limit_below_smallest_bin_tested", states
    first = pattern.index(True)
    return ("limit_bracketed" if all(pattern[first:]) else "not_monotone"), states


def _replays(found: pd.DataFrame) -> str:
    """Return how many slips were judged both ways over their readings, of those read twice."""
    by_slip = found.groupby(["item", "candidate"])["won"].agg(["size", "nunique"])
    twice = by_slip[by_slip["size"] > 1]
    return f"{int((twice['nunique'] > 1).sum())}/{len(twice)}"


def detection_limit(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return for each type the smallest size from which on the lower bound reaches .95.

    A bin with fewer than 20 slips is not tested and breaks no run; the limit is the lower edge of
    the smallest bin of that run.
    """
    found = judgments(part, question)
    said = context("detection_limit", part, question)
    if isinstance(found, str):
        return [said.none(found)]
    wanted = question.number("detect", DETECT)
    return [
        _limit(said, str(kind), rows, question, wanted)
        for kind, rows in found.groupby("type", sort=True)
    ]


def _limit(
    said: Context, kind: str, rows: pd.DataFrame, question: Question, wanted: float
) -> Estimate:
    reached: list[tuple[float, bool]] = []
    cells: dict[str, Any] = {}
    for stretch in bins(question):
        cell = _cell(said, _inside(rows, stretch), stretch.name)
        if cell.value is None or cell.n["slips"] < CELL:
            continue
        cells[stretch.name] = [cell.value, cell.low, cell.high, cell.n["slips"]]
        reached.append((stretch.low, cell.low is not None and cell.low >= wanted))
    scope, details = f"type={kind}", {"cells": cells, "detect": wanted}
    if not reached:
        return said.none(f"no bin has {CELL} slips of this type", scope=scope, details=details)
    run = [low for low, _ in reached]
    for position in range(len(reached) - 1, -1, -1):
        if not reached[position][1]:
            run = run[position + 1 :]
            break
    if not run:
        why = f"the lower bound reaches {wanted:g} at no tested size"
        return said.none(why, scope=scope, details=details)
    caveat = "the limit is the lower edge of a bin: no interval"
    return said.plain(run[0], caveat, scope=scope, details=details, cluster="task")


def published_interval(won: int, judged: int, level: float = 0.95) -> Interval | Undefined:
    """Return CE's interval of a bin, Wilson's on all judgments as if they were independent."""
    return Undefined("no judgment") if not judged else wilson(won, judged, level)


_constructed = partial(
    Statistic,
    reads=("ranking",),
    kind="plain",
    claims=words("ranking top1 pairwise"),
    over=WHOLE,
    needs=words("candidates"),
    subject="truth",
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
    why_no_gate="",
)

_EDGES = numbers("edges", "edges of the bins of relative error, rising", 0)

STATISTICS = (
    _constructed(
        name="separation",
        least_units=2,
        compute=separation,
        bounds=(0.0, 1.0),
        better="high",
        label="slips ranked below the right candidate",
        unit="share",
        params=(_EDGES, number("smallest", "smallest size that the reading speaks of", 0)),
    ),
    _constructed(
        name="detection_limit",
        least_units=0,
        compute=detection_limit,
        bounds=(0.0, math.inf),
        better="low",
        label="smallest slip that is told apart",
        unit="relative error",
        params=(_EDGES, number("detect", "lower bound that a size must reach", 0, 1)),
    ),
)
