"""Plan and bodies as Arrow tables, and the digests of their rows.

A digest covers rows, not Parquet bytes: a Parquet footer names its writer, so the same plan written
by another version of pyarrow is another file. A row is the JSON array of its columns in schema
order, compact, UTF-8, binary as its own SHA-256; for strings, integers and null that is the form
of RFC 8785. Rows are joined by a line feed.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from judgeaudit.canonical import Digest, digest, digest_of_parts
from judgeaudit.design.addresses import full_url
from judgeaudit.errors import EvidenceError
from judgeaudit.model import Composed, FrozenBody, PlannedCall

PLAN_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "plan_index": (pa.int64(), "Position in the plan; within a window and endpoint, send order."),
    "call_id": (pa.string(), "c and 12 hex digits of the digest of the call's key."),
    "stage": (pa.int16(), "Stage of the protocol, from 1."),
    "endpoint": (pa.string(), "Endpoint's id in the registration."),
    "item": (pa.string(), "Item's id in the battery or among the controls."),
    "group": (pa.string(), "What rankings are formed within."),
    "task": (pa.string(), "What items are nested in."),
    "arm": (pa.string(), "Cell and arm of the readout; - where there is one way of asking."),
    "condition": (pa.string(), "Condition of measurement."),
    "day": (pa.int16(), "Day of the study, from 1."),
    "window": (pa.string(), "Window's id."),
    "repeat": (pa.int16(), "Repeat within the window, from 0."),
    "draw": (pa.int16(), "Draw that one reading aggregates, from 0."),
    "body_sha256": (pa.string(), "Digest of the frozen body; null for a later stage."),
    "derivation_sha256": (pa.string(), "Digest of how a later stage's body is made; else null."),
}

BODY_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "body_sha256": (pa.string(), "Digest of the body bytes."),
    "prompt_sha256": (pa.string(), "Digest of the messages alone, RFC 8785."),
    "endpoint": (pa.string(), "Endpoint's id in the registration."),
    "url": (pa.string(), "Where it is sent; embedded:NAME stands for a loopback port."),
    "path": (pa.string(), "The part of the URL below base_url."),
    "headers": (pa.string(), "Headers as a JSON array of [name, value], without secrets."),
    "body": (pa.binary(), "The body, byte for byte."),
}

STAGE_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "call_id": (pa.string(), "Call of the plan."),
    "body_sha256": (pa.string(), "Digest of the body made for it; null where none could be."),
    "reason": (pa.string(), "Why there is no body; else null."),
    "detail": (pa.string(), "What was found; null where there is a body."),
    "taken": (pa.string(), "JSON object: field -> call_id of the earlier reading in it."),
}


def schema(columns: Mapping[str, tuple[pa.DataType, str]], title: str) -> pa.Schema:
    """Return a schema in which each column carries its sentence."""
    listed = [
        pa.field(name, kind, metadata={"about": about}) for name, (kind, about) in columns.items()
    ]
    return pa.schema(listed, metadata={"schema": title})


VERSION = 2
"""The number of the format that is frozen. Version 0.1 froze 1: `judgeaudit/evidence/formats`."""


@dataclass(frozen=True, slots=True)
class FrozenTables:
    """One format of the frozen tables. A lock names its number, and they are read by it."""

    number: int
    plan: pa.Schema
    bodies: pa.Schema
    stage_calls: pa.Schema


TODAY = FrozenTables(
    number=VERSION,
    plan=schema(PLAN_COLUMNS, f"judgeaudit/plan/{VERSION}"),
    bodies=schema(BODY_COLUMNS, f"judgeaudit/bodies/{VERSION}"),
    stage_calls=schema(STAGE_COLUMNS, f"judgeaudit/stage-calls/{VERSION}"),
)
"""The format that is written."""

PLAN_FIELDS = tuple(field.name for field in fields(PlannedCall))

ROWS_AT_A_TIME = 4096
"""How many rows exist as Python values at once: a plan may have hundreds of thousands."""


def plan_table(calls: Sequence[PlannedCall], tables: FrozenTables) -> pa.Table:
    """Return the plan as a table."""
    columns = {name: [getattr(call, name) for call in calls] for name in tables.plan.names}
    return pa.table(columns, schema=tables.plan)


def plan_from(table: pa.Table) -> tuple[PlannedCall, ...]:
    """Return a table's calls; a field that its format did not have keeps its default."""
    return tuple(_calls(table.select([name for name in PLAN_FIELDS if name in table.schema.names])))


