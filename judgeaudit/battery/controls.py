"""Controls that every window carries: identical candidates, and an answer that is known.

They are made from a battery's own first item, so that the study's prompt fits them:

* `identical`: nothing distinguishes what is compared; `expect` is `indifferent`. For readouts that
  compare, one item whose candidates read the same; for readouts of one answer, two items that read
  the same (`meta["twin"]` names the other); for choices, two tools with equal records.
* `gold`: one candidate says nothing; `expect` is the id of the other where candidates are
  compared, or `low` where a number is read: below .5, or below the middle of the scale.

Which of them fit is a fact of the readout's record: `compared` (candidates of one item, at least
two), `compared_if_several` (else as `twins`), `tools` (those that the record of the item's battery
kind makes, else as `twins`), `low` (a number), or `twins`: free text, a verdict on one candidate
and a choice of tools without a log have no known answer; their only control is the identical pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judgeaudit.battery.catalogue import kind_of
from judgeaudit.battery.kind import control_item
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Candidate, Item

NOTHING = "No answer was given."
"""What the losing candidate of a gold control says."""


def controls_for(kind: str, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the controls of a study over these items; `kind` is its readout's `record.controls`.

    Raises `InputError` where there are no items, or compared ones have no two candidates.
    """
    item = next((item for item in items if "control" not in item.meta), None)
    if item is None:
        raise InputError("controls", found="no items to make controls from")
    if kind == "compared" or (kind == "compared_if_several" and len(item.candidates) > 1):
        return _compared(item)
    built = kind_of(item)
    if kind == "tools" and built is not None and built.controls is not None:
        return built.controls(item)
    return _twins(item) + (_silent(item) if kind == "low" else ())


def _compared(item: Item) -> tuple[Item, ...]:
    if len(item.candidates) < 2:
        found = f"item {item.id!r} has {len(item.candidates)} candidates"
        raise InputError("controls", found=found, remedy="a comparison needs at least 2")
    best = _best(item)
    same = tuple(replace(c, text=best.text, correct=None, meta=_place(c)) for c in item.candidates)
    gold = control_item(item, "gold", "control-gold", best.id)
    return (
        replace(
            control_item(item, "identical", "control-identical", "indifferent"), candidates=same
        ),
        replace(gold, candidates=_against_nothing(item, best), gold=best.id),
    )


def _best(item: Item) -> Candidate:
    """Return the candidate known to be right, else the first."""
    right = [c for c in item.candidates if c.correct or c.id == item.gold]
    return right[0] if right else item.candidates[0]


def _place(candidate: Candidate) -> dict[str, JSON]:
    """Return the part of a candidate's meta that a prompt needs: the name of its place."""
    return {key: value for key, value in candidate.meta.items() if key == "field"}


def _against_nothing(item: Item, best: Candidate) -> tuple[Candidate, ...]:
    """Return the candidates with every text but the best's replaced; they stay distinct."""
    silent = iter([NOTHING, *(f"{NOTHING} ({k})" for k in range(2, len(item.candidates)))])
    return tuple(
        replace(c, text=c.text if c is best else next(silent), correct=c is best, meta=_place(c))
        for c in item.candidates
    )


def _twins(item: Item) -> tuple[Item, ...]:
    names = ("control-identical-1", "control-identical-2")
    return tuple(
        control_item(item, "identical", name, "indifferent", twin=twin)
        for name, twin in zip(names, names[::-1], strict=True)
    )


def _silent(item: Item) -> tuple[Item, ...]:
    """Return an item whose only candidate says nothing, where items have one at all."""
    if len(item.candidates) != 1:
        return ()
    only = item.candidates[0]
    silent = replace(only, text=NOTHING, correct=False, meta=_place(only))
    return (replace(control_item(item, "gold", "control-gold", "low"), candidates=(silent,)),)
