"""The gate of a table: somebody's readings held against a registration's criteria.

The table has the columns of `judgeaudit.readings.table` (sealed readings have them); `--item`,
`--repeat` and `--value` name others. Its rows are held against the plan and read by the registered
readout (`judgeaudit.tables.planned`): no row beside the plan, no planned reading without a row.
A registration that is not frozen has the plan that it would freeze. A Parquet file that names the
registration it was made under must name this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from judgeaudit.analysis.luck.declared import Design
from judgeaudit.design.amendments import Amendment
from judgeaudit.design.asking import Asker
from judgeaudit.design.document import Registration
from judgeaudit.design.draft import FROZEN_NAMES
from judgeaudit.design.layout import FROZEN
from judgeaudit.design.lock import render
from judgeaudit.errors import InputError, RegistrationError
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.model import Invalid, Item, PlannedCall, Value
from judgeaudit.readings.table import COLUMNS, IDENTITY, candidate_frame, from_readings
from judgeaudit.study.amendments import superseded_of
from judgeaudit.study.folders import Folder
from judgeaudit.study.gate_history import loosened
from judgeaudit.tables.files import read_source
from judgeaudit.tables.planned import ALIASES, Cell, Named, Read, hold
from judgeaudit.tables.raw import NO_ROWS
from judgeaudit.tables.source import Source
from judgeaudit.verdict import evaluate
from judgeaudit.verdict.amended import Amended
from judgeaudit.verdict.blockers import Bar, bars
from judgeaudit.verdict.declared import design_of
from judgeaudit.verdict.gate_report import Asked, GateReport
from judgeaudit.verdict.registered import LogFacts

MARKS = {
    "response_id": "reply_id",
    "completion_id": "reply_id",
    "generation_id": "reply_id",
    "created_at": "created",
}
"""Columns by which tables tell one call from another, and what they are here."""
FLAG = b"judgeaudit.registration"
REGISTRATION = FROZEN_NAMES["registration"]
NOT_FROZEN = "The registration is not frozen: nothing shows that its thresholds stood beforehand."


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a registration gives a table's gate; `items` holds the controls too."""

    registration: Registration
    items: Mapping[str, Item]
    plan: Sequence[PlannedCall]
    asker: Asker
    locks: tuple[str, ...] = ()
    amended: tuple[Amended, ...] = ()
    bars: tuple[Bar, ...] = ()
    design: Design | None = None

    @property
    def amendments(self) -> tuple[Amendment, ...]:
        """The amendments of the registration, in order."""
        return tuple(one.amendment for one in self.amended)

    @property
    def kinds(self) -> dict[int, str]:
        """The field of `Value` that each stage's readout fills."""
        return {n: stage[0].readout.record.column for n, stage in enumerate(self.asker.stages, 1)}


def gate_table(
    table: Folder,
    registration: Folder,
    *,
    item: str | None = None,
    repeat: str | None = None,
    value: str | None = None,
) -> GateReport:
    """Return what a registration's gates say of somebody's readings in a table's file.

    `registration` is a study's folder or a registration's file; `item`, `repeat` and `value` name
    columns where they are not the usual ones. Raises `InputError` for what cannot be read or is
    unplanned.
    """
    path, columns = Path(table), Named(item, repeat, value)
    criteria = criteria_of(Path(registration))
    found = criteria.registration
    if found.sequential is not None:
        raise InputError(str(registration), "sequential", "a table cannot be asked in blocks")
    about = {"table": path.name, "lock_digest": criteria.locks[-1] if criteria.locks else None}
    source = _read(path, columns, criteria)
    bar = None if source is None else _another(source, criteria)
    if source is None or bar is not None:
        none = pd.DataFrame(columns=["control", "endpoint"])
        return GateReport(
            found.study.id,
            bars=tuple([bar] if bar else bars(found, none)),
            amendments=criteria.amendments,
            about=about,
        )
    extra = [*IDENTITY, *MARKS, "label", "mass"]
    held = hold(source, criteria.plan, criteria.kinds, _reader(criteria), columns, extra)
    rows = from_readings(_marked(pd.DataFrame(held.rows)), criteria.items.values())
    probes = [item for item in criteria.items.values() if "control" not in item.meta]
    facts = LogFacts(criteria.bars, criteria.amended)
    shown = candidate_frame(probes)
    findings = evaluate(found, rows, shown, facts=facts, design=criteria.design)
    return GateReport(
        study=found.study.id,
        verdicts=findings.verdicts,
        bars=findings.bars,
        amendments=criteria.amendments,
        findings=(*held.notes, *(() if criteria.locks else (NOT_FROZEN,))),
        asked=Asked(held.present, len(held.rows), ended=f"read from {path.name}"),
        about=about,
    )


