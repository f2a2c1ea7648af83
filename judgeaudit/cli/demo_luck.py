"""`judgeaudit demo memory-luck`: what is told of the demo's studies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines

if TYPE_CHECKING:
    from judgeaudit.study.demo_luck import LuckStudy


def demo_luck(root: Path, simulated: bool, as_json: bool) -> ExitCode:
    """Run the demo's studies in `root` and print what they found."""
    from judgeaudit.cli.progress import shown
    from judgeaudit.study.demo_luck import demo_luck as run_demo

    with shown() as progress:
        found = run_demo(root, simulated=simulated, progress=progress)
    if as_json:
        document({"studies": [_document(study) for study in found]})
    else:
        for study in found:
            lines(_lines(study))
    return ExitCode.DONE


def _lines(study: LuckStudy) -> Iterator[str]:
    """Yield a study's execution, contrasts by endpoint, what they mean, and where to look."""
    from judgeaudit.cli.analyze_study import lines_of
    from judgeaudit.report.luck_text import luck_lines

    whole = list(lines_of(study.analysed))
    yield ""
    yield from whole[: whole.index("")]
    yield ""
    yield from luck_lines(study.analysed.findings, study.planted)
    root = study.analysed.frozen.root
    yield f"The arms: {', '.join(map(str, study.figures))}"
    yield f"The study: {root}; `judgeaudit show {root} 0`, `judgeaudit verify {root}`"


def _document(study: LuckStudy) -> dict[str, Any]:
    from judgeaudit.report.luck_text import luck_document
    from judgeaudit.study.results import findings_document

    return {
        **findings_document(study.analysed),
        "study_folder": str(study.analysed.frozen.root),
        "agents": luck_document(study.analysed.findings, study.planted),
        "figures": list(map(str, study.figures)),
    }
