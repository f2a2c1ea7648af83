"""The column of readings: numbers, verdicts or rankings, why there is none, and what to tell.

No answer (see `cells`) is `empty`; text that is no number `unparsed`, as are the words declared
invalid; a probability outside [0, 1] and a score beyond 1e60 `out_of_scale`. A column without any
reading is refused: it is the wrong column, or the wrong option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Coded
from judgeaudit.tables import rankings, seen
from judgeaudit.tables.arrow_numbers import is_plain
from judgeaudit.tables.columns import UNPARSED, Ints, answers, coded, numbers
from judgeaudit.tables.decimals import decimal_of, number
from judgeaudit.tables.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """The column of readings as it stands: its cells, and what messages call it."""

    source: str
    array: pa.ChunkedArray
    place: Callable[[int], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Readings:
    """What a column of readings holds: numbers, or codes of answers; reasons; notes.

    `gold` is the right answer a row, read by the same rules.
    """

    reason: Ints
    values: NDArray[np.float64] | None = None
    answers: Coded | None = None
    gold: Coded | None = None
    notes: Sequence[str] = ()


def read_values(column: Column, roles: Roles, item: Coded, gold: Coded | None) -> Readings:
    """Return the readings; raises `NoCell` for a type that holds none, else `InputError`."""
    if roles.kind in ("score", "probability"):
        found = _numbers(column, roles, gold)
    elif roles.kind == "verdict":
        found = _verdicts(column, roles, gold)
    else:
        found = _rankings(column, roles, item, gold)
    if not (found.reason < 0).any():
        raise _no_reading(column, roles, found.notes)
    return found


def _no_reading(column: Column, roles: Roles, notes: Sequence[str]) -> InputError:
    """Return the error of a column without a reading; the last note may say what its cells are."""
    word, remedy = {
        "ranking": ("ranking", rankings.FORMS),
        "verdict": ("verdict", "name the column that holds them"),
    }.get(roles.kind, ("number", "for verdicts say --verdict, for rankings --ranking"))
    if told := [note for note in notes if "--decimal" in note]:
        remedy = told[0].removeprefix(f"column {roles.value!r}: ")
    return InputError(column.source, f"column {roles.value!r}", f"holds no {word}", remedy)


def _numbers(column: Column, roles: Roles, gold: Coded | None) -> Readings:
    decimal, notes = roles.decimal or ".", []
    text = None if is_plain(column.array.type) else coded(column.array)
    if text is not None:
        if roles.decimal is None and (decimal := decimal_of(text.labels)) == ",":
            notes.append(f"column {roles.value!r}: numbers are read with a decimal comma")
        notes += seen.words(text, roles.words, roles.value, labels=False)
    values, reason = numbers(column.array, roles.kind, roles.words, decimal)
    if text is not None:
        lost = Coded(np.where(reason == UNPARSED, text.codes, -1).astype(np.int32), text.labels)
        notes += seen.no_numbers(seen.counts(lost), roles.value, decimal)
    if gold is not None:
        gold = Coded(gold.codes, [_plain(label, decimal) for label in gold.labels])
    return Readings(reason, values=values, gold=gold, notes=notes)


def _plain(label: str, decimal: str) -> str:
    found = number(label, decimal)
    return label if found is None else repr(found)


def _verdicts(column: Column, roles: Roles, gold: Coded | None) -> Readings:
    every = coded(column.array)
    found, reason = answers(every, roles.words)
    right = None if gold is None else answers(gold, roles.words)[0]
    notes = [
        *seen.words(every, roles.words, roles.value, labels=True),
        *seen.labels(seen.counts(found), "labels", right.labels if right else ()),
        *seen.numbers(seen.counts(found), roles.value),
    ]
    return Readings(reason, answers=found, gold=right, notes=notes)


def _rankings(column: Column, roles: Roles, item: Coded, gold: Coded | None) -> Readings:
    array = rankings.as_text(column.array)
    every = coded(array)
    found, reason, candidates = rankings.read_rankings(every, roles.words, column.place)
    reason, sets = rankings.same_candidates(item, found, reason)
    notes = [
        *seen.words(every, roles.words, roles.value, labels=False),
        *seen.labels(candidates, "candidates"),
    ]
    if sets > 1:
        notes.append(f"items are ranked among {sets} different sets of candidates")
    return Readings(reason, answers=found, gold=gold, notes=notes)
