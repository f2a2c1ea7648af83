"""The kinds of battery that a seed can build. A new kind is one file and one line here."""

from __future__ import annotations

import inspect

from pydantic import ValidationError, validate_call

from judgeaudit.battery.items import Battery
from judgeaudit.battery.kind import BatteryKind
from judgeaudit.battery.pairs import PAIRS, SCORES
from judgeaudit.battery.slips import SLIPS
from judgeaudit.battery.traces import RANKINGS, TRACES
from judgeaudit.battery.world_kind import WORLDS
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Item

RECORDS: tuple[BatteryKind, ...] = (TRACES, RANKINGS, SLIPS, PAIRS, SCORES, WORLDS)

KINDS: dict[str, BatteryKind] = {record.name: record for record in RECORDS}
"""The catalogue: kinds by name."""


def build_battery(kind: str, n: int, seed: int, **options: JSON) -> Battery:
    """Return the battery `kind` from `seed`; `n` counts what its record says, such as tasks.

    The same arguments give the same bytes on every machine, and a larger `n` begins with the items
    of a smaller one.
    Raises `InputError` for an unknown kind, an unknown option or a value that it cannot take.
    """
    if kind not in KINDS:
        raise InputError("battery", found=f"no kind {kind!r}", remedy=f"one of {', '.join(KINDS)}")
    builder = validate_call(KINDS[kind].build)
    try:
        return builder(n, seed, **options)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = str(fault["loc"][-1])
        allowed = ", ".join(options_of(kind)) or "none"
        raise InputError(
            "battery",
            f"{kind}: {name}",
            f"{fault['input']!r}: {fault['msg']}",
            f"options: {allowed}",
        ) from error


def options_of(kind: str) -> dict[str, JSON]:
    """Return a kind's options with their defaults."""
    parameters = inspect.signature(KINDS[kind].build).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def kind_of(item: Item) -> BatteryKind | None:
    """Return the kind that built an item, by its meta `battery`; None for a person's own rows."""
    return KINDS.get(str(item.meta.get("battery", "")))
