"""Somebody's rows held against a plan: each row is a planned call, each planned call a row.

Rules of this module:

* A row is the planned call that its key columns name (item, repeat, window, condition, arm, stage,
  draw, endpoint; text as written). Key columns that the table leaves out are the plan's own where
  that leaves one call; where it leaves several, the column that tells them apart is asked for.
* What the plan does not hold is refused by name and number; so is a call that stands twice.
* A planned call without a row is an invalid reading, `no_reply`: it stands in every denominator.
* An answer is read by the registered readout. Where that reads nothing, an empty cell and a word
  for no answer (NA, null ...) are `empty`. A row whose `status` is "invalid" stays so.
* Without a column `stage` the rows are those of the plan's last stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.model import Invalid, PlannedCall, Reason, Value
from judgeaudit.tables import header as names
from judgeaudit.tables.cells import NOTHING_DECLARED, NoCell
from judgeaudit.tables.columns import coded, coded_any
from judgeaudit.tables.decimals import decimal_of
from judgeaudit.tables.rankings import as_text, candidates_in
from judgeaudit.tables.source import Source

KEYS = ("endpoint", "stage", "condition", "window", "item", "arm", "repeat", "draw")
ALIASES = {"number": ("number", "score"), "category": ("category", "verdict", "choice")}
"""Names of the column of answers, by the field of `Value` that a readout fills."""

Cell = str | tuple[str, ...]
Read = Callable[[PlannedCall, Cell], Value | Invalid]


@dataclass(frozen=True, slots=True)
class Named:
    """Names of columns where they are not the usual ones."""

    item: str | None = None
    repeat: str | None = None
    value: str | None = None

    def wanted(self) -> list[str]:
        """Return the names that a reader should keep."""
        return [name for name in (self.item, self.repeat, self.value) if name]


@dataclass(frozen=True, slots=True)
class Held:
    """The planned readings: one row a planned call, how many the table has, and what to tell."""

    rows: list[dict[str, Any]]
    present: int
    notes: list[str] = field(default_factory=list)


def hold(
    source: Source, plan: Sequence[PlannedCall], kinds: Mapping[int, str], read: Read, named: Named,
    extra: Sequence[str] = (),
) -> Held:  # fmt: skip
    """Return a table's rows as readings of planned calls.

    `kinds` is the field of `Value` that a stage's readout fills; `read` gives a cell's reading;
    columns called like one of `extra` are kept as they stand. Raises `InputError` naming column or
    row for what the plan does not hold.
    """
    table = _Table(source, named)
    keys = table.keys()
    if "stage" not in keys:
        last = max(call.stage for call in plan)
        plan = [call for call in plan if call.stage == last]
    _refuse_unplanned(source, keys, plan)
    calls = _matched(source, keys, plan)
    cells = {kinds[stage]: table.cells(kinds[stage]) for stage in {c.stage for c in calls}}
    invalid = table.invalid()
    kept = {name: source.table.column(name).to_pylist() for name in extra if table.has(name)}
    rows, unread = {}, Counter[str]()
    for at, call in enumerate(calls):
        cell = cells[kinds[call.stage]][at]
        found = invalid[at] or _reading(cell, call, read)
        if isinstance(found, Invalid) and found.reason is not Reason.EMPTY and not invalid[at]:
            unread[f"{_clip(cell)} ({found.reason.value}: {found.detail})"] += 1
        more = {name: column[at] for name, column in kept.items()}
        rows[call.call_id] = _row(call, found, more)
    notes = [*source.notes, *_told(unread), *_absent(plan, rows)]
    missing = Invalid(Reason.NO_REPLY)
    every = [rows.get(call.call_id) or _row(call, missing, {}) for call in plan]
    return Held(every, len(rows), notes)


class _Table:
    """The columns of a source by the parts they play."""

    def __init__(self, source: Source, named: Named) -> None:
        self.source, self.named = source, named

    def has(self, name: str) -> bool:
        return name in self.source.table.column_names

    def keys(self) -> dict[str, tuple[str, list[str]]]:
        """Return each key column's name and its cells as text; raises without an item's."""
        found: dict[str, tuple[str, list[str]]] = {}
        for role in KEYS:
            name = self._key(role)
            if name is not None:
                found[role] = (name, self._ids(role, name))
        if "item" not in found:
            raise names.missing(self.source.path.name, "item", self.source.header)
        return found

    def _key(self, role: str) -> str | None:
        given = {"item": self.named.item, "repeat": self.named.repeat}.get(role)
        if given is not None:
            if not self.has(given):
                raise names.missing(self.source.path.name, given, self.source.header)
            return given
        taken = (self.named.item, self.named.repeat, self.named.value)
        usual = names.USUAL.get(role, (role,))
        return next((name for name in usual if self.has(name) and name not in taken), None)

    def _ids(self, role: str, name: str) -> list[str]:
        column = self._coded(name)
        empty = np.flatnonzero(column.codes < 0)
        if empty.size:
            row = f"row {int(empty[0]) + self.source.first_row}"
            raise InputError(self.source.path.name, row, f"no {role}", "every reading needs one")
        return [column.labels[code] for code in column.codes]

    def _coded(self, name: str) -> Any:
        try:
            return coded(as_text(self.source.table.column(name)))
        except NoCell as error:
            place, remedy = f"column {name!r}", "write text or a number in each cell"
            raise InputError(self.source.path.name, place, f"holds {error}", remedy) from None

    def cells(self, kind: str) -> list[Cell | None]:
        """Return the answers as a readout takes them: text, ids of a ranking; None for none."""
        usual = ALIASES.get(kind, (kind,))
        name = self.named.value or next((name for name in usual if self.has(name)), None)
        if name is None or not self.has(name):
            raise names.missing(self.source.path.name, name or usual[-1], self.source.header)
        column = self._coded(name)
        comma = kind == "number" and decimal_of(column.labels) == ","
        read = [_cell(label, kind, comma) for label in column.labels]
        return [None if code < 0 else read[code] for code in column.codes]

    def invalid(self) -> list[Invalid | None]:
        """Return why a row is invalid where the table says so itself."""
        if not self.has("status"):
            return [None] * self.source.rows
        status = self._coded("status")
        reason = coded_any(self.source.table.column("reason")) if self.has("reason") else None
        found: list[Invalid | None] = []
        for at in range(self.source.rows):
            word = status.label(at)
            if word not in ("ok", "invalid"):
                row = f"row {at + self.source.first_row}"
                remedy = 'give "ok" or "invalid", or leave the column out'
                raise InputError(self.source.path.name, row, f"status {word!r}", remedy)
            why = reason.label(at) if reason is not None else ""
            known = why if why in set(Reason) else Reason.UNPARSED.value
            found.append(Invalid(Reason(known), why) if word == "invalid" else None)
        return found


def _cell(label: str, kind: str, comma: bool) -> Cell:
    if kind == "ranking":
        return candidates_in(label) or label
    return label.replace(",", ".") if comma else label


def _reading(cell: Cell | None, call: PlannedCall, read: Read) -> Value | Invalid:
    if cell is None:
        return Invalid(Reason.EMPTY)
    found = read(call, cell)
    if isinstance(found, Invalid) and isinstance(cell, str) and NOTHING_DECLARED.is_missing(cell):
        return Invalid(Reason.EMPTY)
    return found


def _row(call: PlannedCall, found: Value | Invalid, more: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(found, Invalid):
        return {**more, **asdict(call), "status": "invalid", "reason": found.reason.value}
    value = {name: given for name, given in asdict(found).items() if given is not None}
    if more.get("label") is not None:
        value.pop("label", None)  # as the table says that it was answered
    return {**more, **asdict(call), "status": "ok", "reason": None, **value}


def _key(call: PlannedCall, roles: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(getattr(call, role)) for role in roles)


def _refuse_unplanned(
    source: Source, keys: Mapping[str, tuple[str, list[str]]], plan: Sequence[PlannedCall]
) -> None:
    for role, (name, cells) in keys.items():
        planned = dict.fromkeys(str(getattr(call, role)) for call in plan)
        strange = Counter(cell for cell in cells if cell not in planned)
        if strange:
            found = f"{len(strange)} {role}s that the plan does not hold: {_some(strange)}"
            remedy = f"the plan has {_some(planned)}; leave such rows out, or register them"
            rows = f"({sum(strange.values())} of {len(cells)} rows)"
            raise InputError(source.path.name, f"column {name!r}", f"{found} {rows}", remedy)


def _matched(
    source: Source, keys: Mapping[str, tuple[str, list[str]]], plan: Sequence[PlannedCall]
) -> list[PlannedCall]:
    """Return each row's planned call."""
    roles, columns = list(keys), [cells for _, cells in keys.values()]
    index: dict[tuple[str, ...], list[PlannedCall]] = {}
    for call in plan:
        index.setdefault(_key(call, roles), []).append(call)
    first: dict[str, int] = {}
    calls = []
    for at, key in enumerate(zip(*columns, strict=True)):
        call = _only(source, at, dict(zip(roles, key, strict=True)), index.get(key, []))
        if (before := first.setdefault(call.call_id, at)) != at:
            where = f"{_spoken(dict(zip(roles, key, strict=True)))} stands already in row"
            row, other = f"row {at + source.first_row}", before + source.first_row
            raise InputError(source.path.name, row, f"{where} {other}", "leave one out")
        calls.append(call)
    return calls


