"""Text with separators (CSV, TSV, `;`, `|`) as Arrow columns of text.

Rules of this module:

* The separator is the one by which the header holds the columns that were asked for: a comma (a tab
  in .tsv) where that does, else `;`, a tab or `|`. A first line `sep=;`, as spreadsheets write it,
  says it outright. A separator that is not the file's own is told.
* Every cell is text as it is written; nothing is taken for a number here.
* A quote that is never closed, a row with another number of cells than the header and a name that
  stands twice are refused with their row. Quotes inside quotes are doubled (RFC 4180).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.tables import header as names
from judgeaudit.tables.raw import no_rows, read_text
from judgeaudit.tables.source import Source

_SEP = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_SEPARATORS = (",", ";", "\t", "|")
_SPOKEN = {"\t": "a tab"}


def read_delimited(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the chosen columns of a file with separators; raises `InputError` naming its row."""
    text = read_text(path)
    own = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    declared = _SEP.match(text)
    body = text[declared.end() :] if declared else text
    if not body.strip():
        raise no_rows(path.name)
    separator = declared[1] if declared else _separator(path, body, own, wanted)
    _check_quotes(path, body, separator, 2 if declared else 1)
    raw = _header(path, body, separator)
    header = names.clean(path, raw)
    found = names.chosen(header, wanted, known) or header[:1]  # one column tells the rows
    table = _read(path, body, separator, [raw[header.index(name)] for name in found])
    table = table.rename_columns(found)
    note = f"columns are separated by {spoken(separator)}" if separator != own else ""
    return Source(
        path,
        table,
        tuple(header),
        first_row=3 if declared else 2,
        rows=table.num_rows,
        notes=(note,) if note else (),
    )


def spoken(separator: str) -> str:
    """Return a separator as a message names it."""
    return _SPOKEN.get(separator, repr(separator))


def _separator(path: Path, body: str, own: str, wanted: Sequence[str]) -> str:
    """Return the separator by which the header holds most of what is wanted; `own` among equals."""
    best = own
    most = _answers(path, body, own, wanted)
    for separator in _SEPARATORS:
        if (here := _answers(path, body, separator, wanted)) > most:
            best, most = separator, here
    return best


def _answers(path: Path, body: str, separator: str, wanted: Sequence[str]) -> tuple[int, int, bool]:
    header = [name.strip() for name in _header(path, body, separator)]
    return (*names.found_by(header, wanted), len(header) > 1)


def _header(path: Path, body: str, separator: str) -> list[str]:
    try:
        header = next((row for row in _rows(body, separator, strict=False) if row), None)
    except csv.Error as error:
        raise InputError(path.name, "row 1", f"no header: {error}", "close every quote") from error
    if not header:
        raise no_rows(path.name)
    return list(header)


def _rows(body: str, separator: str, *, strict: bool) -> Any:
    return csv.reader(io.StringIO(body, newline=""), delimiter=separator, strict=strict)


def _check_quotes(path: Path, body: str, separator: str, first: int) -> None:
    """Raise `InputError` for a quote that Arrow would read over, swallowing rows."""
    if '"' not in body:
        return
    limit = csv.field_size_limit(len(body) + 1)
    rows, begun = _rows(body, separator, strict=True), 0
    try:
        for _ in rows:
            begun = rows.line_num
    except csv.Error as error:
        ended = "unexpected end" in str(error)
        found = "a quote is never closed" if ended else f"a quote inside a cell: {error}"
        remedy = "close every quote, and write a quote inside quotes twice"
        raise InputError(path.name, f"line {begun + first}", found, remedy) from error
    finally:
        csv.field_size_limit(limit)


def _read(path: Path, body: str, separator: str, columns: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as reader

    data = pa.py_buffer(body.encode("utf-8", "surrogatepass"))
    parse = reader.ParseOptions(delimiter=separator, newlines_in_values=True)
    text = pa.dictionary(pa.int32(), pa.string())
    convert = reader.ConvertOptions(
        include_columns=list(columns), column_types=dict.fromkeys(columns, text)
    )
    try:
        try:
            return reader.read_csv(data, reader.ReadOptions(), parse, convert)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):  # a row must fit into a block: one huge cell
                raise
            return reader.read_csv(
                data, reader.ReadOptions(block_size=len(data) + 1), parse, convert
            )
    except pa.ArrowInvalid as error:
        raise _ragged(path, data, parse, error) from error


def _ragged(path: Path, data: Any, parse: Any, error: Exception) -> InputError:
    """Return what is wrong, with its row: Arrow counts rows on one thread alone."""
    import pyarrow as pa
    from pyarrow import csv as reader

    try:
        one_thread = reader.ReadOptions(use_threads=False, block_size=len(data) + 1)
        reader.read_csv(data, one_thread, parse)
    except pa.ArrowInvalid as again:
        error = again
    found = short(error).removeprefix("CSV parse error: ")
    row = re.match(r"Row #(\d+): ", found)
    place = f"row {row[1]}" if row else ""
    comma = "; put a decimal comma in quotes" if parse.delimiter == "," else ""
    remedy = (
        f"columns are separated by {spoken(parse.delimiter)} here: give every row the header's "
        f"columns, and close every quote{comma}"
    )
    return InputError(path.name, place, found[row.end() :] if row else found, remedy)


def short(error: Exception) -> str:
    """Return the first line of a library's message, which may quote a whole file."""
    text = str(error).split("\n")[0].strip()
    return text if len(text) <= 160 else f"{text[:160]} ..."
