"""Checks of criteria against the plan: what a statistic needs and the plan does not hold.

* A `where` must name a column of the plan or a key of the items' meta, with a value that occurs.
* A gate or rule whose statistic reads another kind of answer than the protocol gives, or needs a
  facet that the plan lacks (repeats, windows, days, arms, groups, gold, candidates or items of
  constructed truth), is refused: it would be undefined after the money is spent. A registered
  analysis of that kind is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgeaudit.design.asking import Asker
from judgeaudit.design.criteria import Gate, Rule
from judgeaudit.design.document import Registration
from judgeaudit.errors import Problem
from judgeaudit.model import Item, PlannedCall
from judgeaudit.statistic import Catalogue, Facet, Statistic

COLUMNS = ("item", "group", "task", "arm", "day", "window", "repeat", "draw", "stage")
"""Columns of the plan that `where` may name; endpoint and condition are checked by themselves."""

LACKS: Mapping[Facet, tuple[str, str]] = {
    "repeats": ("repeats of the same request", "set schedule.repeats to 2"),
    "windows": ("several windows", "set schedule.windows_per_day or schedule.days to 2"),
    "days": ("several days", "set schedule.days to 2"),
    "arms": ("two ways of asking an item", 'e.g. orders = "both" of a pair'),
    "groups": ("groups of two items or more", "give items that belong together one group"),
    "gold": ("gold answers", "give the items' gold, e.g. init --gold COLUMN"),
    "candidates": ("candidates of constructed error", "e.g. init --items from battery slips"),
    "truth": ("items of constructed truth", "e.g. candidates with `correct`"),
    "pair": ("exactly two readings of an item", "set schedule.repeats to 2 in one window"),
    "invalid": ("invalid readings", "leave out"),
}
"""What a facet is, and how a study gets it."""


def plan_problems(
    registration: Registration,
    asker: Asker,
    plan: Sequence[PlannedCall],
    items: Sequence[Item],
    statistics: Catalogue | None,
) -> Iterator[Problem]:
    """Yield gates and rules that this plan cannot answer."""
    values = _values(plan, items)
    held, columns = facets(plan, items), _columns(asker)
    for key, criterion in _criteria(registration):
        yield from _where_problems(f"{key}.where", criterion.where, values)
        found = (statistics or {}).get(criterion.statistic)
        if found is not None:
            yield from _lacking(f"{key}.statistic", found, held, columns)


def plan_notes(
    registration: Registration,
    asker: Asker,
    plan: Sequence[PlannedCall],
    items: Sequence[Item],
    statistics: Catalogue | None,
) -> Iterator[str]:
    """Yield registered analyses that this plan cannot answer, and that a study is of one item."""
    held, columns = facets(plan, items), _columns(asker)
    for number, analysis in enumerate(registration.asked_analyses()):
        found = (statistics or {}).get(analysis.statistic)
        if found is not None:
            lacking = _lacking(f"analyses[{number}]", found, held, columns)
            yield from (f"{problem}; it will be undefined" for problem in lacking)
    if len(items) == 1:
        yield "one item: no interval and no gate can rest on it"


def _criteria(registration: Registration) -> Iterator[tuple[str, Gate | Rule]]:
    yield from ((f"gates[{n}]", gate) for n, gate in enumerate(registration.gates))
    yield from ((f"rules[{n}]", rule) for n, rule in enumerate(registration.rules))


def facets(plan: Sequence[PlannedCall], items: Sequence[Item]) -> frozenset[Facet]:
    """Return what a plan over these items (controls apart) holds."""
    probes = {item.id for item in items}
    calls = [call for call in plan if call.item in probes]
    same = Counter((c.endpoint, c.stage, c.condition, c.item, c.arm) for c in calls)
    arms = Counter((item, stage) for item, stage, _ in {(c.item, c.stage, c.arm) for c in calls})
    times = Counter((c.endpoint, c.stage, c.condition, c.item, c.draw) for c in calls)
    sizes = Counter(item.group for item in items)
    candidates = [candidate for item in items for candidate in item.candidates]
    held: dict[Facet, bool] = {
        "repeats": max(same.values(), default=0) > 1,
        "windows": len({c.window for c in calls}) > 1,
        "days": len({c.day for c in calls}) > 1,
        "arms": max(arms.values(), default=0) > 1,
        "groups": max(sizes.values(), default=0) > 1,
        "gold": any(item.gold is not None for item in items),
        "candidates": any("relative_error" in candidate.meta for candidate in candidates),
        "truth": any(candidate.correct is not None for candidate in candidates),
        "pair": max(times.values(), default=0) == 2,
        "invalid": True,  # which readings are invalid, no plan knows
    }
    return frozenset(facet for facet, there in held.items() if there)


def _columns(asker: Asker) -> frozenset[str]:
    return frozenset(one.readout.record.column for stage in asker.stages for one in stage)


def _lacking(
    key: str, found: Statistic, held: frozenset[Facet], columns: frozenset[str]
) -> Iterator[Problem]:
    if found.reads and not columns & set(found.reads):
        reads, gives = " or ".join(found.reads), " and ".join(sorted(columns))
        yield Problem(key, f"{found.name!r} reads {reads}, the protocol gives {gives}", "leave out")
    for facet in sorted(found.needs - held):
        what, remedy = LACKS[facet]
        yield Problem(key, f"{found.name!r} needs {what}, of which the plan has none", remedy)


def _values(plan: Sequence[PlannedCall], items: Sequence[Item]) -> dict[str, set[str]]:
    """Return the values of each plan column and each scalar meta key of the items, as text."""
    probes = {item.id for item in items}
    calls = [call for call in plan if call.item in probes]
    found = {name: {str(getattr(call, name)) for call in calls} for name in COLUMNS}
    for item in items:
        for name, value in item.meta.items():
            if isinstance(value, str | int | float | bool):
                found.setdefault(name, set()).add(as_text(value))
    return found


def as_text(value: object) -> str:
    """Return a value as `where` compares it: a boolean as JSON and TOML write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _where_problems(
    key: str, where: Mapping[str, str], values: Mapping[str, set[str]]
) -> Iterator[Problem]:
    for name, wanted in where.items():
        if name in ("endpoint", "condition"):
            continue
        if name not in values:
            yield Problem(f"{key}.{name}", "no such column or meta key", f"one of {_some(values)}")
        elif wanted not in values[name] | {value.capitalize() for value in values[name]}:
            found = f"found: {_some(values[name])}"
            yield Problem(f"{key}.{name}", f"no item has {wanted!r}", found)


def _some(values: Mapping[str, object] | set[str]) -> str:
    listed = sorted(values)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
