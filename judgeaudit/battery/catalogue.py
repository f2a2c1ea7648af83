"""The kinds of battery that a seed can build. A new kind is one builder and one line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from pydantic import ValidationError, validate_call

from judgeaudit.battery.items import Battery
from judgeaudit.battery.pairs import scored_answers, verdict_pairs
from judgeaudit.battery.slips import slip_items
from judgeaudit.battery.traces import label_items, ranking_items
from judgeaudit.battery.worlds import world_items
from judgeaudit.errors import InputError
from judgeaudit.model import JSON

KINDS: dict[str, Callable[..., Battery]] = {
    "traces": label_items,
    "rankings": ranking_items,
    "slips": slip_items,
    "pairs": verdict_pairs,
    "scores": scored_answers,
    "worlds": world_items,
}
"""Each builder takes the number of tasks, a seed and its own options by name."""


def build_battery(kind: str, n: int, seed: int, **options: JSON) -> Battery:
    """Return the battery `kind` of `n` tasks (or pairs, or worlds) from `seed`.

    The same arguments give the same bytes on every machine, and a larger `n` begins with the items
    of a smaller one.
    Raises `InputError` for an unknown kind, an unknown option or a value that it cannot take.
    """
    if kind not in KINDS:
        raise InputError("battery", found=f"no kind {kind!r}", remedy=f"one of {', '.join(KINDS)}")
    builder = validate_call(KINDS[kind])
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
    parameters = inspect.signature(KINDS[kind]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
