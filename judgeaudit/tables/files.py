"""Files of tables as Arrow: CSV, TSV, Parquet, JSON lines or a JSON array; one-line errors."""

from __future__ import annotations

import csv
import json
import re
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
    rows: int = 0

    def columns(self) -> str:
        """Return the names that there are, for a message."""
        return f"columns: {', '.join(self.header[:20])}" + (" ..." if len(self.header) > 20 else "")


def read_source(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the columns of `path` that are `wanted`, or called like one of `known`."""
    kind = path.suffix.lower()
    if not path.is_file():
        raise InputError(path, found="no such file")
    if kind in (".parquet", ".pq"):
        source = _parquet(path, wanted, known)
    elif kind in (".jsonl", ".ndjson", ".json"):
        source = _json(path, wanted, known)
    elif kind in (".csv", ".tsv", ".txt"):
        source = _csv(path, wanted, known, "\t" if kind == ".tsv" else ",")
    else:
        raise InputError(
            path.name,
            found=f"no table that can be read ({kind or 'no suffix'})",
            remedy="give .csv, .tsv, .parquet, .jsonl or .json",
        )
    if not source.rows:
        raise InputError(path.name, found="no rows", remedy="give one row a reading")
    return source


def _chosen(header: Sequence[str], wanted: Sequence[str], known: Collection[str]) -> list[str]:
    usual = {"item", "item_id", "question_id", "example_id", "id"}
    usual |= {"repeat", "run", "replicate", "trial", "run_id", "pass"}
    return [n for n in header if n in wanted or n.lower() in known or n in usual]


def _parquet(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        header = pq.read_schema(path).names
        _refuse_twice(path, header)
        chosen = _chosen(header, wanted, known)
        text = [
            f.name
            for f in pq.read_schema(path)
            if f.name in chosen and (pa.types.is_string(f.type) or pa.types.is_large_string(f.type))
        ]
        table = pq.ParquetFile(path, read_dictionary=text).read(columns=chosen)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:  # Arrow calls damaged pages an OSError
        found = f"not Parquet, or damaged: {_short(error)}"
        raise InputError(path.name, found=found, remedy="write the file anew") from error
    return Source(path, table, tuple(header), first_row=1, rows=table.num_rows)


def _refuse_twice(path: Path, header: Sequence[str]) -> None:
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError(path.name, "row 1", f"column {twice[0]!r} stands twice", "rename one")


def _short(error: Exception) -> str:
    """Return the first line of a library's message, which may quote a whole file."""
    text = str(error).split("\n")[0].strip()
    return text if len(text) <= 160 else f"{text[:160]} ..."


def _csv(path: Path, wanted: Sequence[str], known: Collection[str], delimiter: str) -> Source:
    import pyarrow as pa
    from pyarrow import csv as reader

    header = _header(path, delimiter)
    _refuse_twice(path, header)
    chosen = _chosen(header, wanted, known)
    parse = reader.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    as_text = _convert(chosen, dict.fromkeys(chosen, pa.string()))
    try:
        try:
            table = reader.read_csv(path, parse_options=parse, convert_options=_convert(chosen))
        except pa.ArrowInvalid as error:
            if "conversion error" not in str(error).lower():
                raise
            # A number column with a word in it: read all as text, the word becomes a reason.
            table = reader.read_csv(path, parse_options=parse, convert_options=as_text)
    except pa.ArrowInvalid as error:
        _refuse_other_encoding(path)
        raise _no_csv(path, parse, error) from error
    if any(_is_binary(kind) for kind in table.schema.types):  # Arrow's word for text not in UTF-8
        _refuse_other_encoding(path)
    return Source(path, table, tuple(header), rows=table.num_rows)


def _no_csv(path: Path, parse: Any, error: Exception) -> InputError:
    """Return what is wrong with a CSV file, with its row: Arrow counts them on one thread alone."""
    import pyarrow as pa
    from pyarrow import csv as reader

    try:
        one_thread = reader.ReadOptions(use_threads=False)
        reader.read_csv(path, read_options=one_thread, parse_options=parse)
    except pa.ArrowInvalid as again:
        error = again
    found = _short(error).removeprefix("CSV parse error: ")
    row = re.match(r"Row #(\d+): ", found)
    place = f"row {row[1]}" if row else ""
    remedy = "give every row the header's columns, and close every quote"
    return InputError(path.name, place, found[row.end() :] if row else found, remedy)


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_binary(plain) or pa.types.is_large_binary(plain))


def _refuse_other_encoding(path: Path) -> None:
    """Raise `InputError` with the line of the first byte that is not UTF-8."""
    data = path.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise InputError(path.name, f"line {line}", found, "save the file as UTF-8") from error


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
    except UnicodeDecodeError:
        _refuse_other_encoding(path)
        raise
    except csv.Error as error:
        raise InputError(path.name, "row 1", f"no header: {error}", "close every quote") from error
    if not header:
        raise InputError(path.name, found="empty file")
    return header


def _json(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    import pyarrow as pa

    rows, meta, first = _records(path)
    header = list(dict.fromkeys(name for row in rows[:1000] for name in row))
    chosen = _chosen(header, wanted, known)
    columns: dict[str, pa.Array] = {}
    for name in chosen:
        try:
            columns[name] = _column([row.get(name) for row in rows])
        except UnicodeEncodeError as error:
            found = "holds half a character (a lone surrogate)"
            raise InputError(path.name, f"column {name!r}", found, "write it as UTF-8") from error
    return Source(path, pa.table(columns), tuple(header), meta, first, len(rows))


def _column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    if any(isinstance(value, dict) for value in values):
        values = [json.dumps(v, sort_keys=True) if v is not None else None for v in values]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array(
            [None if v is None else v if isinstance(v, str) else str(v) for v in values]
        )


def _records(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any], int]:
    """Return the rows, the metadata of a first line that says it is such, and the first row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        _refuse_other_encoding(path)
        raise
    if path.suffix.lower() == ".json" and text.lstrip().startswith("["):
        rows = _loaded(path, 1, text)
    else:
        # Not splitlines: U+2028 and its like may stand in a JSON string as they are.
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
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
    except (ValueError, RecursionError) as error:
        place, found = number, _short(error)
        if isinstance(error, json.JSONDecodeError):
            place, found = number + error.lineno - 1, error.msg
        remedy = "mend or remove it"
        raise InputError(path.name, f"line {place}", f"not JSON: {found}", remedy) from error


def parse_ranking(value: object) -> tuple[str, ...] | None:
    """Return a ranking from a list, a JSON array, or text with `>`, `,` or spaces between ids.

    None where there is none, or where a candidate stands twice.
    """
    if isinstance(value, str):
        found: Any = None
        if value.lstrip().startswith("["):
            try:
                found = json.loads(value)
            except (ValueError, RecursionError):
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
