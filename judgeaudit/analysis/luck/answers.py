"""What was answered in the cells of a memory-luck study: counts by endpoint, cell and world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.luck.declared import CellSpec, Design
from judgeaudit.analysis.luck.named import design_of_names, parse_cell
from judgeaudit.errors import InputError
from judgeaudit.model import Reason
from judgeaudit.readings.table import META

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_TOOL, UNDELIVERED, NO_MEMORY = "no_tool", "undelivered", "no_memory"
"""Three ways of having no choice: a reply that names none, no reply, and no memory to ask with."""

SETTING = f"{META}domain"
"""What says in which setting a world plays."""

_NOT_SENT = frozenset(
    {
        Reason.NO_REPLY,
        Reason.BAD_BODY,
        Reason.CAP_REACHED,
        Reason.WINDOW_CLOSED,
        Reason.UNRESOLVED,
        Reason.STOPPED_BY_RULE,
    }
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Counts of answers, each array endpoints x cells x worlds.

    `worse` and `valid` count choices of the worse tool and of either; `planned` all calls;
    `no_memory` the calls that had no memory to be asked with. What lies between is `lacking`: a
    reply that names no tool, or none. `reasons` has endpoints x cells counts by reason. `specs`
    says what each cell is, `clusters` what each world belongs to where a registration names a
    cluster of worlds, `settings` how many settings the worlds have (0 where none is told).
    `scale` is what a choice of the worse tool costs in each world, None where choices are counted.
    """

    endpoints: tuple[str, ...]
    cells: tuple[str, ...]
    worlds: tuple[str, ...]
    worse: Ints
    valid: Ints
    planned: Ints
    no_memory: Ints
    reasons: Mapping[str, Ints]
    specs: Mapping[str, CellSpec] = field(default_factory=dict)
    clusters: tuple[str, ...] = ()
    settings: int = 0
    scale: Floats | None = None

    @property
    def lacking(self) -> Ints:
        """Calls that could have named a tool and have no choice."""
        return np.asarray(self.planned - self.valid - self.no_memory)

    def spec(self, cell: str) -> CellSpec:
        """Return what a cell is."""
        return self.specs.get(cell, CellSpec())

    @property
    def choices(self) -> list[str]:
        """The cells that ask for the next choice."""
        return [cell for cell in self.cells if not self.spec(cell).probe]

    def index(self, cell: str) -> int | None:
        """Return the position of a cell, None where it was not run."""
        return self.cells.index(cell) if cell in self.cells else None

    def places(self, cells: Sequence[str]) -> list[int]:
        """Return the positions of those cells that were run."""
        return [place for cell in cells if (place := self.index(cell)) is not None]

    def kinds(self, endpoint: int, cells: Sequence[int]) -> dict[str, int]:
        """Return how many calls of some cells have no choice, by reason."""
        counts = {r: int(n[endpoint, list(cells)].sum()) for r, n in self.reasons.items()}
        return {reason: count for reason, count in counts.items() if count}


def kind_of(reason: str) -> str:
    """Return which of the three ways of having no choice a reason is."""
    if reason == Reason.NO_MEMORY:
        return NO_MEMORY
    return UNDELIVERED if reason in _NOT_SENT else NO_TOOL


