"""A data frame as columns: numbers and text by their types, columns of objects cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.errors import InputError
from judgeaudit.tables import header as names
from judgeaudit.tables.json_rows import columns_of, how
from judgeaudit.tables.raw import no_rows
from judgeaudit.tables.source import Source

if TYPE_CHECKING:
    import pandas as pd

NAME = "table"


def _as_arrow(name: str, column: pd.Series) -> Any:
    import pyarrow as pa

    try:
        return pa.Array.from_pandas(column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        found = f"holds values of type {column.dtype}, which no cell of a table has"
        remedy = "write text or a number in each cell"
        raise InputError(NAME, f"column {name!r}", found, remedy) from error


def read_frame(
    frame: pd.DataFrame, wanted: Sequence[str], known: Collection[str], lists: Collection[str] = ()
) -> Source:
    """Return the chosen columns of a frame; an index is read where its name is asked for."""
    import pyarrow as pa

    if set(wanted) & {str(name) for name in frame.index.names if name is not None}:
        frame = frame.reset_index()
    if not len(frame):
        raise no_rows(NAME)
    header = names.clean(Path(NAME), [str(name) for name in frame.columns])
    found = names.chosen(header, wanted, known)
    columns: dict[str, Any] = {}
    lossy: set[str] = set()
    for name in found:
        column = frame.iloc[:, header.index(name)]
        if column.dtype == object:
            rows = [{name: value} for value in column.tolist()]
            table, lost = columns_of(NAME, rows, [name], how(wanted, lists), 0)
            columns[name] = table.column(name)
            lossy |= lost
        else:
            columns[name] = pa.chunked_array([_as_arrow(name, column)])
    table = pa.table(columns)
    return Source(
        Path(NAME), table, tuple(header), first_row=0, rows=len(frame), lossy=frozenset(lossy)
    )
