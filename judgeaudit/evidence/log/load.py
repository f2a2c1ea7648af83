"""Sealed runs as Arrow tables, in the order in which the runs were sealed.

Nothing is verified here beyond the manifests being there; `verify` does that. `log` is a path, or
a path on the given pyarrow file system, so that a sealed log may lie on object storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from judgeaudit.errors import InputError
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.manifest import manifest_from
from judgeaudit.evidence.log.runs import MANIFEST
from judgeaudit.evidence.log.schema import ATTEMPTS, READINGS, schema


def load_attempts(
    log: Path | str,
    columns: Sequence[str] | None = None,
    filesystem: fs.FileSystem | None = None,
) -> pa.Table:
    """Return the attempts of all sealed runs; name `columns` to leave the bodies unread."""
    return _load(log, ATTEMPTS, columns, filesystem)


def load_readings(
    log: Path | str,
    columns: Sequence[str] | None = None,
    filesystem: fs.FileSystem | None = None,
) -> pa.Table:
    """Return the readings of all sealed runs, one row a planned call."""
    return _load(log, READINGS, columns, filesystem)


def _load(
    log: Path | str, part: str, columns: Sequence[str] | None, files: fs.FileSystem | None
) -> pa.Table:
    files = files or fs.LocalFileSystem()
    wanted = None if columns is None else list(columns)
    known = schema(part, run="", lock_digest="", writer="", log=catalogue.TODAY).remove_metadata()
    if unknown := [name for name in wanted or () if name not in known.names]:
        raise InputError(part, found=f"no column {unknown[0]!r}", remedy=f"there are {known.names}")
    folders = _folders(str(log), files)
    arrow = known if wanted is None else pa.schema([known.field(name) for name in wanted])
    tables = [_part(f"{folder}/{part}", arrow, files) for folder in folders]
    return pa.concat_tables(tables) if tables else arrow.empty_table()


def _part(path: str, columns: pa.Schema, files: fs.FileSystem) -> pa.Table:
    """Return a part with `columns`; one that its format did not have is null in every row."""
    with pq.ParquetFile(path, filesystem=files) as file:
        there = [name for name in columns.names if name in file.schema_arrow.names]
        table = file.read(columns=there)
    for field in columns:
        if field.name not in there:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(columns.names).replace_schema_metadata()


def _folders(log: str, files: fs.FileSystem) -> list[str]:
    found = files.get_file_info(fs.FileSelector(f"{log}/sealed", allow_not_found=True))
    numbered = []
    for info in found:
        if info.type == fs.FileType.Directory and not info.base_name.startswith("."):
            path = f"{info.path}/{MANIFEST}"
            with files.open_input_stream(path) as stream:
                manifest, _ = manifest_from(stream.read(), path)
            numbered.append((manifest["number"], info.path))
    return [path for _, path in sorted(numbered)]
