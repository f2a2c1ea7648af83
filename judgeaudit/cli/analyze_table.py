"""The table side of `judgeaudit analyze`: what is told of what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.table import Report


def tell(report: Report, written: list[Path], as_json: bool) -> ExitCode:
    """Print what was found in a table; 3 where nothing could be said."""
    if as_json:
        from judgeaudit.report.table_document import table_document

        document(table_document(report))
    else:
        from judgeaudit.report.table_text import report_lines

        lines(report_lines(report))
    for path in written:
        remark(f"written: {path}")
    return ExitCode.UNDECIDED if report.says_nothing else ExitCode.DONE
