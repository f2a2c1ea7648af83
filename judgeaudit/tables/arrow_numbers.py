"""Arrow's numbers as NumPy arrays, read from their buffers.

`to_numpy`, `is_null` and their like import pandas or Arrow's kernels on first use, a third of a
second of CPU before a table is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def is_plain(kind: pa.DataType) -> bool:
    """Return whether a type is a whole or floating number, so that its buffer holds its values."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def values_and_nulls(array: pa.ChunkedArray | pa.Array) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a plain array's values, what stands under a null unspecified, and where it is null."""
    chunks = getattr(array, "chunks", [array])
    dtype = np.dtype(array.type.to_pandas_dtype())
    none: NDArray[Any] = np.empty(0, dtype)
    values = np.concatenate([none, *(_values(chunk, dtype) for chunk in chunks)])
    nulls = np.concatenate([none.astype(bool), *(_nulls(chunk) for chunk in chunks)])
    return values, nulls


def _values(chunk: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    data = chunk.buffers()[1]
    if data is None or not len(chunk):
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, len(chunk), chunk.offset * dtype.itemsize)


def _nulls(chunk: pa.Array) -> NDArray[np.bool_]:
    bits = chunk.buffers()[0]
    if bits is None or not chunk.null_count:
        return np.zeros(len(chunk), dtype=bool)
    # Arrow columnar format: bit i, least significant first, is set where value i is there.
    there = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return np.asarray(there[chunk.offset : chunk.offset + len(chunk)] == 0)
