"""A picture of each contrast: its value at every endpoint and over these endpoints.

One figure a name of contrast, one panel a scope. A panel says the contrast in words and as a sum
of cells. Bars are the intervals of the estimates; 0 and the margin are lines, so that *present*,
*large* and *negligible* can be seen; where choices were lost, a thin line shows the worst cases.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.declared import Contrast, Design

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = "luck_contrast"
MARGIN = 0.10
TOGETHER = "these endpoints"


def estimates_of(estimates: Sequence[Estimate], contrast: Contrast) -> list[tuple[str, Estimate]]:
    """Return (label, estimate) of a contrast: each endpoint, then these endpoints; first one each.

    They may be told under the contrast's own name or as `luck_contrast`, by a gate or an analysis.
    """
    own, general = f"luck_{contrast.name}", f"{contrast.name}, {contrast.full_scope}"
    found: dict[str, Estimate] = {}
    for e in estimates:
        kind = e.analysis.removesuffix("_each").removesuffix("_these")
        scope = general if kind == NAMED else contrast.full_scope if kind == own else None
        # A question's own parameters may stand before the scope.
        if scope is None or not (e.scope == scope or e.scope.endswith(", " + scope)):
            continue
        if e.endpoint != "all":
            found.setdefault(e.endpoint, e)
        elif e.target == TOGETHER:
            found.setdefault(f"{TOGETHER} {e.n.get('endpoints')}", e)
    pools = {key: found.pop(key) for key in list(found) if key.startswith(TOGETHER)}
    # A gate of one endpoint pools that one alone.
    whole = pools.get(f"{TOGETHER} {len(found)}")
    return [*found.items(), *([(TOGETHER, whole)] if whole and len(found) > 1 else [])]


def contrast_figure(
    estimates: Sequence[Estimate], design: Design, name: str, note: str = ""
) -> Figure | None:
    """Return the figure of the contrasts of a name, None where nothing was computed of them."""
    told = [(c, estimates_of(estimates, c)) for c in design.called(name)]
    told = [(contrast, rows) for contrast, rows in told if rows]
    if not told:
        return None
    heights = [0.26 * len(rows) + 1.35 for _, rows in told]
    figure = Figure(figsize=(8.4, sum(heights) + 0.6))
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(told), 1, squeeze=False, height_ratios=heights, sharex=True)
    for axis, (contrast, rows) in zip(axes[:, 0], told, strict=True):
        _panel(axis, contrast, rows)
    figure.suptitle(name.replace("_", " "), fontsize=12)
    levels = sorted({e.level for _, rows in told for _, e in rows})
    level = " and ".join(f"{one:.0%}".replace("%", " %") for one in levels)
    legend = f"difference in P(worse tool), {level} interval; dashed: the margin; thin: worst cases"
    figure.supxlabel(legend + note, fontsize=8)
    figure.set_layout_engine("constrained")
    return figure


def _panel(axis: Axes, contrast: Contrast, rows: Sequence[tuple[str, Estimate]]) -> None:
    head = f"{contrast.full_scope}: {contrast.of}" if contrast.of else contrast.full_scope
    said = [*textwrap.wrap(head, 105), *textwrap.wrap(contrast.formula, 110)]
    axis.set_title("\n".join(said), fontsize=8, loc="left")
    margin = MARGIN if contrast.margin is None else contrast.margin
    axis.axvline(0, color="0.4", linewidth=0.9)
    axis.axvline(margin, color="0.4", linewidth=0.8, linestyle="--")
    axis.grid(axis="x", color="0.92", linewidth=0.6)
    axis.tick_params(labelsize=8, labelbottom=True)
    for row, (_, e) in enumerate(rows):
        _bar(axis, row, e)
    labels = [f"{name}  (n={e.n.get('items', 0)})" for name, e in rows]
    axis.set_yticks(range(len(rows)), labels, fontsize=8)
    axis.set_ylim(len(rows) - 0.5, -0.5)


def _bar(axis: Axes, row: int, e: Estimate) -> None:
    if e.value is None:
        axis.text(0.005, row, e.undefined or "", va="center", fontsize=7, color="0.4")
        return
    if e.worst is not None and e.missing:
        axis.hlines(row, *e.worst, color="0.6", linewidth=0.8)
    colour = "black" if e.endpoint == "all" else "#2166ac"
    if e.low is not None and e.high is not None:
        axis.hlines(row, e.low, e.high, color=colour, linewidth=1.8)
    axis.plot(e.value, row, "o", color=colour, markersize=4.5)
