"""Parquet and Arrow (Feather) files: their typed columns as they stand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from judgeaudit.errors import InputError
from judgeaudit.tables import header as names
from judgeaudit.tables.delimited import short
from judgeaudit.tables.raw import read_bytes
from judgeaudit.tables.source import Source


def read_parquet(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the chosen columns of a Parquet file, text with a dictionary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        header = names.clean(path, schema.names)
        found = names.chosen(header, wanted, known)
        raw = [schema.names[header.index(name)] for name in found]
        text = [name for name in raw if _is_text(schema.field(name).type)]
        table = pq.ParquetFile(path, read_dictionary=text).read(columns=raw)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:  # Arrow calls damaged pages an OSError
        found_ = f"not Parquet, or damaged: {short(error)}"
        raise InputError(path.name, found=found_, remedy="write the file anew") from error
    table = table.select(raw).rename_columns(found).replace_schema_metadata(schema.metadata)
    return Source(path, table, tuple(header), first_row=1, rows=table.num_rows)


def _is_text(kind: object) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def read_arrow(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the chosen columns of an Arrow IPC file (Feather version 2) or stream."""
    import pyarrow as pa

    data = pa.py_buffer(read_bytes(path))
    try:
        if bytes(data[:6]) == b"ARROW1":
            whole = pa.ipc.open_file(data).read_all()
        else:
            whole = pa.ipc.open_stream(data).read_all()
    except (pa.ArrowException, OSError) as error:
        found_ = f"not Arrow, or damaged: {short(error)}"
        raise InputError(path.name, found=found_, remedy="write the file anew") from error
    header = names.clean(path, whole.column_names)
    found = names.chosen(header, wanted, known)
    table = whole.rename_columns(header).select(found)
    table = table.replace_schema_metadata(whole.schema.metadata)
    return Source(path, table, tuple(header), first_row=1, rows=table.num_rows)
