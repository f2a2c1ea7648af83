"""Parquet files whose rows are chained, written and read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.canonical import file_digest
from judgeaudit.evidence.log.chain import row_digest
from judgeaudit.evidence.log.rows import Row, rows_of
from judgeaudit.evidence.log.schema import PREVIOUS, ROW

GROUP_ROWS = 4_000
GROUP_BYTES = 8 << 20
"""A row group ends at so many rows, or at so many bytes of bodies: what bounds memory."""


@dataclass(frozen=True, slots=True)
class Part:
    """A finished part: its file's digest and bytes, its rows, and the last row's digest."""

    digest: str
    bytes: int
    rows: int
    head: str


class PartWriter:
    """Writes rows of one schema to a new file, chaining them from `previous` on."""

    def __init__(self, path: Path, schema: pa.Schema, previous: str) -> None:
        self.path, self.schema = path, schema
        self.head, self.rows = previous, 0
        self._buffer: list[Row] = []
        self._bytes = 0
        self._writer = pq.ParquetWriter(
            path, schema, compression="zstd", write_page_checksum=True, store_schema=True
        )

    def write(self, row: Row) -> None:
        """Append a row, given without its digest columns."""
        previous, self.head = self.head, row_digest(self.head, row)
        self._buffer.append({**row, PREVIOUS: previous, ROW: self.head})
        self._bytes += len(row.get("response_body") or b"")
        self.rows += 1
        if len(self._buffer) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def close(self) -> Part:
        """Write what is left and return what the file is."""
        self._flush()
        self._writer.close()
        return Part(file_digest(self.path), self.path.stat().st_size, self.rows, self.head)

    def _flush(self) -> None:
        if self._buffer:
            self._writer.write_batch(pa.RecordBatch.from_pylist(self._buffer, schema=self.schema))
        self._buffer, self._bytes = [], 0


def read_rows(path: Path) -> Iterator[Row]:
    """Yield a part's rows in file order, digest columns included.

    Page checksums are for other readers: here a damaged page that still decodes shall be read, so
    that its row's digest names the row and not only the page. Raises pyarrow's errors
    (ArrowException, OSError) where the file cannot be read.
    """
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=GROUP_ROWS, row_groups=[group]):
                yield from rows_of(batch)


def provenance(path: Path) -> dict[str, str]:
    """Return the metadata that a part's file carries about itself."""
    metadata = pq.read_schema(path).metadata or {}
    return {name.decode(): value.decode() for name, value in metadata.items()}
