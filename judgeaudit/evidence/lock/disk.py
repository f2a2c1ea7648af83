"""Single frozen files: written durably and read-only, read against what a lock promised (IO)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.canonical import file_digest
from judgeaudit.design.layout import BODIES, CALLS, LOCK, PLAN
from judgeaudit.design.lock import Lock, check_lock
from judgeaudit.design.tables import check_schema, rows_digest
from judgeaudit.errors import EvidenceError, InputError, OtherVersion
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats import catalogue
from judgeaudit.model import JSON


def write_bytes(path: Path, data: bytes) -> None:
    """Write a read-only file durably."""
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o444)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as a read-only Parquet file, durably."""
    pq.write_table(table, path, compression="zstd")
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    path.chmod(0o444)


def write_lock(folder: Path, lock: Lock, tables: Iterable[str]) -> Lock:
    """Write a folder's lock, with the digests of its tables' bytes; return it as it was written.

    `content` holds digests of rows, which any version of pyarrow gives again; these are of the
    files as they were written.
    """
    files = {name: str(file_digest(folder / name)) for name in tables}
    whole = Lock.of({**lock.document, "table_files": files})
    write_bytes(folder / LOCK, whole.data)
    sync_folder(folder)
    return whole


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lock(folder: Path, kind: str = catalogue.LOCK) -> Lock:
    """Return a folder's lock; raises `EvidenceError` where it is no sound lock.

    Raises `OtherVersion` for one that another version wrote. The tables beside it name their
    formats: where one is of a format that is read, the lock was edited.
    """
    path = folder / LOCK
    if not path.is_file():
        raise InputError(path, found="no such file", remedy="`judgeaudit prereg freeze` makes it")
    data = path.read_bytes()
    document: Any = load_json(data, path)
    if not isinstance(document, dict):
        raise EvidenceError(f"{path}: not a JSON object")
    check_lock(document, str(path))
    try:
        catalogue.frozen_number(document, kind, path)
    except OtherVersion as error:
        _check_not_edited(folder, error)
        raise
    return Lock(document, data)


def _check_not_edited(folder: Path, error: OtherVersion) -> None:
    """Raise `EvidenceError` where a table beside a lock is of a format that is read."""
    for name in (PLAN, CALLS, BODIES):
        try:
            about = (pq.read_schema(folder / name).metadata or {}).get(b"schema", b"").decode()
        except (OSError, ValueError, pa.ArrowException):
            continue
        if about.rpartition("/")[2] in map(str, catalogue.frozen_formats()):
            raise EvidenceError(
                f"{folder / LOCK}: schema {error.said!r}, but {name} is {about!r}; "
                "the lock was edited"
            ) from error


def read_table(path: Path, expected: pa.Schema, promised: Mapping[str, JSON]) -> pa.Table:
    """Return a frozen table; raises `EvidenceError` where it is not what the lock promised."""
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise EvidenceError(f"{path}: cannot be read: {error}") from error
    check_schema(table, expected, str(path))
    actual = rows_digest(table)
    if actual != promised["sha256"]:
        raise EvidenceError(
            f"{path}: {table.num_rows} rows with digest {actual}, but the lock has "
            f"{promised['rows']} rows with {promised['sha256']}"
        )
    return table
