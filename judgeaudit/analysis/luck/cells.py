"""Cells of a memory-luck study: what their names say, and what was answered in them.

A cell's name, which is its arm in plan and log, is

    <case>.<outcome><lesson>[.<variant>...]        unlucky.FF    lucky.SU.dep    unlucky.FF.note-w

* `case` says which tool the shown run used. `unlucky`: the better tool, which fails by chance
  (shown F) or succeeds as usual (shown S). `lucky`: the worse tool, which succeeds by luck
  (shown S) or fails as usual (shown F).
* `outcome` is what the prompt shows, literally, in both cases: F the run failed, S it succeeded.
* `lesson` is the memory: F the lesson of that run's failure, S the lesson of its success, U an
  unrelated one of the same outcome kind as the outcome shown, D a directive without reasons, N no
  memory at all.
* `variant`: `dep` the log does not state that runs are independent (without it, it does); `note` a
  note on decision quality, `both` the same note for both outcomes with a "no change" option, either
  with `-w` (acts on writing) or `-c` (acts on choosing); `again` the same bytes once more; `probe`
  asks which tool has the better record. Their order does not matter.

So that all contrasts read alike, they are written in roles. The *luck outcome* L is the one that
chance made: F in `unlucky`, S in `lucky`. The *ordinary outcome* O is the other: S in `unlucky`, F
in `lucky`. In both cases p = P(worse tool is chosen), and more of it under L means that luck was
carried. CARRY, (p_LL - p_LU) - (p_OO - p_OU), is (p_FF - p_FU) - (p_SS - p_SU) for `unlucky` and
(p_SS - p_SU) - (p_FF - p_FU) for `lucky`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.errors import InputError
from judgeaudit.model import Reason

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LUCK: Mapping[str, str] = {"unlucky": "F", "lucky": "S"}
"""The outcome that chance made, by case."""

DEPENDENT, AGAIN, PROBE = "dep", "again", "probe"
NO_TOOL, UNDELIVERED, NO_MEMORY = "no_tool", "undelivered", "no_memory"
"""Three ways of having no choice: a reply that names none, no reply, and no memory to ask with."""

_MITIGATION = re.compile(r"(?:note|both)(?:-[wc])?")
_CELL = re.compile(r"(unlucky|lucky)\.([FS])([FSUDN])((?:\.[a-z-]+)*)")
_MEANT = re.compile(r"(?:unlucky|lucky)\.[^.]{2}(?:\.|$)")
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


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """What the cells of one contrast share: case, whether independence is stated, mitigation."""

    case: str = "unlucky"
    dependent: bool = False
    mitigations: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The case with its variants, e.g. `unlucky.dep`."""
        return ".".join([self.case, *([DEPENDENT] if self.dependent else []), *self.mitigations])

    @property
    def plain(self) -> Stratum:
        """The same case and log without mitigation."""
        return Stratum(self.case, self.dependent)

    def cell(self, roles: str) -> Cell:
        """Return the cell of an outcome and a lesson in roles: L luck, O ordinary, else literal."""
        luck = LUCK[self.case]
        letters = {"L": luck, "O": "S" if luck == "F" else "F"}
        shown, lesson = (letters.get(role, role) for role in roles)
        return Cell(self, shown, lesson)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One cell: its stratum, the outcome shown and the lesson, both as literal letters."""

    stratum: Stratum
    shown: str
    lesson: str
    again: bool = False
    probe: bool = False

    @property
    def name(self) -> str:
        """The name in its usual order of variants."""
        variants = self.stratum.name.split(".")[1:]
        marks = [mark for mark, on in ((AGAIN, self.again), (PROBE, self.probe)) if on]
        return ".".join([self.stratum.case, self.shown + self.lesson, *variants, *marks])


def parse_cell(arm: str) -> Cell | None:
    """Return the cell that an arm's name says, None for an arm of another design.

    A readout's own arm after a colon is ignored. Raises `InputError` for a name that starts as a
    cell's does and ends as none.
    """
    name = arm.partition(":")[0]
    found = _CELL.fullmatch(name)
    if found is None:
        if _MEANT.match(name):
            raise _no_cell(name, "outcome and lesson")
        return None
    case, shown, lesson, rest = found.groups()
    variants = rest.split(".")[1:]
    mitigations = tuple(sorted(v for v in variants if _MITIGATION.fullmatch(v)))
    marks = {v for v in variants if v not in mitigations}
    if not marks <= {DEPENDENT, AGAIN, PROBE} or len(set(variants)) != len(variants):
        raise _no_cell(name, f"variants {', '.join(variants)}")
    stratum = Stratum(case, DEPENDENT in marks, mitigations)
    return Cell(stratum, shown, lesson, AGAIN in marks, PROBE in marks)


def _no_cell(name: str, what: str) -> InputError:
    remedy = "CASE.OUTCOMELESSON[.VARIANT]: outcome F, S; lesson F, S, U, D, N; variants dep, "
    return InputError("cell", name, f"{what} not known", remedy + "note, both, again, probe")


@dataclass(frozen=True, slots=True)
class Answers:
    """Counts of answers, each array endpoints x cells x worlds.

    `worse` and `valid` count choices of the worse tool and of either; `planned` all calls;
    `no_memory` the calls that had no memory to be asked with. What lies between is `lacking`: a
    reply that names no tool, or none. `reasons` has endpoints x cells counts by reason.
    """

    endpoints: tuple[str, ...]
    cells: tuple[Cell, ...]
    worlds: tuple[str, ...]
    worse: Ints
    valid: Ints
    planned: Ints
    no_memory: Ints
    reasons: Mapping[str, Ints]

    @property
    def lacking(self) -> Ints:
        """Calls that could have named a tool and have no choice."""
        return np.asarray(self.planned - self.valid - self.no_memory)

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """Strata in the order unlucky before lucky, independence stated first, plain first."""
        found = {cell.stratum for cell in self.cells if not cell.probe}
        return tuple(sorted(found, key=lambda s: (s.case == "lucky", s.dependent, s.mitigations)))

    def index(self, cell: Cell) -> int | None:
        """Return the position of a cell, None where it was not run."""
        return self.cells.index(cell) if cell in self.cells else None

    def kinds(self, endpoint: int, cells: list[int]) -> dict[str, int]:
        """Return how many calls of some cells have no choice, by reason."""
        counts = {r: int(n[endpoint, cells].sum()) for r, n in self.reasons.items()}
        return {reason: count for reason, count in counts.items() if count}


def kind_of(reason: str) -> str:
    """Return which of the three ways of having no choice a reason is."""
    if reason == Reason.NO_MEMORY:
        return NO_MEMORY
    return UNDELIVERED if reason in _NOT_SENT else NO_TOOL


def answers_of(table: pd.DataFrame) -> Answers:
    """Return the counts of the table's last stage; controls must be left out before.

    Raises `InputError` for a choice that is neither `better` nor `worse`, and for a misspelt cell.
    """
    last = table[table["stage"].eq(table["stage"].max())]
    named = {arm: parse_cell(str(arm)) for arm in pd.unique(last["arm"])}
    cells = tuple(sorted({cell for cell in named.values() if cell is not None}))
    place = {arm: cells.index(cell) for arm, cell in named.items() if cell is not None}
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
    )


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
