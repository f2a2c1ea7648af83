"""The study side of `judgeaudit analyze`: what is told of a study's findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.results import Analysed


def analyze_study(root: Path, as_json: bool, items: Path | None = None) -> ExitCode:
    """Analyse a study, write `results/`, print what was found; done is 0 whatever it was."""
    from judgeaudit.study.analyze import analyze, write_items
    from judgeaudit.study.results import findings_document
    from judgeaudit.study.table import check_out

    if items is not None:
        check_out("--items", items, ())
    analysed = analyze(root)
    if as_json:
        document(findings_document(analysed))
    else:
        lines(lines_of(analysed))
    if items is not None:
        write_items(analysed, items)
        remark(f"written: {items}")
    remark(analysed.unwritten or f"written: {analysed.written}")
    return ExitCode.DONE


def lines_of(analysed: Analysed) -> Iterator[str]:
    """Yield the two reports, execution first and apart, for people."""
    from judgeaudit.report.study_text import study_lines

    registration, together = analysed.frozen.registration, analysed.report
    return study_lines(registration, analysed.execution(), analysed.findings, together)
