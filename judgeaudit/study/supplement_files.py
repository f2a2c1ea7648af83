"""Writing a supplement: parts as Parquet, one after the other or batch by batch, and the README."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.evidence.inventory import NAME, write_inventory
from judgeaudit.model import JSON
from judgeaudit.report.supplement.tables import VERSION, Origin, Part
from judgeaudit.report.supplement.words import readme

README = "README.md"


@dataclass(frozen=True, slots=True)
class Exported:
    """A supplement that was written: its folder, what it was made from, its files.

    `says_nothing` is True of a table in which nothing was asked twice and no estimate tells more.
    """

    folder: Path
    origin: Origin
    parts: tuple[Part, ...]
    says_nothing: bool = False


def write_part(folder: Path, origin: Origin, part: Part, tables: Iterable[pa.Table]) -> Part:
    """Write one part from tables that come one by one; return it with the rows that it has."""
    schema = part.schema.with_metadata(origin.metadata(part.name))
    rows = 0
    with pq.ParquetWriter(folder / f"{part.name}.parquet", schema, compression="zstd") as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table.cast(schema))
                rows += table.num_rows
    return replace(part, rows=rows)


def write_readme(folder: Path, origin: Origin, parts: Sequence[Part]) -> None:
    """Write README.md beside the parts."""
    (folder / README).write_text(readme(origin, parts), encoding="utf-8")


def write_manifest(folder: Path, parts: Sequence[Part], about: Mapping[str, JSON]) -> None:
    """Write `manifest.json` over all that was exported; `judgeaudit verify FOLDER` reads it."""
    write_inventory(folder, [README, *(f"{part.name}.parquet" for part in parts)], about)


def is_export(folder: Path) -> bool:
    """Return whether a folder was exported: by its manifest, or by what its parts say of it."""
    if (folder / NAME).is_file():
        return True
    return any(_schema_of(path) == VERSION for path in sorted(folder.glob("*.parquet")))


def _schema_of(path: Path) -> str | None:
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, ValueError, pa.ArrowException):
        return None
    return str(metadata.get(b"judgeaudit.schema", b"").decode("utf-8", "replace"))
