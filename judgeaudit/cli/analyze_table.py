"""The table side of `judgeaudit analyze`: read, explore, tell, and write a table of estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.analysis.exploratory import PartReport, Report, Wish
    from judgeaudit.tables.read import Roles


def analyze_table(
    paths: Sequence[Path], roles: Roles, wish: Wish, out: Path | None, as_json: bool
) -> ExitCode:
    """Explore the table in `paths` and print what was found."""
    from judgeaudit.analysis.exploratory import explore
    from judgeaudit.tables.read import read_long

    _check_wish(wish, roles)
    if out is not None:
        _check_out(out, paths)
    report = explore(read_long(paths, roles), wish)
    if out is not None:
        _write(report, out)
    if as_json:
        document(as_document(report))
    else:
        from judgeaudit.report.table_text import report_lines

        lines(report_lines(report))
    if out is not None:
        remark(f"written: {out}")
    return ExitCode.UNDECIDED if report.says_nothing else ExitCode.DONE


def _check_wish(wish: Wish, roles: Roles) -> None:
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


def _check_out(out: Path, paths: Sequence[Path]) -> None:
    """Raise `InputError` before anything is computed for a place that cannot be written."""
    if out.suffix not in (".parquet", ".csv"):
        raise InputError("--out", found=f"{out.name!r}", remedy="end it in .parquet or .csv")
    if not out.absolute().parent.is_dir():
        raise InputError("--out", found=f"no folder {out.parent}", remedy="make it first")
    if out.is_dir() or any(path.exists() and out.exists() and out.samefile(path) for path in paths):
        found = f"{out} is {'a folder' if out.is_dir() else 'the table itself'}"
        raise InputError("--out", found=found, remedy="name another file")


def as_document(report: Report) -> dict[str, Any]:
    """Return a report as one JSON document, its sentences included."""
    from judgeaudit.report.table_text import report_lines

    return {
        "source": report.source,
        "rows": report.rows,
        "exploratory": True,
        "notes": list(report.notes),
        "parts": [_part(part) for part in report.parts],
        "text": list(report_lines(report)),
    }


def _part(part: PartReport) -> dict[str, Any]:
    from judgeaudit.verdict.verdicts import estimate_to_dict

    return {
        "scope": part.scope,
        "kind": part.kind,
        "items": part.items,
        "runs": part.runs,
        "windows": part.windows,
        "orders": part.orders,
        "cells": part.cells,
        "valid": part.valid,
        "excluded": part.excluded,
        "worst_run": part.worst_run,
        "repeats": part.evidence.title,
        "possible_cache": part.evidence.cached or None,
        "facts": part.facts,
        "estimates": [estimate_to_dict(estimate) for estimate in part.estimates],
    }


def _write(report: Report, out: Path) -> None:
    from judgeaudit.analysis.frame import COLUMNS, estimates_frame
    from judgeaudit.tables.write import replace_whole, write_table

    frame = estimates_frame(report.estimates)
    if out.suffix == ".parquet":
        write_table(out, frame, COLUMNS, {"judgeaudit.exploratory": "true"})
    else:
        replace_whole(out, lambda part: frame.to_csv(part, index=False))
