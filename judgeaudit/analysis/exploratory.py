"""Exploratory analysis of somebody's table: what a person with a CSV can be told, and no more.

Pure: a `Long` in, a `Report` out. Each part (as `by` splits it) is taken on its own; nothing is
pooled. The estimators and their intervals are those of registered studies; everything here is
exploratory by derivation, since nothing was registered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judgeaudit.analysis.between import between_parts
from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.facets import Facets, facets_of
from judgeaudit.analysis.proven import mostly_below_top, never, three_repeats, unproven
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.repeats import Evidence, evidence
from judgeaudit.readings.sheet import Long, Sheet, lay_out, parts
from judgeaudit.statistic import Coverage
from judgeaudit.stats.clustered import few_tasks
from judgeaudit.stats.dominance import distinct
from judgeaudit.stats.proportions import wilson
from judgeaudit.stats.ties import settle

Compute = Callable[
    [Sheet, Context, float | None, float | None], tuple[list[Estimate], dict[str, Any]]
]


TRUTH = frozenset({"gold_agreement", "gold_spearman"})
"""Estimates that need no second reading of an item."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person wants to know beyond the defaults.

    `gap` is a difference between two items (scores) that should be resolved; `pass_at` a pass mark;
    `level` the two-sided level of all intervals.
    """

    gap: float | None = None
    pass_at: float | None = None
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PartReport:
    """One part: its shape, what is missing, what the repeats are, and the estimates by name."""

    scope: str
    kind: str
    items: int
    runs: int
    windows: int
    orders: int
    cells: int
    valid: int
    excluded: dict[str, int]
    worst_run: dict[str, Any] | None
    evidence: Evidence
    estimates: tuple[Estimate, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    asked_twice: bool = True
    facets: Facets | None = None

    def get(self, name: str) -> Estimate | None:
        """Return the estimate called `name`, None where it was not asked."""
        return next((e for e in self.estimates if e.analysis == name), None)


@dataclass(frozen=True, slots=True)
class Report:
    """What was read, and each part's report."""

    source: str
    rows: int
    parts: tuple[PartReport, ...]
    notes: tuple[str, ...]
    wish: Wish
    between: tuple[Estimate, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """True where no estimate has a value, or no item was asked twice and gold tells nothing."""
        valued = [e.analysis for e in self.estimates if e.value is not None]
        return not valued or not (any(p.asked_twice for p in self.parts) or TRUTH & set(valued))

    @property
    def estimates(self) -> list[Estimate]:
        """Return all estimates, each with its part's scope, then those between parts."""
        return [e for part in self.parts for e in part.estimates] + list(self.between)


def explore(long: Long, wish: Wish | None = None) -> Report:
    """Return the report of a table.

    Raises `InputError` for a key that stands twice, for an empty table, and where a declared column
    shows that the runs are no repeats.
    """
    if not long.rows:
        raise InputError(long.source, found="no rows", remedy="give a table with one row a reading")
    asked = wish or Wish()
    sheets = [lay_out(long, scope, rows) for scope, rows in parts(long)]
    found = tuple(_part(sheet, asked) for sheet in sheets)
    question = Question(over="all", level=asked.level, seed=asked.seed)
    compared = between_parts(sheets, question)
    return Report(long.source, long.rows, found, long.notes, asked, compared)


def _part(sheet: Sheet, wish: Wish) -> PartReport:
    long, scope = sheet.long, sheet.scope
    compute: Compute
    if long.kind in ("score", "probability"):
        from judgeaudit.analysis.noise import scored

        perfect = scored.perfect(sheet)
        compute = scored.estimates
    else:
        from judgeaudit.analysis.agreement import verdicted

        perfect = verdicted.perfect(sheet)
        compute = _ranked() if long.kind == "ranking" else verdicted.estimates
    said = evidence(sheet, perfect)
    question = Question(over="all", level=wish.level, seed=wish.seed)
    facets = _facets(sheet, wish.seed)
    computed, facts = compute(sheet, _context(sheet, question), wish.gap, wish.pass_at)
    shortfalls = [_shortfall(estimate, sheet, facets) for estimate in computed]
    estimates = [e.with_caveats(*s) for e, s in zip(computed, shortfalls, strict=True)]
    told = [*_of_intervals(computed), *(text for s in shortfalls for text in s)]
    return PartReport(
        scope=scope,
        kind=long.kind,
        items=int(sheet.items.size),
        runs=int(distinct(sheet.runs).size),
        windows=int(distinct(sheet.windows).size),
        orders=int(distinct(sheet.orders).size),
        cells=int(sheet.index.size),
        valid=int(sheet.valid.sum()),
        excluded=sheet.excluded(),
        worst_run=_worst_run(sheet, wish.level),
        evidence=said,
        estimates=tuple(replace(e, scope=scope) for e in estimates),
        facts=facts | {"unproven": list(dict.fromkeys(told))},
        asked_twice=sheet.asked_twice,
        facets=facets,
    )


def _facets(sheet: Sheet, seed: int) -> Facets | None:
    kind = sheet.long.kind
    if kind == "ranking":
        return None
    numbers = kind in ("score", "probability")
    return facets_of(sheet, settle(sheet.scores()) if numbers else None, seed)


def _ranked() -> Compute:
    # Rankings go through the registered families and so need pandas; numbers need not wait for it.
    from judgeaudit.analysis.agreement.ranked import estimates

    return estimates


def _context(sheet: Sheet, question: Question) -> Context:
    n = {
        "items": int(sheet.items.size),
        "observations": int((sheet.index >= 0).sum()),
        "valid": int(sheet.valid.sum()),
        "runs": int(sheet.index.shape[1]),
    }
    return Context("", question, n, sheet.excluded())


def _of_intervals(computed: list[Estimate]) -> list[str]:
    """Return what the estimators themselves say against their intervals."""
    return [text for e in computed if e.low is not None for text in e.caveats]


def _shortfall(estimate: Estimate, sheet: Sheet, facets: Facets | None) -> list[str]:
    """Return sentences if the interval was measured to fall short on such data, else none."""
    if estimate.low is None:
        return []
    task = sheet.per_item(sheet.long.task)
    tasks = None if task is None else int(distinct(task).size)
    said = unproven(_COVERED.get(estimate.analysis), estimate, tasks)
    shifted = facets is not None and any(f.shifted for f in facets.facets)
    runs = SHIFTED if shifted and estimate.analysis == "icc_one_way" else ""
    ends = estimate.analysis.startswith("icc_") and tasks and not mostly_below_top(estimate)
    return [text for text in (said, few_tasks(tasks), runs, AT_AN_END if ends else "") if text]


AT_AN_END = (
    "half of the scores or more lie at one end of the scale: over tasks the interval of an ICC "
    "covered 90% in simulations"
)


SHIFTED = (
    "runs shift: the interval of ICC(1,1) takes runs as exchangeable and is too narrow; "
    "ICC(A,1) knows how few runs there are"
)


_COVERED = {
    "spearman": Coverage("spearman", never),
    "icc_one_way": Coverage("icc", mostly_below_top),
    "icc_agreement": Coverage("icc agreement", never),
    "noise": Coverage("noise", three_repeats),
    "flip_rate": Coverage("flip rate", never),
    "ac1": Coverage("ac1", never),
    "order_excess": Coverage("excess", never),
    "window_shift": Coverage("mean shift", never),
}


def _worst_run(sheet: Sheet, level: float) -> dict[str, Any] | None:
    """Return the run with the most missing readings, its share and Wilson interval."""
    lost = (~sheet.valid).sum(axis=0)
    if not lost.any():
        return None
    worst, of = int(np.argmax(lost)), int(sheet.items.size)
    interval = wilson(int(lost[worst]), of, level)
    code = int(sheet.runs[worst]) - 1
    return {
        "run": str(sheet.long.run.labels[code]) if code >= 0 else "",
        "column": sheet.column_name(worst),
        "missing": int(lost[worst]),
        "of": of,
        "low": interval.low,
        "high": interval.high,
    }
