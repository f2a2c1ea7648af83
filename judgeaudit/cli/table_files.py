"""Files of tables as Arrow: CSV, TSV, Parquet, JSON lines or a JSON array; one-line errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "None", "#N/A"]
METADATA = ("_record", "metadata")


@dataclass(frozen=True, slots=True)
class Source:
    """A file: the columns that were read, all its columns' names, its metadata.

    `first_row` is the line or row of the first reading, as a person counts in that file.
    """

    path: Path
    table: pa.Table
    header: tuple[str, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)
    first_row: int = 2

    def columns(self) -> str:
        """Return the names that there are, for a message."""
        return f"columns: {', '.join(self.header[:20])}" + (" ..." if len(self.header) > 20 else "")


def read_source(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the columns of `path` that are `wanted`, or called like one of `known`."""
    kind = path.suffix.lower()
    if not path.is_file():
        raise InputError(path, found="no such file")
    if kind in (".parquet", ".pq"):
        return _parquet(path, wanted, known)
    if kind in (".jsonl", ".ndjson", ".json"):
        return _json(path, wanted, known)
    if kind in (".csv", ".tsv", ".txt"):
        return _csv(path, wanted, known, "\t" if kind == ".tsv" else ",")
    raise InputError(
        path.name, found=f"no table that can be read ({kind or 'no suffix'})",
        remedy="give .csv, .tsv, .parquet, .jsonl or .json",
    )  # fmt: skip


def _chosen(header: Sequence[str], wanted: Sequence[str], known: Collection[str]) -> list[str]:
    usual = {"item", "item_id", "question_id", "example_id", "id"}
    usual |= {"repeat", "run", "replicate", "trial", "run_id", "pass"}
    return [n for n in header if n in wanted or n.lower() in known or n in usual]


def _parquet(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        header = pq.read_schema(path).names
        chosen = _chosen(header, wanted, known)
        text = [
            f.name
            for f in pq.read_schema(path)
            if f.name in chosen and (pa.types.is_string(f.type) or pa.types.is_large_string(f.type))
        ]
        table = pq.read_table(path, columns=chosen, read_dictionary=text)
    except pa.ArrowInvalid as error:
        raise InputError(path.name, found=f"not Parquet: {error}") from error
    return Source(path, table, tuple(header), first_row=1)


def _csv(path: Path, wanted: Sequence[str], known: Collection[str], delimiter: str) -> Source:
    import pyarrow as pa
    from pyarrow import csv as reader

    header = _header(path, delimiter)
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError(path.name, "row 1", f"column {twice[0]!r} stands twice", "rename one")
    chosen = _chosen(header, wanted, known)
    parse = reader.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        table = reader.read_csv(path, parse_options=parse, convert_options=_convert(chosen))
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error).lower():
            raise InputError(path.name, found=str(error).split("\n")[0]) from error
        # A number column with a word in it: read all as text, the word becomes a reason.
        as_text = _convert(chosen, dict.fromkeys(chosen, pa.string()))
        table = reader.read_csv(path, parse_options=parse, convert_options=as_text)
    return Source(path, table, tuple(header))


def _convert(chosen: Sequence[str], types: Mapping[str, Any] | None = None) -> Any:
    from pyarrow import csv as reader

    return reader.ConvertOptions(
        include_columns=list(chosen),
        column_types=dict(types or {}),
        null_values=NULLS,
        strings_can_be_null=True,
        auto_dict_encode=True,
        auto_dict_max_cardinality=1 << 30,
    )


def _header(path: Path, delimiter: str) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            header = next(csv.reader(stream, delimiter=delimiter), None)
    except UnicodeDecodeError as error:
        raise InputError(path.name, f"byte {error.start}", "not UTF-8") from error
    if not header:
        raise InputError(path.name, found="empty file")
    return header


def _json(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    import pyarrow as pa

    rows, meta, first = _records(path)
    header = list(dict.fromkeys(name for row in rows[:1000] for name in row))
    chosen = _chosen(header, wanted, known)
    columns = {name: _column([row.get(name) for row in rows]) for name in chosen}
    return Source(path, pa.table(columns), tuple(header), meta, first)


def _column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    if any(isinstance(value, dict) for value in values):
        values = [json.dumps(v, sort_keys=True) if v is not None else None for v in values]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(
            [None if v is None else v if isinstance(v, str) else str(v) for v in values]
        )


def _records(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any], int]:
    """Return the rows, the metadata of a first line that says it is such, and the first row."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".json" and text.lstrip().startswith("["):
        rows = _loaded(path, 1, text)
    else:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        rows = [_loaded(path, number, line) for number, line in lines]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(path.name, f"line {number}", "no JSON object", "one object a row")
    if rows and rows[0].get(METADATA[0]) == METADATA[1]:
        return rows[1:], rows[0], 2
    return rows, {}, 1


def _loaded(path: Path, number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path.name, f"line {number}", f"not JSON: {error.msg}") from error


def parse_ranking(value: object) -> tuple[str, ...] | None:
    """Return a ranking from a list, a JSON array, or text with `>`, `,` or spaces between ids.

    None where there is none, or where a candidate stands twice.
    """
    if isinstance(value, str):
        found: Any = None
        if value.lstrip().startswith("["):
            try:
                found = json.loads(value)
            except json.JSONDecodeError:
                return None
        else:
            mark = next((m for m in (">", ",", ";", "|") if m in value), None)
            found = value.split(mark)
        value = found
    if not isinstance(value, list | tuple) or not value:
        return None
    ranking = tuple(str(part).strip() for part in value)
    whole = all(ranking) and len(set(ranking)) == len(ranking)
    return ranking if whole else None
