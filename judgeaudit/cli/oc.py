"""The body of `judgeaudit prereg oc`: every gate's operating characteristic, table and curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.exits import ExitCode, answer
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.characteristics import Considered


def oc(study: Path, draws: int, plot: Path | None, as_json: bool) -> ExitCode:
    """Print the characteristics; 0 if every gate discriminates and is capable, 1 if one does not.

    3 where it cannot be told: no gate, nothing declared, no pilot, a pilot without an interval.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.report.design_text import oc_lines
    from judgeaudit.study import oc as room

    found = room.oc(study, draws=draws, progress=heard)
    written = [] if plot is None else _drawn(found, plot)
    code = answer({True: ExitCode.DONE, False: ExitCode.NO, None: ExitCode.UNDECIDED}[found.answer])
    if as_json:
        document(room.oc_document(found) | {"plots": [str(path) for path in written]})
    else:
        lines(oc_lines(found.requirement, found.problems, found.found, found.made_by))
        for path in written:
            remark(f"written: {path}")
    return code


def _drawn(found: Considered, target: Path) -> list[Path]:
    """Write one figure of all gates' curves; the ending of the name says SVG, PNG or PDF."""
    from judgeaudit.report.curves import curves_figure

    figure = curves_figure(found.found)
    if figure is None:
        remark("no curve: no gate's precision is known without a pilot")
        return []
    figure.savefig(target)
    return [target]