def _calls(table: pa.Table) -> Iterator[PlannedCall]:
    # A plan says the same few names again and again: one string for each is most of its memory.
    names: dict[str, str] = {}
    for batch in table.to_batches(max_chunksize=ROWS_AT_A_TIME):
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            shared = (names.setdefault(v, v) if type(v) is str else v for v in row)
            yield PlannedCall(**dict(zip(batch.schema.names, shared, strict=True)))


def body_table(
    bodies: Iterable[FrozenBody], urls: Mapping[str, str], tables: FrozenTables
) -> pa.Table:
    """Return bodies as a table; `urls` gives each endpoint's base URL."""
    rows = list(bodies)
    columns: dict[str, list[Any]] = {
        "body_sha256": [body.body_sha256 for body in rows],
        "prompt_sha256": [body.prompt_sha256 for body in rows],
        "endpoint": [body.endpoint for body in rows],
        "url": [full_url(urls[body.endpoint], body.request.path) for body in rows],
        "path": [body.request.path for body in rows],
        "headers": [compact([list(pair) for pair in body.request.headers]) for body in rows],
        "body": [body.request.body for body in rows],
    }
    return pa.table({name: columns[name] for name in tables.bodies.names}, schema=tables.bodies)


def body_from(row: Mapping[str, Any]) -> FrozenBody:
    """Return the body in one row."""
    headers = tuple((name, value) for name, value in json.loads(row["headers"]))
    request = Composed(row["path"], headers, row["body"])
    return FrozenBody(row["body_sha256"], row["prompt_sha256"], row["endpoint"], request)


class Bodies(Mapping[str, FrozenBody]):
    """Frozen bodies by digest, made from their table when asked for.

    Two endpoints may share a body's bytes and differ in URL or headers: `at(endpoint, digest)`
    tells them apart, `bodies[digest]` gives the first.
    """

    def __init__(self, *tables: pa.Table) -> None:
        self._tables = tables
        self._rows: list[tuple[pa.Table, int]] = []
        self._at: dict[tuple[str, str], int] = {}
        self._first: dict[str, int] = {}
        for table in tables:
            self._add(table)

    def _add(self, table: pa.Table) -> None:
        names, keys = table.column("endpoint").to_pylist(), table.column("body_sha256").to_pylist()
        for row, (endpoint, key) in enumerate(zip(names, keys, strict=True)):
            self._at.setdefault((endpoint, key), len(self._rows))
            self._first.setdefault(key, len(self._rows))
            self._rows.append((table, row))

    def also(self, table: pa.Table) -> Bodies:
        """Return these bodies and those of one more table."""
        return Bodies(*self._tables, table)

    def at(self, endpoint: str, body_sha256: str) -> FrozenBody:
        """Return an endpoint's body; raises `KeyError` if it has no such."""
        return self._row(self._at[endpoint, body_sha256])

    def __getitem__(self, body_sha256: str) -> FrozenBody:
        return self._row(self._first[body_sha256])

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def _row(self, position: int) -> FrozenBody:
        table, row = self._rows[position]
        return body_from({name: table.column(name)[row].as_py() for name in BODY_COLUMNS})


def rows_digest(table: pa.Table) -> Digest:
    """Return the digest of a table's rows, one a line, the same under every version of pyarrow."""
    lines = row_bytes(table)
    first = next(lines, b"")
    return digest_of_parts(itertools.chain([first], (b"\n" + line for line in lines)))


def row_bytes(table: pa.Table) -> Iterator[bytes]:
    """Yield each row's canonical bytes, making Python values of a few thousand rows at a time."""
    for batch in table.to_batches(max_chunksize=ROWS_AT_A_TIME):
        columns = [
            [_hashed(value) for value in column.to_pylist()]
            if pa.types.is_binary(column.type)
            else column.to_pylist()
            for column in batch.columns
        ]
        for row in zip(*columns, strict=True):
            yield compact(row).encode()


def _hashed(value: bytes) -> str:
    return str(digest(value))


def compact(value: Any) -> str:
    """Return a JSON value on one line, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check_schema(table: pa.Table, expected: pa.Schema, source: str) -> pa.Table:
    """Return `table` if its columns are those of `expected`; raises `EvidenceError` otherwise."""
    if table.schema.names != expected.names or table.schema.types != expected.types:
        raise EvidenceError(
            f"{source}: columns {', '.join(table.schema.names)} are not those of a frozen file "
            f"({', '.join(expected.names)})"
        )
    return table
