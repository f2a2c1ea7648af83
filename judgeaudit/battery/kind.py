"""The one record of a battery kind: what builds it, and every fact that another room asks of it.

Rules of this module:

* A record has no default: whoever adds a kind says every fact, also that there is none.
* No module keeps a table of its own by names of kinds; it reads the record, which `of` finds by
  what the builder wrote into an item's meta (`battery`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judgeaudit.battery.items import Battery
from judgeaudit.model import JSON, Item

Severity = Literal["error", "warning", "note"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryKind:
    """All that is known of one kind of battery.

    name: what commands and protocols call it, and what its items carry as `meta["battery"]`.
    build: takes the number of `counted`, a seed and options by name, and returns the battery.
    counted: what the number counts: "tasks", "pairs", "worlds". about: one line for people.
    balanced: whether about half of the candidates shall be right, and most tasks mixed.
    lint: yields what is wrong with items of this kind, beside the rules for all.
    controls: makes the controls of a choice of tools from an item; None where it has no tools.
    """

    name: str
    build: Callable[..., Battery]
    counted: str
    about: str
    balanced: bool
    lint: Callable[[Sequence[Item]], Iterator[Finding]]
    controls: Callable[[Item], tuple[Item, ...]] | None


def nothing_of_its_own(items: Sequence[Item]) -> Iterator[Finding]:
    """Yield nothing: a kind to which no rule but the common ones applies."""
    return iter(())


def control_item(item: Item, kind: str, name: str, expect: str, **meta: JSON) -> Item:
    """Return an item made a control called `name`: its kind, what is expected, and no gold."""
    marks = {"control": kind, "expect": expect, **meta}
    return replace(item, id=name, group=name, task=name, gold=None, meta=marks)
