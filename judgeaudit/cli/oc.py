"""The body of `judgeaudit prereg oc`: every gate's operating characteristic, table and curve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.characteristics import Considered
    from judgeaudit.verdict.oc.gate import Characteristic


def oc(study: Path, draws: int, plot: Path | None, as_json: bool) -> ExitCode:
    """Print the characteristics; 0 if every gate discriminates and is capable, 1 if one does not.

    3 where it cannot be told: no gate, nothing declared, no pilot, a pilot without an interval.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.study import oc as room

    found = room.oc(study, draws=draws, progress=heard)
    written = [] if plot is None else _drawn(found, plot)
    if as_json:
        document(room.oc_document(found) | {"plots": [str(path) for path in written]})
    else:
        lines(told(found))
        for path in written:
            remark(f"written: {path}")
    return {True: ExitCode.DONE, False: ExitCode.NO, None: ExitCode.UNDECIDED}[found.answer]


def told(found: Considered) -> Iterator[str]:
    """Yield requirement, table and proposals of every gate."""
    from judgeaudit.study.code_digest import code_digest
    from judgeaudit.verdict.oc.words import chance_lines

    required = found.requirement
    yield from required.lines() if required else ["requirement: no [study.consumer] is named"]
    yield from (f"problem: {problem}" for problem in found.problems)
    for one in found.found:
        yield ""
        yield from chance_lines(one)
        yield f"  {_sentence(one)}"
        yield from (f"  instead: {text}" for text in one.proposals)
    yield ""
    yield f"seed {found.registration.schedule.seed}, code {code_digest()}"


def _sentence(one: Characteristic) -> str:
    said = {
        True: "it discriminates: healthy passes >= .9, degraded <= .1",
        False: "it does NOT discriminate (healthy >= .9 and degraded <= .1 are asked)",
        None: "whether it discriminates is not known: declare healthy and degraded, and pilot",
    }
    return said[one.discriminates]


def _drawn(found: Considered, target: Path) -> list[Path]:
    """Write one figure of all gates' curves; the ending of the name says SVG, PNG or PDF."""
    from judgeaudit.report.curves import curves_figure

    figure = curves_figure(found.found)
    if figure is None:
        remark("no curve: no gate's precision is known without a pilot")
        return []
    figure.savefig(target)
    return [target]
