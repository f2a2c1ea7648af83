"""One Parquet part, row by row, against its chain and against what its rows should be.

A row is sound if its digest covers its values, its previous digest is the row's before, and its
values are the expected ones. The first row that is not ends the examination; what happened to it
(altered, dropped, added, moved) is told from the keys of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.formats.spec import Column, LogFormat
from judgeaudit.evidence.log.chain import row_digest
from judgeaudit.evidence.log.finding import Defect, Finding
from judgeaudit.evidence.log.parts import read_rows
from judgeaudit.evidence.log.rows import Row
from judgeaudit.evidence.log.schema import ATTEMPTS, PREVIOUS, ROW, columns_of
from judgeaudit.evidence.log.standard import Key, Standard

UNREADABLE = (pa.ArrowException, OSError, ValueError)


@dataclass(slots=True)
class Examination:
    """How far a part is sound: rows, the last sound row's digest, and the finding that ended it."""

    rows: int
    head: str
    finding: Finding | None = None


def examine(path: Path, genesis: str, standard: Standard | None, log: LogFormat) -> Examination:
    """Examine a part against its chain, and where it is known against its standard."""
    found = Examination(0, genesis)
    try:
        found.finding = _columns_finding(path, columns_of(path.name, log))
        expected = None if standard is None else standard.rows(path.name)
        if found.finding is None:
            _walk(path, found, expected)
        if standard is not None and found.finding and found.finding.defect in _EXPLAINABLE:
            found.finding = _explain(found.finding, standard.keys(path.name))
    except EvidenceError as error:
        found.finding = Finding(Defect.JOURNAL_BROKEN, path, str(error), found.rows)
    except UNREADABLE as error:
        text = " ".join(str(error).split())[:200]
        detail = f"cannot be read at or after this row ({text})"
        found.finding = Finding(Defect.UNREADABLE, path, detail, found.rows)
    return found


def _columns_finding(path: Path, known: Sequence[Column]) -> Finding | None:
    columns = {c.name: c.type for c in known}
    got = {field.name: field.type for field in pq.read_schema(path)}
    for name in (*columns, *got):
        if columns.get(name) != got.get(name):
            detail = f"column {name!r} is not the format's"
            return Finding(
                Defect.ALTERED_FILE, path, detail, expected=columns.get(name), got=got.get(name)
            )
    return None


def _walk(path: Path, found: Examination, expected: Iterator[Row] | None) -> None:
    for row in read_rows(path):
        due = next(expected, None) if expected is not None else None
        found.finding = _row_finding(path, found, row, due, expected is not None)
        if found.finding:
            return
        found.rows, found.head = found.rows + 1, row[ROW]
    if expected is not None and (due := next(expected, None)) is not None:
        detail, digest = "the part ends before this row", row_digest(found.head, due)
        found.finding = Finding(
            Defect.DROPPED_ROW, path, detail, found.rows, due["call_id"], digest, found.head
        )


def _row_finding(
    path: Path, found: Examination, row: Row, want: Row | None, known: bool
) -> Finding | None:
    values = {name: value for name, value in row.items() if name not in (PREVIOUS, ROW)}
    own, call_id = row_digest(row[PREVIOUS], values), row["call_id"]
    if own != row[ROW]:
        detail = "its digest does not cover its values"
        return Finding(Defect.ALTERED_ROW, path, detail, found.rows, call_id, row[ROW], own)
    if row[PREVIOUS] != found.head:
        detail = "its previous digest is not that of the row before"
        return Finding(
            Defect.BROKEN_CHAIN, path, detail, found.rows, call_id, row[PREVIOUS], found.head
        )
    if known and values != want:
        got, detail = row[ROW], "its values are not those of journal and plan"
        due = None if want is None else row_digest(found.head, want)
        defect = Defect.JOURNAL_DIFFERS if path.name == ATTEMPTS else Defect.READING_DIFFERS
        if want is not None and want["call_id"] == call_id:
            names = [name for name in values if values[name] != want.get(name)]
            detail = f"{', '.join(names)} differ from what journal and plan give"
        return Finding(defect, path, detail, found.rows, call_id, due, got)
    return None


def _explain(finding: Finding, expected: list[Key]) -> Finding:
    """Return the finding with what happened to its rows, as the keys of all rows tell it."""
    got = list(_keys(finding.file))
    missing, added = _first_not_in(expected, got), _first_not_in(got, expected)
    moved = next((i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), None)
    if missing is not None:
        return _told(finding, Defect.DROPPED_ROW, missing, expected[missing], "it is missing here")
    if added is not None:
        return _told(finding, Defect.ADDED_ROW, added, got[added], "plan and journal have no such")
    if moved is not None:
        belongs = f"here belongs call {expected[moved][0]}"
        return _told(finding, Defect.REORDERED_ROWS, moved, got[moved], belongs)
    return finding


def _told(finding: Finding, defect: Defect, row: int, key: Key, detail: str) -> Finding:
    return replace(finding, defect=defect, row=row, call_id=key[0], detail=detail)


_EXPLAINABLE = {
    Defect.BROKEN_CHAIN,
    Defect.DROPPED_ROW,
    Defect.JOURNAL_DIFFERS,
    Defect.READING_DIFFERS,
}


def _first_not_in(these: list[Key], those: list[Key]) -> int | None:
    known = set(those)
    return next((i for i, key in enumerate(these) if key not in known), None)


def _keys(path: Path) -> Iterator[Key]:
    names = ["call_id", "attempt"] if path.name == ATTEMPTS else ["call_id"]
    table = pq.read_table(path, columns=names)
    ids = table.column("call_id").to_pylist()
    numbers = table.column("attempt").to_pylist() if path.name == ATTEMPTS else [0] * len(ids)
    return zip(ids, numbers, strict=True)