def criteria_of(path: Path) -> Criteria:
    """Return the criteria of a frozen study, a study's folder or a registration's file.

    The file of a study that is frozen stands for the study: what was frozen decides. Raises
    `RegistrationError` for a registration with problems.
    """
    root = path.parent if path.name == REGISTRATION else path
    if (root / FROZEN).is_dir():
        frozen = load_frozen(root)
        locks = tuple(str(lock) for lock in frozen.locks)
        changed, undone = superseded_of(frozen), tuple(loosened(frozen))
        return Criteria(
            frozen.registration,
            frozen.items,
            frozen.plan,
            frozen.asker,
            locks,
            changed,
            undone,
            design_of(frozen.protocol),
        )
    draft = load_study(path) if path.is_dir() else load_study(path.parent, path.name)
    if draft.problems or draft.registration is None or draft.protocol is None:
        raise RegistrationError(path, draft.problems)
    whole = draft.whole()
    items = {item.id: item for item in (*whole.items, *whole.controls)}
    plan, asker = render(whole).plan, Asker.of(whole.protocol)
    return Criteria(whole.registration, items, plan, asker, design=design_of(whole.protocol))


def _read(path: Path, columns: Named, criteria: Criteria) -> Source | None:
    """Return the table's columns; None for a table without a row."""
    kinds = set(criteria.kinds.values())
    usual = ["item", "repeat", *kinds, *(name for kind in kinds for name in ALIASES.get(kind, ()))]
    wanted = [*columns.wanted(), *usual]
    lists = [columns.value or "ranking"] if "ranking" in kinds else []
    try:
        return read_source(path, wanted, {*COLUMNS, *IDENTITY, *MARKS, *usual}, lists)
    except InputError as error:
        if error.found != NO_ROWS:
            raise
        return None  # no evidence, which is a verdict (3); other commands refuse such a table


def _marked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with what tells calls apart under the names that it has here."""
    named: dict[str, str] = {}
    for name, mark in MARKS.items():
        if name in rows and mark not in rows and mark not in named.values():
            named[name] = mark
    return rows.rename(columns=named)


def _reader(criteria: Criteria) -> Read:
    """Return how a cell is read as the answer to a planned call: by that call's own readout."""
    cache: dict[tuple[int, str, str, Cell], Value | Invalid] = {}

    def read(call: PlannedCall, cell: Cell) -> Value | Invalid:
        key = (call.stage, call.item, call.arm, cell)
        if key not in cache:
            asking = criteria.asker.find(call.stage, call.arm)
            item = asking.item(criteria.items[call.item])
            cache[key] = asking.readout.read_cell(cell, item, asking.readout_arm(call.arm))
        return cache[key]

    return read


def _another(source: Source, criteria: Criteria) -> Bar | None:
    named = (source.table.schema.metadata or {}).get(FLAG, b"").decode()
    if not named or named in criteria.locks:
        return None
    held = criteria.locks[-1] if criteria.locks else "one that is not frozen"
    return Bar("other_registration", f"the readings were made under {named}, this is {held}")
