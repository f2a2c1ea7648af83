"""A picture of a memory-luck study: P(worse tool) in each cell, one panel an endpoint.

Points are `luck_p`, bars its exact interval, with the number of choices that it rests on. Cells
stand in the order of the protocol, in the words of their levels; a cell that asks the same bytes
again stands below its own. Cells of one level of the second factor (usually the outcome that is
shown) share a colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.declared import Design

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
COLOURS = ("#b2182b", "#2166ac", "#4d9221", "#762a83", "#b35806", "#4d4d4d")
Found = Mapping[tuple[str, str], Estimate]


def parts_of(design: Design) -> list[tuple[str, list[str]]]:
    """Return (level, cells) for each level of the first factor; probes are no choices.

    Without factors all cells are one part.
    """
    first = next(iter(design.factors), None)
    choices = [cell for cell, spec in design.cells.items() if not spec.probe]
    if first is None:
        return [("", choices)]
    parts: dict[str, list[str]] = {}
    for cell in choices:
        parts.setdefault(design.cells[cell].levels.get(first, ""), []).append(cell)
    return list(parts.items())


def arms_figure(
    estimates: Sequence[Estimate], design: Design, cells: Sequence[str], note: str = ""
) -> Figure:
    """Return the figure of some cells; `estimates` may hold anything else beside.

    `note` stands below, e.g. that endpoints are simulated.
    """
    found = {(e.endpoint, e.scope): e for e in estimates if e.analysis == "luck_p"}
    endpoints = list(dict.fromkeys(endpoint for endpoint, _ in found))
    shown = _with_repeats([cell for cell in cells if any(c == cell for _, c in found)], design)
    rows = -(-len(endpoints) // COLUMNS)
    size = (3.4 * min(COLUMNS, len(endpoints)) + 3.0, (0.24 * len(shown) + 0.9) * rows + 1.0)
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    axes = figure.subplots(
        rows, min(COLUMNS, len(endpoints)), squeeze=False, sharex=True, sharey=True
    )
    for place, axis in enumerate(axes.flat):
        if place < len(endpoints):
            _panel(axis, endpoints[place], shown, design, found)
        else:
            axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_yticks(range(len(shown)), [words(c, design) for c in shown], fontsize=7.5)
    axes[0, 0].set(xlim=(-0.03, 1.18), ylim=(len(shown) - 0.5, -0.5))
    figure.suptitle("P(worse tool is chosen next), by cell", fontsize=11)
    legend = "share of worlds, exact 95 % interval, n = choices made"
    figure.supxlabel(legend + note, fontsize=8)
    figure.set_layout_engine("constrained")
    return figure


def _with_repeats(cells: Sequence[str], design: Design) -> list[str]:
    """Return cells with those that ask their bytes again directly below."""
    found: list[str] = []
    for cell in cells:
        if not design.cells[cell].again:
            found.append(cell)
            found += [other for other in cells if design.cells[other].again == cell]
    return found + [cell for cell in cells if cell not in found]


def words(cell: str, design: Design) -> str:
    """Return a cell in words, without the level of the first factor, which the figure is of."""
    if design.cells[cell].again:
        return "   the same bytes again"
    levels = list(design.cells[cell].levels.items())[1:]
    said = [design.factors.get(f, {}).get(level, level) for f, level in levels]
    return "; ".join(word for word in said if word) or cell


def _panel(axis: Axes, endpoint: str, cells: Sequence[str], design: Design, found: Found) -> None:
    axis.set_title(endpoint, fontsize=9)
    axis.grid(axis="x", color="0.9", linewidth=0.6)
    axis.axvline(0.5, color="0.75", linewidth=0.8, linestyle=":")
    axis.tick_params(labelsize=8, labelbottom=True)
    for row, cell in enumerate(cells):
        estimate = found.get((endpoint, cell))
        if estimate is None or estimate.value is None:
            axis.text(0.02, row, "no choice", va="center", fontsize=7, color="0.4")
            continue
        colour = _colour(cell, design)
        if estimate.low is not None and estimate.high is not None:
            axis.hlines(row, estimate.low, estimate.high, color=colour, linewidth=1.4)
        face = "white" if design.cells[cell].again else colour
        axis.plot(estimate.value, row, "o", color=colour, markerfacecolor=face, markersize=4.5)
        axis.text(1.03, row, f"n={estimate.n['items']}", va="center", fontsize=6, color="0.35")


def _colour(cell: str, design: Design) -> str:
    """Return the colour of a cell's level of the second factor."""
    names = list(design.factors)
    factor = names[1] if len(names) > 1 else names[0] if names else ""
    level = design.cells[cell].levels.get(factor, "")
    levels = list(design.factors.get(factor, {"": ""}))
    place = levels.index(level) if level in levels else 0
    return COLOURS[place % len(COLOURS)]


def save(figure: Figure, stem: Path, png: bool = True) -> list[Path]:
    """Write the figure as SVG, and PNG beside it; the same figure gives the same SVG."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    settings: dict[Any, Any] = {"svg.hashsalt": stem.name, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    if not png:
        return [stem.with_suffix(".svg")]
    figure.savefig(stem.with_suffix(".png"), dpi=130)
    return [stem.with_suffix(".svg"), stem.with_suffix(".png")]
