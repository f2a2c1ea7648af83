"""Rankings in a table's cells.

The forms of a ranking, best candidate first (`docs/tables.md` lists them too):

* a list of ids, or its JSON: `["b", "a", "c"]`;
* ids with one kind of separator between them: `b > a > c`, `b, a, c`, `b; a; c` or `b|a|c`.

It has two candidates or more, on one line. Numbered lists, sentences, ties (`a = b`) and mixed
separators are none of these and refused with their row: what they mean would be a guess. A ranking
that names a candidate twice, or other candidates than the item's other rankings, is counted as
`not_a_permutation`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Coded
from judgeaudit.tables.columns import NOT_A_PERMUTATION, Ints, answers

if TYPE_CHECKING:
    import pyarrow as pa

    from judgeaudit.tables.cells import Words

SEPARATORS = (">", ",", ";", "|")
FORMS = 'write b > a > c, a JSON list ["b", "a", "c"], or ids with commas between'
_NUMBERED = re.compile(
    r"(([-*•]|rank|place|position|no\.?)\s*)?#?[0-9]+\s*[.):]\s*[^\s0-9].*|[-*•]\s.*", re.IGNORECASE
)
_TIE = re.compile(r"[=~≈\n\r]")


def as_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of lists as a column of their JSON, any other as it is."""
    import pyarrow as pa

    from judgeaudit.tables.cells import ranking_text

    kind = array.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)):  # fmt: skip
        return array
    texts = [ranking_text(value) for value in array.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def candidates_in(text: str) -> tuple[str, ...] | None:
    """Return the ids in a cell, best first, doubles included; None where it is no such form."""
    written = text.strip()
    if written.startswith("["):
        return _in_list(written)
    marks = [mark for mark in SEPARATORS if mark in written]
    if len(marks) != 1 or _TIE.search(written):
        return None
    ids = tuple(part.strip() for part in written.split(marks[0]))
    return None if not all(ids) or any(map(_NUMBERED.fullmatch, ids)) else ids


def _in_list(text: str) -> tuple[str, ...] | None:
    try:
        found = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(found, list) and len(found) > 1
    if not whole or not all(isinstance(entry, str) and entry.strip() for entry in found):
        return None
    return tuple(entry.strip() for entry in found)


def read_rankings(
    every: Coded, words: Words, place: Callable[[int], tuple[str, str]]
) -> tuple[Coded, Ints, dict[str, int]]:
    """Return a column's rankings as codes of tuples, the reasons, and the candidates' counts.

    `place(row)` gives the source and the row's name for the error of a cell in no known form.
    """
    column, reason = answers(every, words)
    seen: dict[tuple[str, ...], int] = {}
    codes = []
    for code, label in enumerate(column.labels):
        ids = candidates_in(label)
        if ids is None:
            row = int(np.flatnonzero(column.codes == code)[0])
            raise InputError(*place(row), f"{_clip(label)} is no ranking", FORMS)
        codes.append(seen.setdefault(ids, len(seen)) if len(set(ids)) == len(ids) else -1)
    found = np.array([*codes, -1], dtype=np.int32)[column.codes]
    reason[(found < 0) & (reason < 0)] = NOT_A_PERMUTATION
    return Coded(found, list(seen)), reason, _counts(found, list(seen))


def _counts(codes: Ints, rankings: list[tuple[str, ...]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for ranking, count in zip(rankings, np.bincount(codes[codes >= 0], minlength=len(rankings)),
                              strict=True):  # fmt: skip
        counts.update(dict.fromkeys(ranking, int(count)))
    return dict(counts.most_common())


def _clip(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else f"{text[:width]}...")


def same_candidates(item: Coded, found: Coded, reason: Ints) -> tuple[Ints, int]:
    """Mark rankings whose candidates are not those of the item's other rankings.

    Returns the reasons, and how many different sets of candidates the items have.
    """
    sets = [frozenset(label) for label in found.labels]
    by_item: dict[int, Counter[frozenset[str]]] = defaultdict(Counter)
    pairs = list(zip(item.codes.tolist(), found.codes.tolist(), strict=True))
    for at, code in pairs:
        if code >= 0:
            by_item[at][sets[code]] += 1
    usual = {at: counts.most_common(1)[0][0] for at, counts in by_item.items()}
    marked = reason.copy()
    for row, (at, code) in enumerate(pairs):
        if code >= 0 and sets[code] != usual[at]:
            marked[row] = NOT_A_PERMUTATION
    return marked, len(set(usual.values()))
