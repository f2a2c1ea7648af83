"""The facets of a table in words: what runs, windows, orders and judges do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from judgeaudit.analysis.facets import Facet, Facets, Level
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.resolution import Resolution, distance, needed

MOST_LEVELS = 12
MANY_GAPS = 0.02
MORE_RUNS = 4
MORE_READINGS = 10
PLURAL = {"run": "runs", "window": "windows", "order": "orders", "judge": "judges"}


def facet_lines(found: Facets) -> Iterator[str]:
    """Yield the facets, what shifted, where cells are empty, and the resolution."""
    if found.categories:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in found.categories.items())
        yield f"labels over all readings: {shares}"
    if found.tasks is not None:
        yield f"{found.items} items lie in {found.tasks} tasks"
    for facet in found.facets:
        yield from _facet(facet, list(found.categories))
    yield from _trail(found)
    yield from _gaps(found)


def _facet(facet: Facet, categories: Sequence[str]) -> Iterator[str]:
    many = PLURAL[facet.name]
    balanced = "" if facet.balanced else ", not every item in each equally often"
    if math.isnan(facet.levels[0].mean) and not any(level.shares for level in facet.levels):
        return
    shares = f"share of {'/'.join(categories)}"
    what = shares if any(level.shares for level in facet.levels) else "mean"
    yield f"{what} by {facet.name}: {_levels(facet)}{balanced}"
    if facet.untested:
        yield f"  no test of a shift: {facet.untested}"
        return
    p = _p(facet.adjusted)
    if not facet.shifted:
        yield f"  no shift between {many} found ({facet.test}, {p}); that is no proof of none"
        return
    yield f"warning: the {many} do not have one level ({facet.test}, {p}, Holm over the facets)"
    for name in facet.named:
        yield f"  {facet.name} {name} lies {facet.shifts[name]:+.3f} off the others"
    if len(facet.levels) == 2 and facet.shifts:
        ((name, value),) = facet.shifts.items()
        yield f"  {facet.name} {name} lies {value:+.3f} off the other; nothing tells which moved"


def _levels(facet: Facet) -> str:
    if len(facet.levels) <= MOST_LEVELS:
        return ", ".join(_level(level) for level in facet.levels)
    means = [level.mean for level in facet.levels if not math.isnan(level.mean)]
    if not means:
        return f"{len(facet.levels)}"
    return f"{min(means):.3f} to {max(means):.3f} over {len(facet.levels)} of them"


def _level(level: Level) -> str:
    if level.shares:
        return f"{level.name}: " + "/".join(f"{share:.0%}" for share in level.shares)
    return f"{level.name}: {level.mean:.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return "no p value"
    return "p < .001" if value < 0.001 else f"p = {value:.3f}"


def _trail(found: Facets) -> Iterator[str]:
    trail = found.trail
    if trail is None:
        return
    window = next(facet for facet in found.facets if facet.name == "window")
    before, after = (
        window.levels[trail.change_after].name,
        window.levels[trail.change_after + 1].name,
    )
    yield (
        f"over the windows the largest lasting change, {trail.change:+.3f}, lies between {before} "
        f"and {after} ({_p(trail.change_p)})"
    )


def _gaps(found: Facets) -> Iterator[str]:
    seen = found.gaps
    if not seen.empty:
        return
    share = seen.empty / seen.cells
    where = f"they cluster in {', '.join(seen.where)}" if seen.where else "no pattern was found"
    note = "warning: " if seen.where and share > MANY_GAPS else ""
    yield (
        f"{note}cells without a reading: {seen.empty} of {seen.cells}, in {seen.items_touched} "
        f"items; {where}"
    )
    if "kind of item" in seen.where:
        yield (
            f"  items with a gap differ by {seen.kind_difference:+.2f} SD from the others: what is "
            "left is a selection"
        )


def resolution_lines(found: Facets, gap: float | None = None) -> Iterator[str]:
    """Yield the resolution of each comparison, or why there is none; with a `gap`, its price."""
    for comparison, resolved in found.resolutions.items():
        if isinstance(resolved, Undefined):
            yield f"resolution between {comparison}: undefined, {resolved.reason}"
        elif resolved.sized:
            yield from _resolved(comparison, resolved)
            if gap is not None:
                yield _priced(comparison, resolved, gap)
        else:
            yield from _unsized(found, comparison)


def _resolved(comparison: str, found: Resolution) -> Iterator[str]:
    c = found.calibration
    yield (
        f"resolution between {comparison} of one system: {found.value:.3g} "
        f"(95% interval {found.interval.low:.3g} to {found.interval.high:.3g}; {c.runs} runs): "
        f"means over these {c.items} items that differ by less may be the judge's own noise"
    )
    if found.floor:
        yield "  the run means lie as close as item noise lets them: item noise is the floor"
        return
    readings = distance(c, 1, MORE_READINGS * c.readings)
    runs = distance(c, MORE_RUNS)
    if runs < readings:
        yield (
            f"  more runs, not more readings: {MORE_READINGS} times the readings in a run give "
            f"{readings:.3g}, {MORE_RUNS} runs give {runs:.3g}"
        )


def _priced(comparison: str, found: Resolution, gap: float) -> str:
    price = needed(found.calibration, gap)
    what = f"  a gap of {gap:g} between two systems' means ({comparison}, 5%, power 80%)"
    if isinstance(price, Undefined):
        return f"{what}: {price.reason}"
    fewest = (
        f"; fewer than {price.fewest_runs} runs are never enough" if price.fewest_runs > 1 else ""
    )
    return f"{what} takes {price.runs} runs with {price.readings} readings of each item{fewest}"


def _unsized(found: Facets, comparison: str) -> Iterator[str]:
    yield f"resolution between {comparison}: two runs cannot size a run effect"
    facet = next((f for f in found.facets if f.name in ("run", "window")), None)
    if facet is None or len(facet.levels) != 2:
        return
    first, second = facet.levels
    yield (
        f"  their means are {first.mean:.3f} and {second.mean:.3f}, difference "
        f"{second.mean - first.mean:+.3f} ({_p(facet.p)})"
    )
