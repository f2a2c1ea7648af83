"""The table side of `judgeaudit analyze`: what is told of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.analysis.exploratory import PartReport, Report, Wish
    from judgeaudit.tables.read import Roles


def analyze_table(
    paths: Sequence[Path], roles: Roles, wish: Wish, out: Path | None, as_json: bool
) -> ExitCode:
    """Explore the table in `paths` and print what was found."""
    from judgeaudit.study.table import explore_files

    report = explore_files(paths, roles, wish, out)
    if as_json:
        document(as_document(report))
    else:
        from judgeaudit.report.table_text import report_lines

        lines(report_lines(report))
    if out is not None:
        remark(f"written: {out}")
    return ExitCode.UNDECIDED if report.says_nothing else ExitCode.DONE


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