def _only(
    source: Source, at: int, key: Mapping[str, str], calls: Sequence[PlannedCall]
) -> PlannedCall:
    if len(calls) == 1:
        return calls[0]
    place = f"row {at + source.first_row}"
    if not calls:
        remedy = "leave the row out, or register it"
        raise InputError(source.path.name, place, f"the plan has no {_spoken(key)}", remedy)
    differ = [role for role in KEYS if len({getattr(call, role) for call in calls}) > 1]
    values = dict.fromkeys(str(getattr(call, differ[0])) for call in calls)
    found = f"{_spoken(key)} is planned {len(calls)} times, and no column says which"
    remedy = f"add a column {differ[0]!r} ({_some(values)})"
    raise InputError(source.path.name, place, found, remedy)


def _spoken(key: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {value!r}" for role, value in key.items())


def _some(values: Sequence[str] | Mapping[str, Any], most: int = 4) -> str:
    found = sorted(values, key=lambda value: (len(value), value))  # x2 before x10
    shown = ", ".join(repr(value) for value in found[:most])
    return shown if len(found) <= most else f"{shown} and {len(found) - most} more"


def _clip(cell: Cell | None, width: int = 60) -> str:
    text = cell if isinstance(cell, str) else " > ".join(cell or ())
    return repr(text if len(text) <= width else f"{text[:width]}...")


def _told(unread: Counter[str]) -> list[str]:
    if not unread:
        return []
    told = "; ".join(f"{cell}, {count} times" for cell, count in unread.most_common(5))
    more = f"; and {len(unread) - 5} more" if len(unread) > 5 else ""
    return [f"{unread.total()} answers are no reading by the registered readout: {told}{more}"]


def _absent(plan: Sequence[PlannedCall], rows: Mapping[str, Any]) -> list[str]:
    absent = [call for call in plan if call.call_id not in rows]
    if not absent:
        return []
    there = {call.item for call in plan if call.call_id in rows}
    items = dict.fromkeys(call.item for call in absent if call.item not in there)
    every = len({call.item for call in plan})
    whole = f"; {len(items)} of {every} items are not there at all: {_some(items)}" if items else ""
    return [
        f"{len(absent)} of {len(plan)} planned readings are not in the table and count as "
        f"invalid{whole}"
    ]
