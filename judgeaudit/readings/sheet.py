"""Somebody's table of judge outputs as columns, and laid out as items x runs.

`Long` holds the columns of a file as whole codes and numbers; the command line reads files into it.
`lay_out` gives a `Sheet`: which row stands for which item in which run. No row is dropped: a cell
without a row is `absent`, a row without a valid value keeps its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Kind = Literal["score", "verdict", "ranking", "probability"]

ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as whole codes into `labels`; -1 where the cell is empty."""

    codes: NDArray[np.int32]
    labels: Sequence[Any]

    def label(self, row: int) -> str:
        """Return a row's label as text."""
        code = int(self.codes[row])
        return "" if code < 0 else str(self.labels[code])


@dataclass(frozen=True, slots=True)
class Places:
    """Where a table's rows stand: blocks of (source, first row, rows), one after the other.

    A block of a wide table holds its rows `copies` times, one column of readings after the other.
    """

    blocks: tuple[tuple[str, int, int, int], ...]

    def of(self, row: int) -> tuple[str, str]:
        """Return the source and the row's name there, as a message gives them."""
        for source, first, rows, copies in self.blocks:
            if row < rows * copies:
                return source, f"row {row % rows + first}"
            row -= rows * copies
        raise IndexError(row)


@dataclass(frozen=True, slots=True)
class Long:
    """A long table: one row a reading. What `tables` gives and `lay_out` takes.

    How it becomes the readings table (`readings.table`): `item`, `group`, `task`, `gold`, `day`,
    `condition` and `window` are columns of that name; `run` is `repeat`, `order` is `arm`; `values`
    is `number`; `answers` is `category`, for a ranking `ranking`; `reason` is `reason`, with
    `status` "ok" where its code is -1; `by` columns split the table. A label stands where a code
    is, null where it is -1.

    `values` are numbers (nan where invalid) for scores and probabilities, `answers` codes for
    verdicts and rankings (-1 where invalid). `reason` codes why a row is invalid, -1 where valid.
    `declared` are columns that repeats of one item must share (prompt, parameters, served model,
    candidate order); `calls` are columns that tell separate calls apart (ids, times). `places` says
    where a row stands in which file, for messages.
    """

    source: str
    kind: Kind
    item: Coded
    run: Coded
    reason: Coded
    values: Floats | None = None
    answers: Coded | None = None
    window: Coded | None = None
    order: Coded | None = None
    group: Coded | None = None
    task: Coded | None = None
    gold: Coded | None = None
    day: Coded | None = None
    condition: Coded | None = None
    by: Mapping[str, Coded] = field(default_factory=dict)
    declared: Mapping[str, Coded] = field(default_factory=dict)
    calls: Mapping[str, Coded] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    redrawn: str = ""
    places: Places | None = None

    def place(self, row: int) -> tuple[str, str]:
        """Return the source and the row's name there."""
        return (self.source, f"row {row}") if self.places is None else self.places.of(row)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.item.codes.size)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One part of a table, laid out: `index` (items, columns) holds row positions, -1 if absent.

    A column is a run within a condition, a window and an order; `conditions`, `windows`, `orders`
    and `runs` (columns,) are their codes. `items` are codes into the table's item labels.
    """

    long: Long
    scope: str
    index: Ints
    items: Ints
    conditions: Ints
    windows: Ints
    orders: Ints
    runs: Ints

    @property
    def valid(self) -> Bools:
        """Cells with a valid reading."""
        ok = np.append(self.long.reason.codes < 0, False)
        return np.asarray(ok[self.index])

    def scores(self) -> Floats:
        """Return the numbers, (items, columns), nan where there is none."""
        assert self.long.values is not None
        return np.where(self.valid, np.append(self.long.values, np.nan)[self.index], np.nan)

    def codes(self, *, invalid_as_category: bool = False) -> tuple[Ints, int]:
        """Return answers as codes (-1 for none) and how many categories there are.

        With `invalid_as_category` a row without a valid answer is a category of its own; a cell
        without a row stays -1.
        """
        assert self.long.answers is not None
        answers = self.long.answers
        codes = np.append(answers.codes, -1)[self.index].astype(np.int64)
        codes = np.where(self.valid, codes, -1)
        used = np.unique(codes[codes >= 0])
        compact = np.where(codes >= 0, np.searchsorted(used, codes), -1)
        categories = int(used.size)
        if invalid_as_category:
            lost = (self.index >= 0) & ~self.valid
            if lost.any():
                compact = np.where(lost, categories, compact)
                categories += 1
        return compact, categories

    def per_item(self, column: Coded | None) -> Ints | None:
        """Return one code an item of a column that belongs to items, or None without the column."""
        if column is None:
            return None
        cells = np.append(column.codes, -1)[self.index].astype(np.int64)
        return np.asarray(cells.max(axis=1))

    @property
    def asked_twice(self) -> bool:
        """True where at least one item has two rows: without one nothing tells of repeats."""
        return bool(((self.index >= 0).sum(axis=1) > 1).any())

    def column_name(self, column: int) -> str:
        """Return what a column stands for: its run, and its order and window where they differ."""
        named = []
        for facet, codes, labels in (
            ("condition", self.conditions, self.long.condition),
            ("window", self.windows, windows_of(self.long)),
            ("order", self.orders, self.long.order),
            ("run", self.runs, self.long.run),
        ):
            code = int(codes[column]) - 1
            if labels is not None and code >= 0 and str(labels.labels[code]):
                several = np.unique(codes).size > 1
                named += [f"{facet} {labels.labels[code]}"] if several or facet == "run" else []
        return ", ".join(named)

    def excluded(self) -> dict[str, int]:
        """Return how many cells have no valid reading, by reason."""
        found = {ABSENT: int((self.index < 0).sum())}
        reasons = np.append(self.long.reason.codes, -1)[self.index]
        for code, label in enumerate(self.long.reason.labels):
            found[str(label)] = int((reasons == code).sum())
        return {reason: count for reason, count in found.items() if count}

    def columns_of(self, facet: Ints, value: int) -> Ints:
        """Return the columns at which a facet (`windows`, `orders`) has `value`."""
        return np.flatnonzero(facet == value)


def windows_of(long: Long) -> Coded | None:
    """Return what tells windows apart: their names, with the day where one stands on several."""
    if long.window is None or long.day is None:
        return long.window if long.day is None else long.day
    days, windows = long.day.codes.astype(np.int64), long.window.codes.astype(np.int64)
    joint = (windows + 1) * (len(long.day.labels) + 1) + days + 1
    pairs, codes = np.unique(joint, return_inverse=True)
    if pairs.size == np.unique(windows).size:
        return long.window
    first = np.unique(codes, return_index=True)[1]
    labels = [f"{long.day.label(row)}, {long.window.label(row)}" for row in first]
    return Coded(codes.astype(np.int32), labels)


def parts(long: Long) -> list[tuple[str, Bools]]:
    """Return each part of the table that `by` names, with its rows; one part `all` without it."""
    if not long.by:
        return [("all", np.ones(long.rows, dtype=bool))]
    names = list(long.by)
    sizes = [len(long.by[name].labels) + 1 for name in names]
    joint = np.ravel_multi_index([long.by[n].codes.astype(np.int64) + 1 for n in names], sizes)
    found = []
    for value in np.unique(joint):
        rows = joint == value
        first = int(np.flatnonzero(rows)[0])
        scope = ", ".join(f"{name}={long.by[name].label(first)}" for name in names)
        found.append((scope, rows))
    return found


def lay_out(long: Long, scope: str, rows: Bools) -> Sheet:
    """Return one part as items x columns. Raises `InputError` for a key that stands twice."""
    chosen = np.flatnonzero(rows)
    items, item_at = np.unique(long.item.codes[chosen], return_inverse=True)
    facets = [
        _facet(column, chosen)
        for column in (long.condition, windows_of(long), long.order, long.run)
    ]
    sizes = [int(f.max()) + 1 for f in facets]
    joint = np.ravel_multi_index(facets, sizes)
    columns, column_at = np.unique(joint, return_inverse=True)
    index = np.full((items.size, columns.size), -1, dtype=np.int64)
    index[item_at, column_at] = chosen
    if int((index >= 0).sum()) < chosen.size:
        _refuse_double(long, chosen, index[item_at, column_at])
    times = (f.astype(np.int64) for f in np.unravel_index(columns, sizes))
    return Sheet(long, scope, index, items.astype(np.int64), *times)


def _facet(column: Coded | None, chosen: Ints) -> Ints:
    if column is None:
        return np.zeros(chosen.size, dtype=np.int64)
    return column.codes[chosen].astype(np.int64) + 1


def _refuse_double(long: Long, chosen: Ints, standing: Ints) -> None:
    lost = int(chosen[np.flatnonzero(standing != chosen)[0]])
    kept = int(standing[np.flatnonzero(standing != chosen)[0]])
    row, other = sorted((lost, kept))
    where = f"item {long.item.label(row)[:80]!r}, run {long.run.label(row)[:80]!r}"
    source, place = long.place(other)
    first, standing_place = long.place(row)
    there = standing_place if first == source else f"{first}, {standing_place}"
    raise InputError(
        source,
        place,
        f"{where} stands already in {there}",
        "name what tells the rows apart with --repeat, --by, --window or --order",
    )
