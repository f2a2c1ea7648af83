"""Two tables row by row: what differs, with both rows' digests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from judgeaudit.canonical import digest
from judgeaudit.design.tables import row_bytes

FEW = 5
"""How many differing rows are named before the rest are counted."""


def differing_rows(path: Path, table: pa.Table, derived: pa.Table) -> Iterator[str]:
    """Yield the rows in which a table differs from the derived one, with both rows' digests."""
    if table.schema.names != derived.schema.names:
        yield f"{path}: columns {table.schema.names} are not {derived.schema.names}"
        return
    found, wanted = list(row_bytes(table)), list(row_bytes(derived))
    different = [
        row for row, (one, other) in enumerate(zip(found, wanted, strict=False)) if one != other
    ]
    for row in different[:FEW]:
        columns = _differing(table, derived, row)
        yield (
            f"{path}: row {row}: {columns}: digest {digest(found[row])}, "
            f"derived again {digest(wanted[row])}"
        )
    if len(different) > FEW:
        yield f"{path}: {len(different) - FEW} more rows differ"
    if len(found) != len(wanted):
        yield f"{path}: {len(found)} rows, derived again {len(wanted)}"


def _differing(table: pa.Table, derived: pa.Table, row: int) -> str:
    """Return the columns that differ, with both values where these are short."""
    parts = []
    for name in table.schema.names:
        one, other = table.column(name)[row].as_py(), derived.column(name)[row].as_py()
        if one != other:
            short = not isinstance(one, bytes) and len(f"{one}{other}") < 200
            parts.append(f"{name} is {one!r}, derived again {other!r}" if short else name)
    return ", ".join(parts)
