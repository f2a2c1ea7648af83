"""Somebody's table from its files: CSV, TSV, Parquet, JSON lines, one or several, into a `Long`.

Rules of this module:

* Only the columns that are asked for, and those that tell what was asked and when, are read.
* Several files without a repeat column are one run each, called by their metadata's `run` or by
  their names. The metadata of JSON lines (a first line with `"_record": "metadata"`) counts as
  columns that repeats must share.
* An empty value is `empty`, a score that is no number `unparsed`, a probability outside [0, 1] or
  a score beyond 1e60 `out_of_scale`: counted, never dropped, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Coded, Kind, Long
from judgeaudit.tables.columns import (
    EMPTY,
    REASONS,
    UNPARSED,
    coded,
    numbers,
    plain_text,
    rankings,
    same_candidates,
)
from judgeaudit.tables.files import Source, read_source

if TYPE_CHECKING:
    import pyarrow as pa

GUESSES: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "question_id", "example_id", "id"),
    "repeat": ("repeat", "run", "replicate", "trial", "run_id", "pass"),
}
NOT_DECLARED = frozenset({"_record", "run", "n_items", "note", "notes", "date", "time", "seconds"})
REDRAWN = {"datasets_map_cache": "fresh", "candidate_order": "redrawn", "shuffle": "fresh"}
"""Metadata that declares an order of candidates drawn anew in each run."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column plays which part. `item` and `by` may name several columns."""

    kind: Kind
    value: str
    item: tuple[str, ...] = ()
    repeat: str | None = None
    by: tuple[str, ...] = ()
    window: str | None = None
    order: str | None = None
    gold: str | None = None
    group: str | None = None
    task: str | None = None
    digest: str | None = None
    notes: list[str] = field(default_factory=list)

    def named(self) -> list[str]:
        """Return every column that was named."""
        single = (self.repeat, self.window, self.order, self.gold, self.group, self.task)
        many = [*self.item, *self.by, self.value, *(name for name in single if name)]
        return list(dict.fromkeys([*many, *([self.digest] if self.digest else [])]))


def read_long(paths: Sequence[Path], roles: Roles) -> Long:
    """Return the table in `paths` as a `Long`.

    Raises `InputError` naming file, row or column for what cannot be used.
    """
    return long_of([read_source(path, roles.named(), _known_names()) for path in paths], roles)


def long_of(sources: Sequence[Source], roles: Roles) -> Long:
    """Return tables that were read as one `Long`; raises as `read_long` does."""
    roles = _guessed(sources[0], roles, len(sources))
    for source in sources:
        _check_columns(source, roles)
    columns = _Columns(sources)
    several = len(sources) > 1 and roles.repeat is None
    run = _run_of_files(sources) if several else columns.coded(roles.repeat)
    if several and not roles.by:
        _check_metadata(sources)
    if roles.repeat and _is_order(roles.repeat):
        raise InputError(
            columns.name,
            f"column {roles.repeat!r}",
            "is an order of candidates: readings in two orders are no repeats",
            f"say --order {roles.repeat}",
        )
    values, answers, reason = _values(columns, roles, sources)
    item = columns.joint(roles.item)
    if roles.kind == "ranking":
        reason = same_candidates(item, answers, reason)
    return Long(
        source=columns.name,
        kind=roles.kind,
        item=_no_empty(item, columns.name, sources[0].first_row, "item"),
        run=run,
        reason=reason,
        values=values,
        answers=answers,
        window=columns.maybe(roles.window),
        order=columns.maybe(roles.order),
        group=columns.maybe(roles.group),
        task=columns.maybe(roles.task),
        gold=columns.maybe(roles.gold),
        by={name: columns.coded(name) for name in roles.by},
        declared=_declared(columns, roles),
        calls=_calls(columns, roles),
        notes=tuple(roles.notes),
        redrawn=_redrawn(sources) if several else "",
        first_row=sources[0].first_row,
    )


