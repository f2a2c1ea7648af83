"""The battery of worlds as a kind: its record, and the controls made from one of its items."""

from __future__ import annotations

from dataclasses import replace

from judgeaudit.battery.domains import DOMAINS
from judgeaudit.battery.kind import BatteryKind, control_item, nothing_of_its_own
from judgeaudit.battery.longer import longer, more_of
from judgeaudit.battery.posterior import Record
from judgeaudit.battery.worlds import World, world_item, world_items
from judgeaudit.model import Item


def controls_of(item: Item) -> tuple[Item, ...]:
    """Return two tools with equal records, and a tool that never failed beside one that always did.

    Both keep the item's setting, names and, where it has prices, one price for both tools.
    """
    runs = item.meta["better_record"][1]
    equal = Record(runs // 2, runs)
    return (
        _control(item, "identical", "indifferent", equal, equal),
        _control(item, "gold", "better", Record(runs, runs), Record(0, runs)),
    )


def _control(item: Item, kind: str, expect: str, better: Record, worse: Record) -> Item:
    domain = next(d for d in DOMAINS if d.name == item.meta["domain"])
    names = item.meta["better"], item.meta["worse"]
    world = World(f"control-{kind}", domain, *names, True, better, worse, *_price(item))
    gold = expect if kind == "gold" else None
    made = world_item(world)
    if cases := item.meta.get("cases"):
        # A world's item has the fields of as many outcomes as the others.
        clauses = {"failed": domain.failure, "succeeded": domain.success}
        made = longer(made, more_of(cases), clauses)
    return replace(control_item(made, kind, world.name, expect), gold=gold)


def _price(item: Item) -> tuple[int | None, int | None]:
    """Return one price for both tools, where the battery's worlds have prices."""
    costs = item.meta["costs"]
    return (None, None) if costs is None else (costs[0], costs[0])


WORLDS = BatteryKind(
    name="worlds",
    build=world_items,
    counted="worlds",
    about="two tools with a log that settles which is better",
    balanced=False,  # a world has one better tool of two by construction
    lint=nothing_of_its_own,  # `irrelevance` holds anybody's worlds to their records
    controls=controls_of,
)
