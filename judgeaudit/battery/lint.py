"""Does the measurand exist? The battery's linter (FIELD, rule 6).

Errors make a battery unfit: ids or candidates that cannot be told apart (CE's gate I-2R), a world
in which an outcome should change the decision. Warnings say what an analysis will lack: accuracy
away from .5, few mixed tasks (CE had 16.25 %), no gold, thin cells of constructed errors.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from judgeaudit.battery.posterior import Record, after_shown, posteriors
from judgeaudit.battery.worlds import log_row
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Item

Severity = Literal["error", "warning", "note"]

ACCURACY = (Fraction(35, 100), Fraction(65, 100))
"""Share of correct candidates that counts as near .5."""

MIXED_FLOOR = Fraction(1, 2)
"""Least share of tasks that have both correct and incorrect candidates."""

FLOOR = Fraction(95, 100)
"""Least chance that the better tool is better, whatever a world shows."""

FEW_WORLDS = 4
"""Worlds below which nothing is said of the order of tools."""

CELL_FLOOR = 20
"""A contrast within an error type needs this many independent slips a cell."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: how grave, by which rule, where, and what."""

    severity: Severity
    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{self.severity}: {where}{self.message} [{self.rule}]"


def lint(items: Sequence[Item]) -> list[Finding]:
    """Return all findings over a battery; controls are left out. Raises `InputError` for none."""
    studied = [item for item in items if "control" not in item.meta]
    if not studied:
        raise InputError("battery", found="no items beside controls")
    rules = (_ids, _indistinguishable, _truth, _slips, _worlds)
    return [finding for rule in rules for finding in rule(studied)]


def _ids(items: Sequence[Item]) -> Iterator[Finding]:
    for name, count in Counter(item.id for item in items).items():
        if count > 1:
            yield Finding("error", "unique-ids", name, f"{count} items have this id")


def _indistinguishable(items: Sequence[Item]) -> Iterator[Finding]:
    """Find candidates of one group that read the same under the same fields.

    Label readouts ask one candidate an item, so candidates of a group are compared over items. In
    a person's own rows, where a group need not be one task, that is a warning.
    """
    seen: dict[str, tuple[str, str]] = {}
    for item in items:
        for candidate in item.candidates:
            place = f"{item.id}/{candidate.id}"
            rendered = repr((item.group, sorted(item.fields.items()), candidate.text))
            other, of_item = seen.setdefault(rendered, (place, item.id))
            if other != place:
                own_rows = "battery" not in item.meta and of_item != item.id
                severity: Severity = "warning" if own_rows else "error"
                yield Finding(severity, "I-2R", place, f"reads the same as {other}")


def _truth(items: Sequence[Item]) -> Iterator[Finding]:
    """Look at accuracy, mixed tasks and the presence of gold."""
    kinds = {item.meta.get("battery") for item in items}
    known = [
        (item.task, candidate.correct)
        for item in items
        for candidate in item.candidates
        if candidate.correct is not None
    ]
    without = sum(
        item.gold is None and all(c.correct is None for c in item.candidates) for item in items
    )
    if without:
        message = f"{without} of {len(items)} items have no gold: no agreement with the truth"
        yield Finding("warning", "gold", "", message)
    # Constructed slips are one right candidate among nine by design; a world has one of two.
    if known and not kinds & {"slips", "worlds"}:
        yield from _balance(known)


def _balance(known: Sequence[tuple[str, bool]]) -> Iterator[Finding]:
    accuracy = Fraction(sum(correct for _, correct in known), len(known))
    if not ACCURACY[0] <= accuracy <= ACCURACY[1]:
        message = f"{float(accuracy):.3f} of candidates are correct, away from .5"
        yield Finding("warning", "accuracy", "", message)
    tasks: dict[str, set[bool]] = defaultdict(set)
    for task, correct in known:
        tasks[task].add(correct)
    mixed = sum(len(found) == 2 for found in tasks.values())
    if Fraction(mixed, len(tasks)) < MIXED_FLOOR:
        message = f"{mixed} of {len(tasks)} tasks hold both correct and incorrect candidates"
        yield Finding("warning", "mixed-tasks", "", message)


def _slips(items: Sequence[Item]) -> Iterator[Finding]:
    """Look at sizes of constructed errors: present, and enough in each cell.

    Slips of one task are not independent, so a cell counts tasks.
    """
    cells: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in items:
        if item.meta.get("battery") != "slips":
            continue
        for candidate in item.candidates:
            if candidate.correct:
                continue
            if not {"type", "bin", "relative_error"} <= candidate.meta.keys():
                place = f"{item.id}/{candidate.id}"
                yield Finding("error", "error-size", place, "a slip without type and size")
                continue
            cells[candidate.meta["type"], candidate.meta["bin"]].add(item.task)
    thin = [f"{kind} {name}" for (kind, name), t in sorted(cells.items()) if len(t) < CELL_FLOOR]
    if thin:
        message = f"{len(thin)} of {len(cells)} cells have fewer than {CELL_FLOOR} tasks: "
        yield Finding("warning", "thin-cells", "", message + ", ".join(thin))


def _worlds(items: Sequence[Item]) -> Iterator[Finding]:
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
