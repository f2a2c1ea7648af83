"""The first sheet of a workbook (.xlsx) as columns of text; needs the extra `xlsx` (openpyxl).

Rules of this module:

* The first row is the header; rows without any value at the end count for nothing. A workbook with
  more than one sheet that holds values says which was read.
* A number is read as every typed cell is; one that its format shows with leading zeros (`000`) is
  the text that is shown: 007.
* A formula is read as the value that was saved with it. One without a saved value, and a cell that
  holds an error (#DIV/0!), are refused with their cell; `#N/A` is no answer, as everywhere.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.tables import header as names
from judgeaudit.tables.delimited import short
from judgeaudit.tables.json_rows import columns_of, how
from judgeaudit.tables.raw import no_rows, read_bytes
from judgeaudit.tables.source import Source

_ZEROS = re.compile(r"0+")


def read_workbook(path: Path, wanted: Sequence[str], known: Collection[str]) -> Source:
    """Return the chosen columns of a workbook's first sheet."""
    sheet, note = _sheet(path)
    rows = [list(row) for row in sheet.iter_rows()]
    while rows and all(cell.value is None for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise no_rows(path.name)
    raw = ["" if cell.value is None else str(cell.value) for cell in rows[0]]
    header = names.clean(path, raw)
    found = names.chosen(header, wanted, known)
    places = {name: header.index(name) for name in found}
    records = [
        {name: _value(path, row[at]) for name, at in places.items() if at < len(row)}
        for row in rows[1:]
    ]
    _refuse_unsaved(path, records, places)
    table, lossy = columns_of(path.name, records, found, how(wanted, ()), 2)
    return Source(
        path,
        table,
        tuple(header),
        rows=len(records),
        notes=(note,) if note else (),
        lossy=lossy,
    )


def _sheet(path: Path, *, values: bool = True) -> tuple[Any, str]:
    try:
        import openpyxl
    except ImportError:
        remedy = 'pip install "judgeaudit-toolkit[xlsx]", or save the table as .csv'
        raise InputError(
            path.name, found="a workbook, and openpyxl is missing", remedy=remedy
        ) from None
    read_bytes(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and extensions that hold no value
            book = openpyxl.load_workbook(path, data_only=values)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        found = f"not a workbook (.xlsx), or damaged: {short(error)}"
        raise InputError(path.name, found=found, remedy="save it anew, or as .csv") from error
    sheets = [sheet for sheet in book.worksheets if sheet.max_row > 1 or sheet["A1"].value]
    if not sheets:
        raise no_rows(path.name)
    note = f"{len(sheets)} sheets hold values; read was {sheets[0].title!r}"
    return sheets[0], note if len(sheets) > 1 else ""


def _value(path: Path, cell: Any) -> Any:
    if cell.data_type == "e" and cell.value != "#N/A":
        raise InputError(path.name, f"cell {cell.coordinate}", f"holds an error ({cell.value})",
                         "mend the formula, or leave the cell empty")  # fmt: skip
    whole = isinstance(cell.value, int) and not isinstance(cell.value, bool)
    if whole and cell.value >= 0 and _ZEROS.fullmatch(cell.number_format or ""):
        return str(cell.value).zfill(len(cell.number_format))
    return cell.value


def _refuse_unsaved(path: Path, records: list[dict[str, Any]], places: dict[str, int]) -> None:
    """Raise `InputError` for a formula without a saved value: it would read as no answer."""
    if all(value is not None for record in records for value in record.values()):
        return
    sheet, _ = _sheet(path, values=False)
    for number, record in enumerate(records, 2):
        for name, value in record.items():
            cell = sheet.cell(number, places[name] + 1)
            if value is None and cell.data_type == "f":
                raise InputError(
                    path.name,
                    f"cell {cell.coordinate}",
                    "a formula without a saved value",
                    "open and save it in a spreadsheet, or save the table as .csv",
                )
