"""A column of a table as codes and labels, as numbers with reasons, as rankings.

Arrow's kernels, and pandas with them, take a third of a second of CPU to import. Whole numbers and
text with a dictionary, which is what a CSV usually gives, are read from their buffers without.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from judgeaudit.readings.sheet import Coded, Kind
from judgeaudit.tables.arrow_numbers import is_plain, values_and_nulls
from judgeaudit.tables.files import parse_ranking

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 1e60
"""Beyond it a score is out of scale: fourth powers of scores must stay finite."""

REASONS = ("empty", "unparsed", "out_of_scale", "not_a_permutation")
EMPTY, UNPARSED, OUT_OF_SCALE, NOT_A_PERMUTATION = range(4)


def plain_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an array as text, its dictionary decoded, lists and structs as JSON."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_nested(array.type):
        texts = [None if v is None else _as_json(v) for v in array.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return array.cast(pa.string())


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def coded(array: pa.ChunkedArray) -> Coded:
    """Return a column as codes and labels."""
    import pyarrow as pa

    if pa.types.is_integer(array.type):
        return _coded_integers(array)
    if pa.types.is_floating(array.type):
        from pyarrow import compute as pc

        array = pc.if_else(pc.is_nan(array), None, array)
        array = plain_text(array) if array.null_count < len(array) else array.cast(pa.string())
    if pa.types.is_nested(array.type) or str(array.type).endswith("_view"):
        array = plain_text(array)  # Arrow has no dictionary of these
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    whole = array.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], array.type)
    return Coded(_indices(whole.indices), whole.dictionary.to_pylist())


def _indices(indices: pa.Array) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return a dictionary's indices, -1 where there is none."""
    values, nulls = values_and_nulls(indices)
    return np.where(nulls, -1, values).astype(np.int32)


def _coded_integers(array: pa.ChunkedArray) -> Coded:
    values, nulls = values_and_nulls(array)
    labels, found = np.unique(values[~nulls], return_inverse=True)
    codes = np.full(values.size, -1, dtype=np.int32)
    codes[~nulls] = found
    return Coded(codes, labels.tolist())


def numbers(array: pa.ChunkedArray, kind: Kind) -> tuple[Any, Any]:
    """Return the numbers (nan where there is none) and the reasons (-1 where there is one)."""
    import pyarrow as pa

    kind_of = pa.types
    plain = any(
        is_kind(array.type)
        for is_kind in (kind_of.is_integer, kind_of.is_floating, kind_of.is_decimal,
                        kind_of.is_boolean, kind_of.is_null)
    )  # fmt: skip
    if not plain:  # text, but also dates, bytes and lists, which are no numbers
        column = coded(array)
        parsed = np.array([*(_float(label) for label in column.labels), np.nan])
        values = parsed[column.codes]
        empty = column.codes < 0
    else:
        whole = array if is_plain(array.type) else array.cast(pa.float64(), safe=False)
        values, empty = values_and_nulls(whole)
        values = np.where(empty, np.nan, values.astype(float))
    reason = np.full(values.size, -1, dtype=np.int32)
    reason[np.isnan(values)] = UNPARSED
    reason[empty] = EMPTY
    outside = np.abs(values) > LARGEST
    if kind == "probability":
        outside |= (values < 0) | (values > 1)
    reason[outside] = OUT_OF_SCALE
    values[outside] = np.nan
    return values, reason


def _float(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return float("nan")


def rankings(array: pa.ChunkedArray) -> Coded:
    """Return a column of rankings as codes; -1 where a value is none."""
    seen: dict[tuple[str, ...], int] = {}
    codes = np.full(len(array), -1, dtype=np.int32)
    for row, value in enumerate(array.to_pylist()):
        ranking = parse_ranking(value)
        if ranking is not None:
            codes[row] = seen.setdefault(ranking, len(seen))
    return Coded(codes, list(seen))


def same_candidates(item: Coded, answers: Coded | None, reason: Coded) -> Coded:
    """Mark rankings whose candidates are not those of the item's other rankings."""
    assert answers is not None
    sets = [frozenset(label) for label in answers.labels]
    by_item: dict[int, Counter[frozenset[str]]] = defaultdict(Counter)
    for at, code in zip(item.codes.tolist(), answers.codes.tolist(), strict=True):
        if code >= 0:
            by_item[at][sets[code]] += 1
    usual = {at: counts.most_common(1)[0][0] for at, counts in by_item.items()}
    codes = reason.codes.copy()
    for row, (at, code) in enumerate(zip(item.codes.tolist(), answers.codes.tolist(), strict=True)):
        if code >= 0 and sets[code] != usual[at]:
            codes[row] = NOT_A_PERMUTATION
    return Coded(codes, reason.labels)
