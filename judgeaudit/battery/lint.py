"""Does the measurand exist? The battery's linter (FIELD, rule 6).

Errors make a battery unfit: ids or candidates that cannot be told apart (CE's gate I-2R), a world
in which an outcome should change the decision. Warnings say what an analysis will lack: accuracy
away from .5, few mixed tasks (CE had 16.25 %), no gold, thin cells of constructed errors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from judgeaudit.battery.catalogue import KINDS, kind_of
from judgeaudit.battery.irrelevance import worlds_found
from judgeaudit.battery.kind import Finding, Severity
from judgeaudit.errors import InputError
from judgeaudit.model import Item

ACCURACY = (Fraction(35, 100), Fraction(65, 100))
"""Share of correct candidates that counts as near .5."""

MIXED_FLOOR = Fraction(1, 2)
"""Least share of tasks that have both correct and incorrect candidates."""


def lint(items: Sequence[Item]) -> list[Finding]:
    """Return all findings over a battery; controls are left out. Raises `InputError` for none."""
    studied = [item for item in items if "control" not in item.meta]
    if not studied:
        raise InputError("battery", found="no items beside controls")
    rules = (_ids, _indistinguishable, _truth, worlds_found, _of_kinds)
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
    kinds = [kind for item in items if (kind := kind_of(item)) is not None]
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
    if known and all(kind.balanced for kind in kinds):
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


def _of_kinds(items: Sequence[Item]) -> Iterator[Finding]:
    """Hold the items of each kind to that kind's own rules."""
    for kind in KINDS.values():
        if own := [item for item in items if kind_of(item) is kind]:
            yield from kind.lint(own)
