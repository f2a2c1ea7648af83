"""A picture of a memory-luck study: P(worse tool) in each arm, one panel an endpoint.

Points are `luck_p`, bars its exact interval. A filled point is an arm that shows the outcome of
chance, an open one the ordinary outcome. What is to be compared stands side by side: the same
outcome with another memory, and the same memory with another outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.named import LUCK, NamedCell, parse_cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
LESSONS = {"F": "lesson of failure", "S": "lesson of success", "U": "unrelated lesson"}
LESSONS |= {"D": "directive", "N": "no memory"}
ENDINGS = {"F": "failed", "S": "succeeded"}


def arms_figure(estimates: Sequence[Estimate], case: str, note: str = "") -> Figure:
    """Return the figure of one case's plain arms; `estimates` may hold anything else beside.

    Arms with a variant (mitigation, independence not stated, asked again) are left out. `note`
    stands below, e.g. that endpoints are simulated.
    """
    found = {(e.endpoint, e.scope): e for e in estimates if e.analysis == "luck_p"}
    endpoints = list(dict.fromkeys(endpoint for endpoint, _ in found))
    cells = _cells([scope for _, scope in found], case)
    rows = -(-len(endpoints) // COLUMNS)
    figure = Figure(figsize=(3.6 * min(COLUMNS, len(endpoints)) + 1.8, 2.6 * rows + 1.0))
    FigureCanvasAgg(figure)
    axes = figure.subplots(
        rows, min(COLUMNS, len(endpoints)), squeeze=False, sharex=True, sharey=True
    )
    for place, axis in enumerate(axes.flat):
        if place < len(endpoints):
            _panel(axis, endpoints[place], cells, found)
        else:
            axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_yticks(range(len(cells)), [words(cell) for cell in cells], fontsize=8)
    axes[0, 0].set(xlim=(-0.03, 1.03), ylim=(len(cells) - 0.5, -0.5))
    tool = "better" if case == "unlucky" else "worse"
    figure.suptitle(f"P(worse tool is chosen next) after one run of the {tool} tool", fontsize=11)
    legend = "share of worlds, exact 95 % interval; filled: the outcome that chance made"
    figure.supxlabel(legend + note, fontsize=8)
    figure.set_layout_engine("constrained")
    return figure


def _cells(names: Sequence[str], case: str) -> list[NamedCell]:
    """Return the case's plain cells, the outcome of chance first, then by memory."""
    parsed = {cell for name in names if (cell := parse_cell(name)) is not None}
    plain = [c for c in parsed if c.stratum.name == case and not c.again and not c.probe]
    return sorted(plain, key=lambda c: (c.shown != LUCK[case], "FSUDN".index(c.lesson)))


def words(cell: NamedCell) -> str:
    """Return an arm in words: how the run ended and which memory was there."""
    return f"{ENDINGS[cell.shown]}; {LESSONS[cell.lesson]}"


def _panel(
    axis: Axes, endpoint: str, cells: Sequence[NamedCell], found: dict[tuple[str, str], Estimate]
) -> None:
    axis.set_title(endpoint, fontsize=9)
    axis.grid(axis="x", color="0.9", linewidth=0.6)
    axis.axvline(0.5, color="0.75", linewidth=0.8, linestyle=":")
    axis.tick_params(labelsize=8, labelbottom=True)
    for row, cell in enumerate(cells):
        estimate = found.get((endpoint, cell.name))
        if estimate is None or estimate.value is None:
            axis.text(0.02, row, "no choice", va="center", fontsize=7, color="0.4")
            continue
        luck = cell.shown == LUCK[cell.stratum.case]
        colour = "#b2182b" if luck else "#2166ac"
        if estimate.low is not None and estimate.high is not None:
            axis.hlines(row, estimate.low, estimate.high, color=colour, linewidth=1.4)
        face = colour if luck else "white"
        axis.plot(estimate.value, row, "o", color=colour, markerfacecolor=face, markersize=5)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write the figure as SVG and PNG beside each other; the same figure gives the same SVG."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    settings: dict[Any, Any] = {"svg.hashsalt": stem.name, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(stem.with_suffix(".png"), dpi=130)
    return [stem.with_suffix(".svg"), stem.with_suffix(".png")]
