"""A picture of gates' operating characteristics: the chance of each outcome by the true value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgeaudit.verdict.oc.gate import Characteristic

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves_figure(found: Sequence[Characteristic]) -> Figure | None:
    """Return one panel a gate; None where no gate's precision is known, which takes a pilot."""
    drawn = [one for one in found if one.points]
    if not drawn:
        return None
    figure = Figure(figsize=(6.4, 3.2 * len(drawn)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(drawn), 1, squeeze=False)
    for one, axis in zip(drawn, axes[:, 0], strict=True):
        _draw(axis, one)
    return figure


def _draw(axis: Axes, one: Characteristic) -> None:
    truths = [truth for truth, _ in one.points]
    axis.plot(truths, [c.passes for _, c in one.points], label="pass")
    axis.plot(truths, [c.fails for _, c in one.points], label="fail", linestyle="--")
    axis.plot(truths, [c.inconclusive for _, c in one.points], label="inconclusive", linestyle=":")
    for name, instrument in (("healthy", one.gate.healthy), ("degraded", one.gate.degraded)):
        if instrument is not None:
            axis.axvline(float(instrument.value), color="0.6", linewidth=0.8)
            axis.annotate(name, (float(instrument.value), 0.5), rotation=90, fontsize=8)
    axis.set(xlabel=f"true {one.gate.statistic}", ylabel="chance", ylim=(-0.02, 1.02))
    axis.set_title(f"gate {one.gate.id}")
    axis.legend(fontsize=8)