class _Columns:
    """The columns of all files, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        first = sources[0].path
        self.name = first.name if len(sources) == 1 else f"{first.name} and {len(sources) - 1} more"

    def has(self, name: str) -> bool:
        return all(name in source.table.column_names for source in self.sources)

    def array(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa

        arrays = [source.table.column(name) for source in self.sources]
        if len(arrays) == 1:
            return arrays[0]
        kinds = {array.type for array in arrays}
        if len(kinds) > 1:
            arrays = [plain_text(array) for array in arrays]
        return pa.chunked_array([chunk for array in arrays for chunk in array.chunks])

    def coded(self, name: str | None) -> Coded:
        if name is None:
            rows = sum(source.table.num_rows for source in self.sources)
            return Coded(np.zeros(rows, dtype=np.int32), [""])
        return coded(self.array(name))

    def maybe(self, name: str | None) -> Coded | None:
        return None if name is None else self.coded(name)

    def joint(self, names: Sequence[str]) -> Coded:
        if len(names) == 1:
            return self.coded(names[0])
        parts = [self.coded(name) for name in names]
        sizes = [len(part.labels) + 1 for part in parts]
        keys = np.ravel_multi_index([p.codes.astype(np.int64) + 1 for p in parts], sizes)
        found, codes = np.unique(keys, return_inverse=True)
        places = np.unravel_index(found, sizes)
        labels = [
            ", ".join(
                "" if c == 0 else str(p.labels[c - 1]) for p, c in zip(parts, row, strict=True)
            )
            for row in zip(*places, strict=True)
        ]
        return Coded(codes.astype(np.int32), labels)


def _known_names() -> frozenset[str]:
    from judgeaudit.readings.repeats import CALLS, DECLARED

    return DECLARED | CALLS


def _is_order(name: str) -> bool:
    from judgeaudit.readings.repeats import ORDERS

    return name.lower() in ORDERS


def _guessed(source: Source, roles: Roles, files: int) -> Roles:
    """Return the roles with item and repeat found by their usual names, saying so."""
    from dataclasses import replace

    item, repeat = roles.item, roles.repeat
    if not item:
        item = (_find("item", source, "--item"),)
        roles.notes.append(f"item: column {item[0]!r} (by its name; --item says otherwise)")
    free = [name for name in GUESSES["repeat"] if name not in (*item, *roles.by, roles.window)]
    if repeat is None and files == 1 and roles.order is None:
        repeat = next((name for name in free if name in source.header), None)
        if repeat:
            roles.notes.append(f"repeat: column {repeat!r} (by its name; --repeat says otherwise)")
    return replace(roles, item=item, repeat=repeat)


def _find(role: str, source: Source, option: str) -> str:
    for name in GUESSES[role]:
        if name in source.header:
            return name
    raise InputError(
        source.path.name,
        "",
        f"no column for the {role}",
        f"say {option} COLUMN; {source.columns()}",
    )


def _check_columns(source: Source, roles: Roles) -> None:
    for name in roles.named():
        if name not in source.header:
            raise InputError(source.path.name, f"column {name!r}", "missing", source.columns())


def _run_of_files(sources: Sequence[Source]) -> Coded:
    names = [str(source.meta.get("run", source.path.stem)) for source in sources]
    if len(set(names)) < len(names):
        names = [source.path.stem for source in sources]
    sizes = [source.table.num_rows for source in sources]
    return Coded(np.repeat(np.arange(len(names), dtype=np.int32), sizes), names)


def _check_metadata(sources: Sequence[Source]) -> None:
    """Refuse files as runs whose metadata differ in more than the run's name."""
    first = sources[0]
    for other in sources[1:]:
        for key in first.meta.keys() | other.meta.keys():
            mine, theirs = first.meta.get(key), other.meta.get(key)
            if key not in NOT_DECLARED and mine != theirs:
                raise InputError(
                    other.path.name,
                    f"metadata {key!r}",
                    f"{theirs!r} differs from {mine!r} in {first.path.name}",
                    "files that differ in it are no repeats of one request",
                )


def _redrawn(sources: Sequence[Source]) -> str:
    """Return why the files' candidate orders differ, as their metadata declare."""
    for source in sources:
        for key, value in REDRAWN.items():
            if str(source.meta.get(key)) == value:
                return (
                    f"metadata {key!r} is {value!r}: the candidate order was drawn anew in each "
                    "run, so the requests differ"
                )
    return ""


def _no_empty(item: Coded, source: str, first_row: int, role: str) -> Coded:
    empty = np.flatnonzero(item.codes < 0)
    if empty.size:
        row = int(empty[0]) + first_row
        raise InputError(source, f"row {row}", f"no {role}", "every reading needs one")
    return item


def _values(
    columns: _Columns, roles: Roles, sources: Sequence[Source]
) -> tuple[np.ndarray[Any, np.dtype[np.float64]] | None, Coded | None, Coded]:
    array = columns.array(roles.value)
    if roles.kind in ("score", "probability"):
        values, reason = numbers(array, roles.kind)
        _refuse_no_value(columns, roles, reason)
        return values, None, Coded(reason, REASONS)
    answers = rankings(array) if roles.kind == "ranking" else coded(array)
    empty = array.is_null().to_numpy() if roles.kind == "ranking" else answers.codes < 0
    reason = np.where(answers.codes < 0, np.where(empty, EMPTY, UNPARSED), -1)
    _refuse_no_value(columns, roles, reason)
    return None, answers, Coded(reason.astype(np.int32), REASONS)


def _refuse_no_value(columns: _Columns, roles: Roles, reason: np.ndarray[Any, Any]) -> None:
    """Raise `InputError` for a value column without any value: the wrong column, or option."""
    if (reason < 0).any():
        return
    word, remedy = {
        "ranking": ("ranking", "write A>B>C, a JSON list, or ids with commas or spaces between"),
        "verdict": ("verdict", "name the column that holds them"),
    }.get(roles.kind, ("number", "for verdicts say --verdict, for rankings --ranking"))
    raise InputError(columns.name, f"column {roles.value!r}", f"holds no {word}", remedy)


def _declared(columns: _Columns, roles: Roles) -> dict[str, Coded]:
    from judgeaudit.readings.repeats import DECLARED

    used = {*roles.item, roles.repeat, roles.window, roles.order, roles.gold, roles.value}
    names = [
        name
        for name in columns.sources[0].header
        if name.lower() in DECLARED and name not in used and columns.has(name)
    ]
    found = {name: columns.coded(name) for name in names}
    if roles.digest and roles.digest not in found:
        # Under the name that evidence knows, whatever the table calls it.
        found["digest"] = columns.coded(roles.digest)
    return found


def _calls(columns: _Columns, roles: Roles) -> dict[str, Coded]:
    from judgeaudit.readings.repeats import CALLS

    used = {*roles.item, roles.repeat, roles.window, *roles.by}
    return {
        name: columns.coded(name)
        for name in columns.sources[0].header
        if name.lower() in CALLS and name not in used and columns.has(name)
    }