def last_stage(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table's last stage."""
    return table[table["stage"].eq(table["stage"].max())]


def design_for(
    table: pd.DataFrame, declared: Design | None, params: Mapping[str, object] | None = None
) -> Design | None:
    """Return the declared design, else the one that the arms' names say, None for neither.

    `params` are those of the question: what it asks for stands in the design, asked or not.
    """
    if declared is not None:
        return declared
    arms, named = pd.unique(last_stage(table)["arm"]), params or {}
    return design_of_names(map(str, arms), named.get("stratum"), named.get("lesson"))


def answers_of(
    table: pd.DataFrame,
    declared: Design | None = None,
    cluster: str | None = None,
    scale: str | None = None,
) -> Answers:
    """Return the counts of the table's last stage; controls must be left out before.

    `cluster` names a meta key that says what worlds belong together, `scale` one that says what a
    choice of the worse tool costs in a world (regret). Raises `InputError` for a choice
    that is neither `better` nor `worse`, for a misspelt cell, and where worlds have no cluster.
    """
    last = last_stage(table)
    design = design_for(table, declared)
    known = {} if design is None else design.cells
    cell_of = {arm: str(arm).partition(":")[0] for arm in pd.unique(last["arm"])}
    if declared is None:
        cell_of = {arm: _named(str(arm)) for arm in cell_of}
    there = set(cell_of.values())
    cells = tuple(cell for cell in known if cell in there)
    place = {arm: cells.index(cell) for arm, cell in cell_of.items() if cell in cells}
    rows = last[last["arm"].isin(list(place))]
    _check_choices(rows)
    endpoint, endpoints = pd.factorize(rows["endpoint"])
    world, worlds = pd.factorize(rows["item"])
    shape = (len(endpoints), len(cells), len(worlds))
    at = np.stack([endpoint, rows["arm"].map(place).to_numpy(np.int64), world])

    def count(chosen: NDArray[np.bool_]) -> Ints:
        flat = np.ravel_multi_index(tuple(at[:, chosen]), shape) if chosen.any() else []
        found = np.bincount(np.asarray(flat, np.int64), minlength=int(np.prod(shape)))
        return np.asarray(found.reshape(shape), dtype=np.int64)

    ok = rows["status"].eq("ok").to_numpy()
    reason = rows["reason"].astype(object).where(~ok, None)
    seen = [str(name) for name in pd.unique(reason.dropna())]
    return Answers(
        endpoints=tuple(map(str, endpoints)),
        cells=cells,
        worlds=tuple(map(str, worlds)),
        worse=count(ok & rows["category"].eq("worse").to_numpy()),
        valid=count(ok),
        planned=count(np.ones(len(rows), dtype=bool)),
        no_memory=count(reason.eq(str(Reason.NO_MEMORY)).to_numpy(bool)),
        reasons={name: count(reason.eq(name).to_numpy(bool)).sum(axis=2) for name in seen},
        specs={cell: known[cell] for cell in cells},
        clusters=_clusters(rows, worlds, cluster),
        scale=_scale(rows, worlds, scale),
        settings=int(rows[SETTING].nunique()) if SETTING in rows else 0,
    )


def _named(arm: str) -> str:
    cell = parse_cell(arm)
    return arm if cell is None else cell.name


def _scale(rows: pd.DataFrame, worlds: pd.Index, scale: str | None) -> Floats | None:
    if scale is None:
        return None
    values = _by_world(rows, worlds, scale, "scale")
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64)
    if not np.isfinite(numbers).all():
        raise InputError("params", "scale", f"{scale!r} is not a number in every world")
    return numbers


def _clusters(rows: pd.DataFrame, worlds: pd.Index, cluster: str | None) -> tuple[str, ...]:
    return () if cluster is None else tuple(map(str, _by_world(rows, worlds, cluster, "cluster")))


def _by_world(rows: pd.DataFrame, worlds: pd.Index, name: str, param: str) -> pd.Series:
    """Return a meta value of each world; raises `InputError` where one has none."""
    column = name if name in rows else f"{META}{name}"
    if column not in rows:
        raise InputError("params", param, f"no column {name!r}", "an item's meta key")
    found = rows.drop_duplicates("item").set_index("item")[column].reindex(worlds)
    if found.isna().any():
        raise InputError("params", param, f"item {found[found.isna()].index[0]!r} has no {name!r}")
    return found


def _check_choices(rows: pd.DataFrame) -> None:
    strange = rows["status"].eq("ok") & ~rows["category"].isin(["better", "worse"])
    if strange.any():
        row = rows[strange].iloc[0]
        raise InputError(
            "luck",
            f"item {row['item']!r}, cell {row['arm']!r}",
            f"choice {row['category']!r}",
            "worlds have the candidates `better` and `worse`",
        )
