"""What a study registered, computed from its sealed runs, with its result files."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from judgeaudit.analysis.items import COLUMNS
from judgeaudit.study.folders import Folder, unless_read_only
from judgeaudit.study.luck_figures import draw
from judgeaudit.study.results import RESULTS, Analysed, analyse, item_changes, write_results
from judgeaudit.study.sealed import load
from judgeaudit.study.table import write_frame


def analyze(folder: Folder, *, write: bool = True, now: datetime | None = None) -> Analysed:
    """Return what a study's gates, rules and analyses say of its sealed runs; writes `results/`.

    A study with declared contrasts has a picture of each there, too.

    `folder` is a frozen study or one of its gate runs. `now` is the time that the result files
    carry, by default the machine's. A folder that cannot be written to is read all the same:
    `unwritten` says so. Raises `UndefinedEstimate` where nothing is sealed, `EvidenceError` where
    a file is not what its digest says.
    """
    analysed = analyse(load(Path(folder)))
    if not write:
        return analysed
    results = analysed.frozen.root / RESULTS

    def written() -> None:
        write_results(analysed, now)
        draw(analysed)

    why = unless_read_only(results, written)
    return replace(analysed, written=None if why else results, unwritten=why)


def write_items(analysed: Analysed, out: Path) -> None:
    """Write which items changed their answers, and how, as .parquet or .csv."""
    write_frame(item_changes(analysed), COLUMNS, out)
