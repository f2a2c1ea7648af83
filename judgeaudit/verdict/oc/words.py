"""A gate's characteristic in words and as JSON; nothing here knows more than its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Instrument
from judgeaudit.stats.operating import Chances
from judgeaudit.verdict.compare import threshold_text
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.instrument import Precision
from judgeaudit.verdict.oc.sequential import SequentialRule
from judgeaudit.verdict.oc.simulated import BY_RUN, shortcomings


def chance_lines(found: Characteristic) -> Iterator[str]:
    """Yield a gate's table: one line an instrument, and what follows from the pilot."""
    gate, size = found.gate, found.size
    yield f"gate {gate.id}: {gate.statistic} {threshold_text(gate)} by the {gate.decide}" + (
        f" at alpha {gate.alpha}" if gate.decide == "bound" else ""
    )
    yield (
        f"  planned: {size.units} independent units, {size.comparisons} comparisons, "
        f"{size.calls} calls an endpoint{_worth(found.precision)}"
    )
    for name, chances in (("healthy", found.healthy), ("degraded", found.degraded)):
        instrument = getattr(gate, name)
        if instrument is not None:
            yield f"  {name:9} {instrument.value!s:>8}: " + (
                chances_text(chances) if chances else "not known without a pilot"
            )
    yield from cell_lines(found)
    yield from pilot_lines(found)
    if found.each_pair is not None:
        share, candidates = found.each_pair
        yield (
            f"  exact match {gate.at_least} of {candidates} candidates asks {share:.6f} of each "
            f"of its {math.comb(candidates, 2)} pairs"
        )
    for branch, fires in zip(("pass", "fail"), found.fires, strict=True):
        if not fires:
            yield f"  its {branch} branch can never fire at this size"


def cell_lines(found: Characteristic) -> Iterator[str]:
    """Yield a gate's chances and calls by instrument, and where it does not hold."""
    sequential = isinstance(found.rule, SequentialRule)
    for name, cells in found.cells.items():
        for cell in cells:
            told = f"{cell.instrument}, {cell.truth:g} ({name})"
            if cell.instrument == BY_RUN:
                told += ", of which one run shows the time slots asked"
            calls = f"; {cell.calls:.0f} calls on average" if sequential else ""
            yield f"    {told}: {chances_text(cell.chances)}{calls}"
    yield from (f"  {text}" for text in _lacking(found))


def _lacking(found: Characteristic) -> Iterator[str]:
    by_point, alpha = found.gate.decide == "point", float(found.gate.alpha)
    if lacking := shortcomings(found.cells, alpha, by_point=by_point):
        yield "this gate holds for an even instrument only: " + "; ".join(lacking)


def even_only(found: Characteristic) -> Iterator[str]:
    """Yield what a freeze has to say of a gate that holds for an even instrument only."""
    taken = "".join(f"; instead: {text}" for text in found.proposals if "few items" in text)
    yield from (f"gate {found.gate.id}: {text}{taken}" for text in _lacking(found))


def _worth(precision: Precision | None) -> str:
    if precision is None:
        return ""
    by = "by the pilot" if precision.from_pilot else "assumed"
    if precision.draws is not None:
        return f"; worth {precision.draws:.0f} independent draws ({by})"
    return f"; kappa {precision.kappa:.3g} ({by})"


def pilot_lines(found: Characteristic) -> Iterator[str]:
    """Yield what the pilot read, whether that is capable, and what it predicts."""
    if found.pilot is None:
        return
    for estimate in found.pilot.at_capable:
        place = "" if estimate.endpoint == "all" else f" at {estimate.endpoint}"
        if estimate.value is None:
            yield f"  pilot{place}: undefined ({estimate.undefined})"
            continue
        bounds = "no interval" if estimate.low is None else (
            f"one-sided bounds at .1: {estimate.low:.4g} and {estimate.high:.4g}"
        )  # fmt: skip
        yield f"  pilot{place}: {estimate.value:.4g} ({bounds})"
    if found.predicted is not None:
        yield f"  predicted for the piloted instrument: {chances_text(found.predicted.chances)}"
        yield from (f"    {note}" for note in found.predicted.notes)
    if found.declared:
        small = "the pilot is too small to tell whether the judge is capable"
        if (items := found.pilot_items) is not None:
            small += f"; {items} items would tell, for a healthy one, in nine of ten pilots"
        told = {True: "capable", False: "NOT capable", None: small}
        yield f"  {told[found.capable]}"


def chances_text(chances: Chances) -> str:
    """Return the chances of a gate's outcomes in words."""
    told = f"pass {chances.passes:.2f}, fail {chances.fails:.2f}"
    told += f", inconclusive {chances.inconclusive:.2f}"
    return told + (f", undefined {chances.undefined:.2f}" if chances.undefined > 0 else "")


def as_json(found: Characteristic) -> dict[str, Any]:
    """Return a characteristic as JSON values."""
    gate = found.gate
    return {
        "gate": gate.id,
        "statistic": gate.statistic,
        "asks": threshold_text(gate),
        "decide": gate.decide,
        "alpha": str(gate.alpha),
        "size": asdict(found.size),
        "precision": None if found.precision is None else asdict(found.precision),
        "healthy": _instrument(gate.healthy, found.healthy),
        "degraded": _instrument(gate.degraded, found.degraded),
        "discriminates": found.discriminates,
        "capable": found.capable,
        "pilot_items_wanted": found.pilot_items,
        "can_pass": found.fires[0],
        "can_fail": found.fires[1],
        "pilot": [_bounds(e) for e in found.pilot.at_capable] if found.pilot else None,
        "predicted": None if found.predicted is None else asdict(found.predicted),
        "exact_match_asks_of_each_pair": found.each_pair[0] if found.each_pair else None,
        "curve": [{"truth": t, **asdict(c)} for t, c in found.points],
        "proposals": list(found.proposals),
        "instruments": {n: [one.to_dict() for one in c] for n, c in found.cells.items()},
    }


def _instrument(instrument: Instrument | None, chances: Chances | None) -> dict[str, Any] | None:
    if instrument is None:
        return None
    return {"value": str(instrument.value), "chances": asdict(chances) if chances else None}


def _bounds(estimate: Estimate) -> dict[str, Any]:
    names = ("endpoint", "value", "low", "high", "level", "method", "undefined")
    return {name: getattr(estimate, name) for name in names}
