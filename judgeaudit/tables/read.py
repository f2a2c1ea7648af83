"""Somebody's table, from files or a data frame, into a `Long`: the one reader of every command.

Rules of this module:

* Only the columns that are asked for, and those that tell what was asked and when, are read.
* Ids (item, repeat, window, order, judge, group, task) are text as written (see `cells`); a row
  without item, repeat, window or order is refused.
* Several files without a repeat column are one run each, called by their metadata's `run` or by
  their names. The metadata of JSON lines counts as columns that repeats must share.
* No answer is `empty`, a score that is no number `unparsed`, a probability outside [0, 1] or a
  score beyond 1e60 `out_of_scale`: counted, never dropped, never 0.
* What was seen (ids, labels with counts, candidates) and what is doubtful of it is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.readings.repeats import CALLS, DECLARED, ORDERS
from judgeaudit.readings.sheet import Coded, Long, Places
from judgeaudit.tables import seen
from judgeaudit.tables.cells import NoCell
from judgeaudit.tables.columns import REASONS, coded, coded_any, holds_lost_digits, plain_text
from judgeaudit.tables.files import read_source
from judgeaudit.tables.roles import Roles, check_columns, resolved, roles_of
from judgeaudit.tables.runs import check_metadata, redrawn, run_of_files
from judgeaudit.tables.source import Source
from judgeaudit.tables.values import Column, Readings, read_values
from judgeaudit.tables.wide import forgotten, melted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Roles", "long_of", "read_frame", "read_long", "roles_of"]

KNOWN = DECLARED | CALLS


def read_long(paths: Sequence[Path], roles: Roles) -> Long:
    """Return the table in `paths` as a `Long`.

    Raises `InputError` naming file, row or column for what cannot be used.
    """
    if not paths:
        raise InputError("table", found="no table", remedy="give a file or a DataFrame")
    wanted, lists = roles.wanted(), roles.lists()
    return long_of([read_source(path, wanted, KNOWN, lists) for path in paths], roles)


def read_frame(frame: pd.DataFrame, roles: Roles) -> Long:
    """Return a data frame as a `Long`; raises as `read_long` does."""
    from judgeaudit.tables import frames

    return long_of([frames.read_frame(frame, roles.wanted(), KNOWN, roles.lists())], roles)


def long_of(sources: Sequence[Source], roles: Roles) -> Long:
    """Return tables that were read as one `Long`; raises as `read_long` does."""
    roles, values = resolved(sources[0], roles, len(sources))
    for source in sources:
        check_columns(source, roles, values)
    notes = [*dict.fromkeys(note for source in sources for note in source.notes), *roles.notes]
    notes += _forgotten(sources[0], roles, values)
    if len(values) > 1:
        roles, sources = _melted(sources, roles, values)
    columns = Columns(sources)
    several = len(sources) > 1 and roles.repeat is None
    if several and not roles.by:
        check_metadata(sources)
    _refuse_order(columns, roles)
    ids = _ids(columns, roles, run_of_files(sources) if several else columns.sole())
    readings = columns.readings(roles, ids["item"])
    notes += seen.ids({role: column for role, column in ids.items() if column.labels != [""]})
    notes += _shared(sources, ids["item"]) if several else []
    return Long(
        source=columns.name,
        kind=roles.kind,
        item=ids["item"],
        run=ids["repeat"],
        reason=Coded(readings.reason, REASONS),
        values=readings.values,
        answers=readings.answers,
        window=ids.get("window"),
        day=ids.get("day"),
        condition=ids.get("condition"),
        order=ids.get("order"),
        group=ids.get("group"),
        task=ids.get("task"),
        gold=readings.gold,
        by={name: columns.coded(name) for name in roles.by},
        declared=_declared(columns, roles),
        calls=columns.known(CALLS, {*roles.item, roles.repeat, roles.window, *roles.by}),
        notes=(*notes, *readings.notes),
        redrawn=redrawn(sources) if several else "",
        places=columns.places,
    )


def _melted(
    sources: Sequence[Source], roles: Roles, values: Sequence[str]
) -> tuple[Roles, list[Source]]:
    """Return roles and sources of a wide table as those of a long one."""
    value, across = f"{values[0]} ... {values[-1]}", f"column of {values[0]} ... {values[-1]}"
    wide: Any = {"value": value, roles.across: across}
    return replace(roles, **wide), [melted(source, values, value, across) for source in sources]


def _forgotten(source: Source, roles: Roles, values: Sequence[str]) -> Iterator[str]:
    used = [*roles.named(), *(name for name in source.header if name.lower() in KNOWN)]
    if len(values) > 1:
        yield f"{len(values)} columns of readings, one {roles.across} each: {', '.join(values[:8])}"
    if more := forgotten(source.header, values, used):
        told = ", ".join(repr(name) for name in more[:8])
        yield (
            f"columns {told} look like further columns of readings and were not read; name several "
            f"by --{roles.kind} {','.join([*values, *more][:8])}"
        )


def _shared(sources: Sequence[Source], item: Coded) -> Iterator[str]:
    ends = np.cumsum([source.rows for source in sources])[:-1]
    parts = [np.unique(codes).tolist() for codes in np.split(item.codes, ends)]
    return seen.files(parts, [source.path.name for source in sources])


class Columns:
    """The columns of all files, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        first, more = sources[0].path.name, len(sources) - 1
        self.name = f"{first} and {more} more" if more else first
        blocks = [(s.path.name, s.first_row, s.rows // s.copies, s.copies) for s in sources]
        self.places = Places(tuple(blocks))

    def array(self, name: str) -> pa.ChunkedArray:
        """Return a column; as text where the files give it different types."""
        import pyarrow as pa

        arrays = [source.table.column(name) for source in self.sources]
        if len(arrays) == 1:
            return arrays[0]
        if len({array.type for array in arrays}) > 1:
            arrays = [plain_text(array) for array in arrays]
        return pa.chunked_array([chunk for array in arrays for chunk in array.chunks])

    def sole(self) -> Coded:
        """Return the column of a facet that the table does not have."""
        return Coded(np.zeros(sum(source.rows for source in self.sources), dtype=np.int32), [""])

    def coded(self, name: str) -> Coded:
        """Return an identifier's column; raises `InputError` for cells that cannot be one."""
        with self._naming(name):
            column = coded(self.array(name))
        if any(name in s.lossy or holds_lost_digits(s.table.column(name)) for s in self.sources):
            found = "holds numbers beyond 2**53 as floats: their last digits are lost"
            raise InputError(self.name, f"column {name!r}", found, "write identifiers as text")
        return column

    def readings(self, roles: Roles, item: Coded) -> Readings:
        """Return the column of readings, with gold beside it."""
        gold = None if roles.gold is None else self.coded(roles.gold)
        with self._naming(roles.value):
            column = Column(self.name, self.array(roles.value), self.places.of)
            return read_values(column, roles, item, gold)

    def known(self, usual: Collection[str], used: Collection[str | None]) -> dict[str, Coded]:
        """Return the columns that are called like one of `usual` and play no part in `used`."""
        return {
            name: coded_any(self.array(name))
            for name in self.sources[0].header
            if name.lower() in usual and name not in used and self._everywhere(name)
        }

    def _everywhere(self, name: str) -> bool:
        return all(name in source.table.column_names for source in self.sources)

    @contextmanager
    def _naming(self, name: str) -> Iterator[None]:
        """Name the column of what is no cell."""
        try:
            yield
        except NoCell as error:
            remedy = "write text or a number in each cell"
            raise InputError(self.name, f"column {name!r}", f"holds {error}", remedy) from None


def _ids(columns: Columns, roles: Roles, run: Coded) -> dict[str, Coded]:
    """Return the columns of identifiers by their role, those that every row needs checked."""
    ids = {"item": _joint(columns, roles.item), "repeat": run}
    for role in ("repeat", "window", "day", "condition", "order", "group", "task"):
        if (name := getattr(roles, role)) is not None:
            ids[role] = columns.coded(name)
    for role in ("item", "repeat", "window", "day", "condition", "order"):
        if role in ids:
            _refuse_empty(columns, ids[role], role)
    return ids


def _refuse_empty(columns: Columns, column: Coded, role: str) -> None:
    empty = np.flatnonzero(column.codes < 0)
    if empty.size:
        source, row = columns.places.of(int(empty[0]))
        raise InputError(source, row, f"no {role}", "every reading needs one")


def _joint(columns: Columns, names: Sequence[str]) -> Coded:
    """Return several columns as one: their labels with commas between."""
    if len(names) == 1:
        return columns.coded(names[0])
    parts = [columns.coded(name) for name in names]
    for part, name in zip(parts, names, strict=True):
        _refuse_empty(columns, part, name)
    sizes = [len(part.labels) for part in parts]
    keys = np.ravel_multi_index([part.codes.astype(np.int64) for part in parts], sizes)
    found, codes = np.unique(keys, return_inverse=True)
    places = zip(*np.unravel_index(found, sizes), strict=True)
    labels = [", ".join(p.labels[c] for p, c in zip(parts, row, strict=True)) for row in places]
    return Coded(codes.astype(np.int32), labels)


def _refuse_order(columns: Columns, roles: Roles) -> None:
    name = roles.repeat
    if name and name.lower() in ORDERS:
        found = "is an order of candidates: readings in two orders are no repeats"
        raise InputError(columns.name, f"column {name!r}", found, f"say --order {name}")


def _declared(columns: Columns, roles: Roles) -> dict[str, Coded]:
    used = {*roles.item, roles.repeat, roles.window, roles.order, roles.gold, roles.value}
    found = columns.known(DECLARED, used)
    if roles.digest and roles.digest not in found:
        # Under the name that evidence knows, whatever the table calls it.
        found["digest"] = coded_any(columns.array(roles.digest))
    return found
