"""Worlds held to their guarantee: no outcome they show is a reason to change the choice.

Worlds are held to their guarantee by their records, whoever made them: an item is a world by its
counts (`better_record`, `worse_record`) or by its two candidates `better` and `worse`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from judgeaudit.battery.kind import Finding
from judgeaudit.battery.posterior import Record, after_shown, posteriors
from judgeaudit.battery.worlds import log_row
from judgeaudit.model import JSON, Item

FLOOR = Fraction(95, 100)
"""Least chance that the better tool is better, whatever a world shows."""

FEW_WORLDS = 4
"""Worlds below which nothing is said of the order of tools."""


def worlds_found(items: Sequence[Item]) -> Iterator[Finding]:
    """Hold worlds to their guarantee by their records, whoever made them."""
    worlds = [item for item in items if _is_world(item)]
    for item in worlds:
        yield from _world(item)
    bare = [item.id for item in worlds if not _ours(item) and _no_records(item)]
    if bare:
        message = (
            f"{len(bare)} worlds have no counts in meta better_record and worse_record: that an "
            "outcome is no reason to change the choice cannot be checked"
        )
        yield Finding("warning", "world", bare[0], message)
    yield from _order(worlds)


def _ours(item: Item) -> bool:
    return item.meta.get("battery") == "worlds"


def _no_records(item: Item) -> bool:
    return not {"better_record", "worse_record"} & item.meta.keys()


def _is_world(item: Item) -> bool:
    """Tell whether an item asks for a better tool: by its records, or by its candidates."""
    told = {"better_record", "worse_record"} & item.meta.keys()
    tools = {candidate.id for candidate in item.candidates} == {"better", "worse"}
    return _ours(item) or bool(told) or tools


def _world(item: Item) -> Iterator[Finding]:
    """Hold one world to its guarantee, and its log to the counts that the guarantee is about."""
    better, worse = (_record(item.meta.get(f"{role}_record")) for role in ("better", "worse"))
    if not _ours(item) and _no_records(item):
        return
    if better is None or worse is None:
        yield Finding("error", "world", item.id, "no counts of successes and runs")
        return
    chances = {**posteriors(better, worse)}
    for case, shown in _cases(item).items():
        if shown is None:
            yield Finding("error", "world", item.id, f"meta.cases.{case}: no [successes, runs]")
        else:
            chances[case] = after_shown(better, worse, shown)
    for case, value in chances.items():
        if value < FLOOR:
            message = f"the better tool is better with P = {float(value):.4f} < .95 ({case})"
            yield Finding("error", "decision-irrelevance", item.id, message)
    yield from _log(item, better, worse)


def _cases(item: Item) -> dict[str, dict[str, tuple[int, int]] | None]:
    """Return what each further case shows beyond the log, None where that cannot be read."""
    told = item.meta.get("cases", {})
    if not isinstance(told, Mapping):
        return {"": None}
    found: dict[str, dict[str, tuple[int, int]] | None] = {}
    for case, shown in told.items():
        parts = dict(shown) if isinstance(shown, Mapping) else {"": None}
        records = {role: _record(value) for role, value in parts.items()}
        whole = all(records.values()) and set(records) <= {"better", "worse"}
        found[case] = (
            {role: (r.successes, r.runs) for role, r in records.items() if r} if whole else None
        )
    return found


def _log(item: Item, better: Record, worse: Record) -> Iterator[Finding]:
    """Find a log that shows other counts than those by which the guarantee was computed.

    Of our own worlds the tool's row is wanted; of anybody's the counts themselves, as numbers.
    """
    log = str(item.fields.get("log", ""))
    numbers = set(re.findall(r"\d+", log or " ".join(map(str, item.fields.values()))))
    for role, record in (("better", better), ("worse", worse)):
        if _ours(item):
            shown = log_row(str(item.meta.get(role)), record, None) in log
        else:
            failed = record.runs - record.successes
            counts = {str(record.successes), str(record.runs), str(failed)}
            shown = len(counts & numbers) >= min(2, len(counts))
        if not shown:
            message = f"the log does not show the {role} tool's counts"
            yield Finding("error", "world", item.id, message)


def _order(worlds: Sequence[Item]) -> Iterator[Finding]:
    """Find worlds that show the better tool in one place: then place and quality are one."""
    shown = [item for item in worlds if len(item.candidates) == 2]
    first = sum(item.candidates[0].id == "better" for item in shown)
    if len(shown) >= FEW_WORLDS and first in (0, len(shown)):
        place = "first" if first else "second"
        message = f"the better tool is shown {place} in all {len(shown)} worlds: balance the order"
        yield Finding("warning", "order", "", message)


def _record(value: JSON) -> Record | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    successes, runs = value
    if not (isinstance(successes, int) and isinstance(runs, int) and 0 <= successes <= runs):
        return None
    return Record(successes, runs)
