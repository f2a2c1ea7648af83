"""Anybody's table: what is found in it, and the file of its estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgeaudit.analysis.exploratory import Report, Wish, explore
from judgeaudit.analysis.frame import COLUMNS, estimates_frame
from judgeaudit.analysis.items import COLUMNS as ITEM_COLUMNS
from judgeaudit.errors import InputError
from judgeaudit.tables.raw import check_files
from judgeaudit.tables.read import read_long
from judgeaudit.tables.roles import Roles, roles_of
from judgeaudit.tables.write import replace_whole, write_table

__all__ = ["Report", "explore_files", "wish_of"]


def explore_files(
    paths: Sequence[Path],
    columns: Mapping[str, Any],
    *,
    gap: float | None = None,
    pass_at: float | None = None,
    also: str | Sequence[str] | None = None,
    out: Path | None = None,
    items: Path | None = None,
) -> Report:
    """Return what is found in the table that lies in `paths`; its estimates are written to `out`.

    `columns` says which column plays which part (`item`, `repeat`, `score` ..., see
    `judgeaudit.analyze_table`); `also` names further statistics of the catalogue. Several files
    without a repeat column are one run each. Raises `InputError` naming file, row or option.
    """
    check_files(paths)
    roles, wish = roles_of(columns, "analyze"), wish_of(gap, pass_at, also)
    check_wish(wish, roles)
    for option, path in (("--out", out), ("--items", items)):
        if path is not None:
            check_out(option, path, paths)
    report = explore(read_long(paths, roles), wish)
    if out is not None:
        write_frame(estimates_frame(report.estimates), COLUMNS, out)
    if items is not None:
        write_frame(report.items(), {**ITEM_COLUMNS, "scope": "The part of the table."}, items)
    return report


def wish_of(
    gap: float | None, pass_at: float | None, also: str | Sequence[str] | None = None
) -> Wish:
    """Return what a person wants beside the defaults; `also` is one text with commas, or names."""
    names = also.split(",") if isinstance(also, str) else also or ()
    return Wish(gap, pass_at, also=tuple(name.strip() for name in names if name.strip()))


def check_wish(wish: Wish, roles: Roles) -> None:
    """Raise `InputError` for a gap or a mark that says nothing, or that nothing would read."""
    for option, number in (("--gap", wish.gap), ("--pass-at", wish.pass_at)):
        if number is None:
            continue
        if roles.kind not in ("score", "probability"):
            raise InputError(option, found=f"nothing to do with a {roles.kind}", remedy="drop it")
        if not math.isfinite(number):
            raise InputError(option, found=f"{number} is no finite number", remedy="give one")
    if wish.gap is not None and wish.gap <= 0:
        raise InputError("--gap", found=f"{wish.gap:g}", remedy="give a number above 0")


def check_out(option: str, out: Path, paths: Sequence[Path]) -> None:
    """Raise `InputError` before anything is computed for a place that cannot be written."""
    if out.suffix not in (".parquet", ".csv"):
        raise InputError(option, found=f"{out.name!r}", remedy="end it in .parquet or .csv")
    if not out.absolute().parent.is_dir():
        raise InputError(option, found=f"no folder {out.parent}", remedy="make it first")
    if out.is_dir() or any(path.exists() and out.exists() and out.samefile(path) for path in paths):
        found = f"{out} is {'a folder' if out.is_dir() else 'the table itself'}"
        raise InputError(option, found=found, remedy="name another file")


def write_frame(frame: pd.DataFrame, columns: Mapping[str, str], out: Path) -> None:
    """Write a table of findings as Parquet, each column with its sentence, or as CSV."""
    if out.suffix == ".parquet":
        write_table(out, frame, columns, {"judgeaudit.exploratory": "true"})
    else:
        replace_whole(out, lambda part: frame.to_csv(part, index=False))
