"""Rankings within groups: whether the candidates of a task come in the same order again.

`group_rank_spearman_median` is CE's: in each group (a task at one prefix) the mid-rank Spearman
between two readings of its points, and the median over groups. A group that is constant on either
side is undefined: it is left out, counted, and bounded both ways (all undefined groups at -1, all
at +1). The attainable values of untied rankings stand in the details, because with 4 candidates a
threshold of .90 asks for the same order.

`group_concordance` is the mean share of informative pairs of candidates in the same order: pairs
that a reading separates by `params.delta` or more. Offered to new studies instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis import exact
from judgeaudit.analysis.agreement.labels import symmetrised
from judgeaudit.analysis.build import Context, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.resample import MIN_CLUSTERS, cluster_interval
from judgeaudit.statistic import PAIRS, Answer, Statistic, number, words
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.groups import pairwise_concordance
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Twice:
    """One group read twice: its points' values at both times, nan where there is none."""

    group: str
    task: str
    first: Floats
    second: Floats

    @property
    def complete(self) -> bool:
        """True where every point has both values."""
        return not (np.isnan(self.first).any() or np.isnan(self.second).any())


def groups_twice(grid: Grid, question: Question) -> Iterator[Twice]:
    """Yield each group at each pair of columns at which all its points were planned twice."""
    values = grid.numbers()
    by_group = grid.rows.groupby(["stage", "group", "arm"], sort=False).indices
    pairs = column_pairs(grid.columns, question.over)
    for key, rows in by_group.items():
        group = str(tuple(key)[1])  # type: ignore[arg-type]  # a tuple of the three keys
        task = str(grid.rows["task"].iloc[rows[0]])
        for a, b in pairs:
            if len(rows) > 1 and (grid.planned[rows, a] & grid.planned[rows, b]).all():
                yield Twice(group, task, values[rows, a], values[rows, b])


def group_rank_spearman_median(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median over groups of Spearman between two readings; the share at the threshold.

    The second estimate, `group_rank_spearman_share`, is there where the question has a threshold:
    the share of defined groups at or above it, with an effective-n interval over tasks.
    """
    grid = layout(symmetrised(part))
    found = list(groups_twice(grid, question))
    said = _context(part, grid, found, question)
    if not found:
        return [said.none("no group has two readings over these pairs")]
    values = [exact.spearman(g.first, g.second) if g.complete else None for g in found]
    defined = [(g, value) for g, value in zip(found, values, strict=True) if value is not None]
    if not defined:
        return [said.none("every group is constant or incomplete", missing=1.0)]
    estimates = [_median(said, defined, found, question)]
    if question.threshold is not None:
        estimates.append(_share(defined, said, question))
    return estimates


def _context(part: pd.DataFrame, grid: Grid, found: list[Twice], question: Question) -> Context:
    said = context("group_rank_spearman_median", part, question)
    sizes = {g.first.size for g in found}
    untied = exact.attainable_spearman(sizes.pop()) if len(sizes) == 1 else ()
    incomplete = sum(not g.complete for g in found)
    constant = sum(g.complete and (np.ptp(g.first) == 0 or np.ptp(g.second) == 0) for g in found)
    counts = {"constant_group": constant, "incomplete_group": incomplete}
    excluded = {**said.excluded, **{k: v for k, v in counts.items() if v}}
    n = {**said.n, "groups": len(found), "tasks": len({g.task for g in found})}
    details = {
        **scale_use(grid.numbers().ravel()),
        "attainable_untied": [str(float(value)) for value in untied],
    }
    return Context(said.analysis, question, n, excluded, details)


def _median(
    said: Context,
    defined: list[tuple[Twice, exact.Number]],
    found: list[Twice],
    question: Question,
) -> Estimate:
    values = [value for _, value in defined]
    lacking = len(found) - len(defined)
    floats = np.array([float(value) for value in values])
    codes = pd.factorize(pd.Series([g.task for g, _ in defined]))[0]
    interval = cluster_interval(
        lambda chosen: float(np.median(floats[chosen])),
        codes,
        rng=question.rng(),
        level=question.level,
        unit="task",
    )
    middle = exact.median(values)
    worst = tuple(float(exact.median([*values, *[Fraction(end)] * lacking])) for end in (-1, 1))
    spread = Counter(round(value, 6) for value in floats.tolist())
    return said.bounded(
        float(middle),
        interval,
        exact=exact.as_exact(middle),
        cluster="task",
        n={**said.n, "defined_groups": len(defined)},
        details={**said.details, "values": {f"{v:g}": c for v, c in sorted(spread.items())}},
        missing=lacking / len(found),
        worst=(worst[0], worst[1]),
        seed=question.seed,
    )


def _share(
    defined: list[tuple[Twice, exact.Number]], said: Context, question: Question
) -> Estimate:
    limit = Fraction(question.threshold or 0)
    hits = np.array([value >= limit for _, value in defined], dtype=float)
    codes = pd.factorize(pd.Series([g.task for g, _ in defined]))[0]
    share = effective_proportion(hits, None, codes)
    named = Context("group_rank_spearman_share", question, said.n, said.excluded, said.details)
    return named.of(share, exact=Fraction(int(hits.sum()), len(defined)), cluster="task")


def group_concordance(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean concordance of informative pairs of candidates within groups.

    A pair is informative where a reading separates it by `params.delta` or more (default 0: not
    tied in both). A tie in one reading counts as half. Groups without an informative pair are
    counted.
    """
    grid = layout(symmetrised(part))
    found = list(groups_twice(grid, question))
    said = context("group_concordance", part, question, delta=question.number("delta", 0.0))
    if not found:
        return [said.none("no group has two readings over these pairs")]
    numbered = np.repeat(np.arange(len(found)), [g.first.size for g in found])
    result = pairwise_concordance(
        np.concatenate([g.first for g in found]),
        np.concatenate([g.second for g in found]),
        numbered,
        least_gap=question.number("delta", 0.0),
        clusters=pd.factorize(pd.Series([g.task for g in found]))[0],
    )
    if isinstance(result, Undefined):
        return [said.none(result.reason)]
    below = 1 - result.informative_pairs / max(1, result.pairs)
    n = {**said.n, "groups": len(found), "pairs": result.informative_pairs}
    excluded = {**said.excluded}
    if result.groups_without:
        excluded["group_without_informative_pair"] = result.groups_without
    details = {**said.details, "share_below_delta": below}
    return [said.of(result.share, n=n, excluded=excluded, details=details, cluster="task")]


_grouped = partial(
    Statistic,
    reads=("number",),
    over=PAIRS,
    needs=words("repeats groups"),
    better="high",
    subject="precision",
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
    _grouped(
        name="group_rank_spearman_median",
        compute=group_rank_spearman_median,
        kind="correlation",
        bounds=(-1.0, 1.0),
        least_units=MIN_CLUSTERS,
        claims=words("ranking probability score"),
        label="order within groups (Spearman), median group",
        unit="coefficient",
        answers=(),
        params=(),
    ),
    _grouped(
        name="group_concordance",
        compute=group_concordance,
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        claims=words("pairwise probability score"),
        label="pairs of a group in the same order",
        unit="share",
        answers=(Answer("ranking", "right", "pairwise"),),
        params=(number("delta", "least gap of an informative pair", 0),),
    ),
)
