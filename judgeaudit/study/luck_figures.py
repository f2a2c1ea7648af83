"""The pictures of a study whose protocol declares contrasts, beside its result files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.study.results import RESULTS, list_results
from judgeaudit.verdict.declared import design_of

if TYPE_CHECKING:
    from judgeaudit.study.results import Analysed

FIGURES = "figures"


def draw(analysed: Analysed, png: bool = False) -> list[Path]:
    """Write `results/figures/`: the cells, and a picture of each contrast; returns the files.

    Nothing is drawn where the protocol declares no design, or nothing of it was computed.
    """
    design = design_of(analysed.frozen.protocol)
    estimates = analysed.findings.estimates
    if design is None or not any(e.analysis.startswith("luck_") for e in estimates):
        return []
    # matplotlib is loaded where something is drawn
    from judgeaudit.report.luck_arms import arms_figure, parts_of, save
    from judgeaudit.report.luck_contrasts import contrast_figure

    simulated = all(s.is_simulated for s in analysed.frozen.registration.endpoints)
    note = "; SIMULATED endpoints" if simulated else ""
    folder = analysed.frozen.root / RESULTS / FIGURES
    drawn: list[Path] = []
    parts = parts_of(design)
    told = {e.scope for e in estimates if e.analysis == "luck_p"}
    for level, cells in parts:
        if told & set(cells):
            stem = folder / ("arms" if len(parts) == 1 else f"arms-{level or 'others'}")
            drawn += save(arms_figure(estimates, design, cells, note), stem, png)
    for name in design.names:
        figure = contrast_figure(estimates, design, name, note)
        if figure is not None:
            drawn += save(figure, folder / f"contrast-{name}", png)
    names = [path.relative_to(analysed.frozen.root / RESULTS).as_posix() for path in drawn]
    list_results(analysed.frozen, names, analysed.runs)
    return drawn
