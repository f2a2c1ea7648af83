"""Tables from files, by their suffix: the one way in for every command; one-line errors.

| suffix | read as |
| --- | --- |
| .csv .tsv .tab .txt | text with separators (`delimited`) |
| .jsonl .ndjson .json | JSON lines, or an array of objects (`json_rows`) |
| .parquet .pq | Parquet; .feather .arrow .ipc: Arrow (`arrow_files`) |
| .xlsx .xlsm | a workbook's first sheet (`workbook`) |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from judgeaudit.errors import InputError
from judgeaudit.tables.raw import check_regular, no_rows
from judgeaudit.tables.source import Source

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_ARROW = (".feather", ".arrow", ".ipc")
_WORKBOOK = (".xlsx", ".xlsm")


def read_source(
    path: Path, wanted: Sequence[str], known: Collection[str], lists: Collection[str] = ()
) -> Source:
    """Return the columns of `path` that are `wanted` (names or patterns), usual or `known`.

    `lists` names the columns whose cells may be lists (rankings).
    """
    check_regular(path)
    source = _read(path, wanted, known, lists)
    if not source.rows:
        raise no_rows(path.name)
    return source


def _read(
    path: Path, wanted: Sequence[str], known: Collection[str], lists: Collection[str]
) -> Source:
    kind = path.suffix.lower()
    if kind in _TEXT:
        from judgeaudit.tables.delimited import read_delimited

        return read_delimited(path, wanted, known)
    if kind in _JSON:
        from judgeaudit.tables.json_rows import read_json

        return read_json(path, wanted, known, lists)
    if kind in _PARQUET:
        from judgeaudit.tables.arrow_files import read_parquet

        return read_parquet(path, wanted, known)
    if kind in _ARROW:
        from judgeaudit.tables.arrow_files import read_arrow

        return read_arrow(path, wanted, known)
    if kind in _WORKBOOK:
        from judgeaudit.tables.workbook import read_workbook

        return read_workbook(path, wanted, known)
    found = f"no table that can be read ({kind or 'no suffix'})"
    remedy = "give .csv, .tsv, .jsonl, .json, .parquet, .feather or .xlsx"
    raise InputError(path.name, found=found, remedy=remedy)
