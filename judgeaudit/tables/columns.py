"""A column of a table as codes and labels, or as numbers with reasons.

Arrow's kernels, and pandas with them, take a third of a second of CPU to import. Whole numbers and
text with a dictionary, which is what a CSV gives, are read from their buffers without.

Labels are always text (see `cells`), and equal text is one label. Where all of a column's labels
are numbers they stand in the order of the numbers, else in the order in which they first appear:
so that the same rows give the same columns in every format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.readings.sheet import Coded, Kind
from judgeaudit.tables.arrow_numbers import is_plain, values_and_nulls
from judgeaudit.tables.cells import EXACT, NoCell, Words, any_text, cell_text
from judgeaudit.tables.decimals import number

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 1e60
"""Beyond it a score is out of scale: fourth powers of scores must stay finite."""

REASONS = ("empty", "unparsed", "out_of_scale", "not_a_permutation")
EMPTY, UNPARSED, OUT_OF_SCALE, NOT_A_PERMUTATION = range(4)

Ints = NDArray[np.int32]


def coded(array: pa.ChunkedArray) -> Coded:
    """Return a column as codes and labels; raises `NoCell` for a type that holds no cells."""
    if is_plain(array.type):
        values, nulls = values_and_nulls(array)
        labels, found = np.unique(values[~nulls], return_inverse=True)
        codes = np.full(values.size, -1, dtype=np.int32)
        codes[~nulls] = found
        # A narrow float is written in its own shortest digits: .1 and not .10000000149.
        narrow = labels.dtype.kind == "f" and labels.dtype.itemsize < 8
        return merged(codes, [float(str(v)) for v in labels] if narrow else labels.tolist())
    whole = _dictionary(array)
    values, nulls = values_and_nulls(whole.indices)
    return merged(np.where(nulls, -1, values).astype(np.int32), _pylist(whole.dictionary))


def coded_any(array: pa.ChunkedArray) -> Coded:
    """Return a column of any type as codes and labels, lists and objects as their JSON."""
    try:
        return coded(array)
    except NoCell:
        texts = [any_text(value) for value in array.to_pylist()]
        places = {text: code for code, text in enumerate(dict.fromkeys(texts)) if text is not None}
        codes = np.array([-1 if t is None else places[t] for t in texts], dtype=np.int32)
        return merged(codes, list(dict.fromkeys(texts)))


def plain_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text, so that columns of several types can stand one below the other."""
    import pyarrow as pa

    return pa.chunked_array([pa.array([any_text(v) for v in array.to_pylist()], pa.string())])


def _pylist(values: pa.Array) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(values.type) and values.type.unit == "ns":
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False)
    return list(values.to_pylist())


def _dictionary(array: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column of any type but plain numbers with its dictionary, as one array."""
    import pyarrow as pa

    kind = array.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_nested(value):
        raise NoCell("lists" if pa.types.is_list(value) else "objects")
    if "binary" in str(value):
        raise NoCell("bytes")
    if pa.types.is_null(kind) or str(kind).endswith("_view"):
        array = array.cast(pa.string())  # Arrow has no dictionary of these
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    whole = array.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], array.type)
    return whole


def merged(codes: Ints, values: Sequence[Any]) -> Coded:
    """Return codes into labels that differ, ordered; -1 for what holds no text."""
    texts = [cell_text(value) for value in values]
    labels = list(dict.fromkeys(text for text in texts if text is not None and text.strip()))
    # Only where something is to be moved: most columns stay as they are.
    labels = _ordered(labels)
    if labels == texts:
        return Coded(codes, labels)
    places = {label: code for code, label in enumerate(labels)}
    moved = np.array([*(places.get(text, -1) for text in texts), -1], dtype=np.int32)  # type: ignore[arg-type]  # None is in no dictionary
    return Coded(moved[codes], labels)


def _ordered(labels: list[str]) -> list[str]:
    numbers = []
    for label in labels:
        found = number(label)
        if found is None:
            return labels
        numbers.append(found)
    return [label for _, label in sorted(zip(numbers, labels, strict=True))]


def holds_lost_digits(array: pa.ChunkedArray) -> bool:
    """Return whether a column of floats is beyond the whole numbers that floats tell apart."""
    import pyarrow as pa

    if not pa.types.is_floating(array.type):
        return False
    values, nulls = values_and_nulls(array)
    finite = values[~nulls & np.isfinite(values)]
    return bool((np.abs(finite) > EXACT).any())


def answers(column: Coded, words: Words) -> tuple[Coded, Ints]:
    """Return a column's labels without what is no answer, and the reasons (-1 for none)."""
    kept = [label for label in column.labels if _reason(label, words) < 0]
    places = {label: code for code, label in enumerate(kept)}
    moved = [places.get(label, -1) for label in column.labels]
    reasons = [_reason(label, words) for label in column.labels]
    codes, reason = (_mapped(found, column.codes, last) for found, last in
                     ((moved, -1), (reasons, EMPTY)))  # fmt: skip
    return Coded(codes, kept), reason


def _reason(label: str, words: Words) -> int:
    if words.is_missing(label):
        return EMPTY
    return UNPARSED if label.strip() in words.invalid else -1


def _mapped(found: Sequence[int], codes: Ints, last: int) -> Ints:
    return np.array([*found, last], dtype=np.int32)[codes]


def numbers(
    array: pa.ChunkedArray, kind: Kind, words: Words, decimal: str
) -> tuple[NDArray[np.float64], Ints]:
    """Return the numbers (nan where there is none) and the reasons (-1 where there is one)."""
    if is_plain(array.type):
        values, empty = values_and_nulls(array)
        values = np.where(empty, np.nan, values.astype(float))
        reason = np.where(np.isnan(values), EMPTY, -1).astype(np.int32)
    else:
        column, reason = answers(coded(array), words)
        parsed = [number(label, decimal) for label in column.labels]
        values = np.array([*(np.nan if v is None else v for v in parsed), np.nan])[column.codes]
        reason[np.isnan(values) & (reason < 0)] = UNPARSED
    outside = np.abs(values) > LARGEST
    if kind == "probability":
        outside |= (values < 0) | (values > 1)
    reason[outside] = OUT_OF_SCALE
    values[outside] = np.nan
    return values, reason
