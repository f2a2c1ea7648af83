"""A file's bytes, and its text: what can be read, in which encoding.

Rules of this module:

* A regular file is read whole; a folder, a pipe or a device is refused by name.
* A byte order mark says UTF-8, UTF-16 or UTF-32. Without one the text is UTF-8, or UTF-16 where
  every second byte of its beginning is 0. Nothing else is guessed: the first byte that fits none
  is named with its line.
* A NUL character, and contents that are known to be no text (a workbook, Parquet, gzip ...), are
  refused by name.
"""

from __future__ import annotations

import codecs
import stat
from collections.abc import Iterable
from pathlib import Path

from judgeaudit.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, those of UTF-32 before the UTF-16 ones that they begin with."""

_KNOWN = (
    (b"PAR1", "Parquet", "call it .parquet"),
    (b"ARROW1", "Arrow", "call it .arrow or .feather"),
    (b"PK\x03\x04", "a workbook or another zip file", "call a workbook .xlsx, unpack a zip"),
    (b"\xd0\xcf\x11\xe0", "an old workbook (.xls)", "save it as .xlsx or .csv"),
    (b"\x1f\x8b", "compressed (gzip)", "unpack it first"),
    (b"%PDF", "PDF", "save the table as .csv"),
)
"""First bytes of files that hold no text, what they are, and what to do."""


NO_ROWS = "no rows"
"""What is found in every table without a reading, whatever its format."""


def no_rows(name: str) -> InputError:
    """Return the error of a table without a reading: an empty file, a header alone, no object."""
    return InputError(name, found=NO_ROWS, remedy="give one row a reading")


def read_bytes(path: Path) -> bytes:
    """Return a regular file's bytes; raises `InputError` for anything else."""
    check_regular(path)
    return path.read_bytes()


def check_files(paths: Iterable[Path]) -> None:
    """Raise `InputError` for a file that is not there, before anything is said of its columns."""
    for path in paths:
        check_regular(path)


def check_regular(path: Path) -> None:
    """Raise `InputError` for what is no file with an end: a folder, a pipe, a device, nothing."""
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(path, found="no such file") from None
    if not stat.S_ISREG(kind):
        what = "a folder" if stat.S_ISDIR(kind) else "no regular file (a pipe or a device)"
        raise InputError(path, found=what, remedy="give a table's file")


def read_text(path: Path) -> str:
    """Return a file's text, as it stands but for the byte order mark.

    Raises `InputError` for what is no text, naming the line of the first byte that is none.
    """
    data = read_bytes(path)
    for head, name, remedy in _KNOWN:
        if data.startswith(head):
            raise InputError(path.name, found=f"no text: it is {name}", remedy=remedy)
    text = _decoded(path, data)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(path.name, f"line {line}", "a NUL character", "save it as UTF-8 text")
    return text


def _decoded(path: Path, data: bytes) -> str:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _unmarked(data))
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        named = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        found = f"byte 0x{data[error.start]:02x} is not {named}"
        raise InputError(path.name, f"line {line}", found, "save the file as UTF-8") from error


def _unmarked(data: bytes) -> str:
    """Return the encoding of text without a mark; ASCII in UTF-16 has a 0 in every second byte."""
    head = data[:400]
    zeros = (head[0::2].count(0), head[1::2].count(0))
    half = max(1, len(head) // 2)
    if zeros[0] == 0 and zeros[1] > 0.6 * half:
        return "utf-16-le"
    if zeros[1] == 0 and zeros[0] > 0.6 * half:
        return "utf-16-be"
    return "utf-8"
