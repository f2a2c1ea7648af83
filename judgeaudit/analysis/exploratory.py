"""Exploratory analysis of somebody's table: what a person with a CSV can be told, and no more.

Pure: a `Long` in, a `Report` out. The table becomes the readings table of a study, and what is told
of it comes from the same catalogue: the statistics that its kind is told of and its facets allow,
and those asked for by name. Each part (as `by` splits it) is taken on its own; nothing is pooled.
Everything here is exploratory by derivation, since nothing was registered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.analysis.asked import Held, asked, held
from judgeaudit.analysis.between import between_parts
from judgeaudit.analysis.catalogue import NAMES, statistic
from judgeaudit.analysis.consequences import facts_of
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.facets import Facets, facets_of
from judgeaudit.analysis.items import COLUMNS as ITEM_COLUMNS
from judgeaudit.analysis.items import items_frame
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.repeats import Evidence, evidence
from judgeaudit.readings.sheet import Long, Sheet, lay_out, parts
from judgeaudit.readings.table import from_long
from judgeaudit.statistic import Facet
from judgeaudit.stats.dominance import distinct
from judgeaudit.stats.proportions import wilson
from judgeaudit.stats.ties import settle


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person wants to know beyond the defaults.

    `gap` is a difference between two items (scores) that should be resolved; `pass_at` a pass mark;
    `level` the two-sided level of all intervals; `also` names statistics of the catalogue that are
    computed whatever the table's kind.
    """

    gap: float | None = None
    pass_at: float | None = None
    level: float = 0.95
    seed: int = 0
    also: tuple[str, ...] = ()


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
    table: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False, compare=False)

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
        valued = any(e.value is not None for e in self.estimates)
        twice = any(part.asked_twice for part in self.parts)
        return not valued or not (twice or any(map(_tells_truth, self.estimates)))

    def items(self) -> pd.DataFrame:
        """Return which items changed their answers, and how, with the part's scope."""
        found = [items_frame(part.table).assign(scope=part.scope) for part in self.parts]
        return pd.concat(found, ignore_index=True)[["scope", *ITEM_COLUMNS]]

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
        raise InputError(long.source, found="no rows", remedy="give one row a reading")
    wanted = wish or Wish()
    for name in wanted.also:
        statistic(name)
    split = parts(long)
    sheets = [lay_out(long, scope, rows) for scope, rows in split]
    found = tuple(
        _part(sheet, from_long(long, rows), wanted)
        for sheet, (_, rows) in zip(sheets, split, strict=True)
    )
    question = Question(over="all", level=wanted.level, seed=wanted.seed)
    compared = between_parts(sheets, question)
    return Report(long.source, long.rows, found, long.notes, wanted, compared)


def _part(sheet: Sheet, table: pd.DataFrame, wish: Wish) -> PartReport:
    long, scope = sheet.long, sheet.scope
    said = evidence(sheet, _perfect(sheet))
    facets = _facets(sheet, wish.seed)
    estimates = tuple(_warned(e, facets) for e in _estimates(table, sheet, wish))
    told = [text for e in estimates if e.low is not None for text in e.caveats]
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
        estimates=tuple(e.in_scope(_joined(scope, e.scope)) for e in estimates),
        facts=facts_of(table, long.kind, estimates, wish.gap)
        | {"unproven": list(dict.fromkeys(told))},
        asked_twice=sheet.asked_twice,
        facets=facets,
        table=table,
    )


def _estimates(table: pd.DataFrame, sheet: Sheet, wish: Wish) -> Iterator[Estimate]:
    """Yield what a table of this kind is told unasked, then what was asked for by name."""
    long = sheet.long
    question = Question(
        over="all",
        cluster="item" if long.task is None else "task",
        level=wish.level,
        seed=wish.seed,
    )
    pairs = held(table)
    facets = held_facets(table, sheet, pairs)
    for name, record in NAMES.items():
        lacking = record.needs - facets
        never_twice = lacking == {"repeats"} and not sheet.asked_twice
        if name in wish.also or (long.kind in record.told and (not lacking or never_twice)):
            marked = wish.pass_at is not None and any(p.name == "mark" for p in record.params)
            own = replace(question, params={"mark": wish.pass_at}) if marked else question
            yield from asked(name, table, own, pairs=pairs)


def held_facets(table: pd.DataFrame, sheet: Sheet, pairs: Held) -> set[Facet]:
    """Return the facets that a table holds, by which the statistics that apply are chosen."""
    long = sheet.long
    days = {int(day) for day in table["day"].unique()} - {0}
    arms, times = int(distinct(sheet.orders).size), len(pairs.get("all", ()))
    there: dict[Facet, bool] = {
        "repeats": "all" in pairs,
        "pair": (times == 1 and arms == 1) or (times == 0 and arms == 2),
        "invalid": bool(table["status"].eq("invalid").any()),
        "windows": "windows" in pairs,
        "days": len(days) > 1,
        "arms": arms > 1,
        "groups": long.group is not None,
        "gold": long.gold is not None,
    }
    return {facet for facet, is_there in there.items() if is_there}


SHIFTED = (
    "runs shift: the interval of ICC(1,1) takes runs as exchangeable and is too narrow; "
    "ICC(A,1) knows how few runs there are"
)


def _facets(sheet: Sheet, seed: int) -> Facets | None:
    kind = sheet.long.kind
    if kind == "ranking":
        return None
    numeric = kind in ("score", "probability")
    return facets_of(sheet, settle(sheet.scores()) if numeric else None, seed)


def _warned(estimate: Estimate, facets: Facets | None) -> Estimate:
    """Return an ICC(1,1) with a caveat where runs or windows shift; orders do not matter."""
    if estimate.analysis != "icc" or estimate.low is None or facets is None:
        return estimate
    shifted = any(facet.name in ("run", "window") for facet in facets.shifted)
    return estimate.with_caveats(SHIFTED) if shifted else estimate


def _tells_truth(estimate: Estimate) -> bool:
    record = NAMES.get(estimate.analysis)
    return record is not None and record.subject == "truth" and estimate.value is not None


def _joined(scope: str, inner: str) -> str:
    return inner if scope == "all" else scope if inner == "all" else f"{scope}, {inner}"


def _perfect(sheet: Sheet) -> bool:
    """Return whether every item has one answer over all its runs, and some have two runs."""
    if sheet.long.values is not None:
        cells, there = sheet.scores(), sheet.valid
    else:
        cells = sheet.codes(invalid_as_category=True)[0].astype(float)
        there = cells >= 0
    twice = there.sum(axis=1) >= 2
    if not twice.any() or not sheet.valid.any():
        return False
    most = np.where(there, cells, -np.inf).max(axis=1)
    least = np.where(there, cells, np.inf).min(axis=1)
    return bool((most == least)[twice].all())


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
