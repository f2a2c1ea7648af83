"""The plan: every call of a study, in the order in which it is to be sent.

* A window is `d1w1` (day 1, window 1); of a later stage `s2-d1w1`. The schedule's days and windows
  are those of the last stage; an earlier stage, whose readings later bodies are made from, has one
  window, the first condition, one repeat and one draw.
* A lane is (window, endpoint). Within a lane `plan_index` is the sending order, and what has been
  reserved is always a prefix of it.
* A window runs in passes, one a (repeat, draw): the same bytes never follow each other directly
  unless the window holds nothing else. The order of a pass is drawn by the seed, anew for each
  window and pass, and is the same for all endpoints and conditions, so that these are compared
  at one time.
* A pass is cut into chunks of one condition each; chunk k of all conditions follow each other in a
  seeded order (`interleaved`), or each condition runs through the whole window (`blocked`).
* Arms of a readout stay together; which comes first is balanced over the items (CE's arm order).
* With `schedule.block` each window asks the next block of one seeded order of the items, so that no
  item is asked in two windows: what a sequential gate asks in one go. Where the task is the gate's
  unit, a block is so many whole tasks.
* `replay_share` and `repeat_share` take whole groups, from the front of one seeded order of the
  groups, so that the smaller set lies within the larger. Controls are asked once in every window.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel

from judgeaudit.canonical import body_bytes, digest, digest_of
from judgeaudit.design.asking import Asker, Asking
from judgeaudit.design.base import plain
from judgeaudit.design.document import Condition, Registration, Schedule
from judgeaudit.design.protocol import (
    Cell,
    Decoding,
    PromptSpec,
    ProtocolDocument,
    Stage,
    Take,
)
from judgeaudit.errors import InputError
from judgeaudit.model import Item, PlannedCall, Window

BodyDigests = Mapping[tuple[str, int, str, str], str]
"""(endpoint, stage, item, arm) -> digest of the body; what is missing belongs to a later stage."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slot:
    """One call of a window before it is given to endpoints."""

    item: Item
    asking: Asking
    arm: str
    condition: str
    repeat: int
    draw: int


def is_control(item: Item) -> bool:
    """Return whether an item is a known-answer control, which no analysis counts as a probe."""
    return "control" in item.meta


def windows(schedule: Schedule, stages: int = 1) -> tuple[Window, ...]:
    """Return all windows in order."""
    early = [Window(_name(stage, 1, 1), stage, 1, 1) for stage in range(1, stages)]
    late = [
        Window(_name(stages, day, index), stages, day, index)
        for day in range(1, schedule.days + 1)
        for index in range(1, schedule.windows_per_day + 1)
    ]
    return tuple(early + late)


def _name(stage: int, day: int, index: int) -> str:
    return f"d{day}w{index}" if stage == 1 else f"s{stage}-d{day}w{index}"


def make_plan(
    registration: Registration,
    protocol: ProtocolDocument,
    items: Sequence[Item],
    controls: Sequence[Item],
    bodies: BodyDigests,
) -> tuple[PlannedCall, ...]:
    """Return the whole plan.

    `bodies` gives the digests of stage 1; a later stage's calls carry a derivation digest instead.
    Raises `InputError` if two calls would share an id.
    """
    asker = Asker.of(protocol)
    tasks = registration.sequential is not None and registration.sequential.unit == "task"
    derive = _Derivations(protocol)
    calls: list[PlannedCall] = []
    for window in windows(registration.schedule, len(asker.stages)):
        slots = list(
            window_slots(registration.schedule, window, asker, items, controls, tasks=tasks)
        )
        for endpoint in registration.endpoints:
            for slot in slots:
                key = (endpoint.id, window.stage, slot.item.id, slot.arm)
                later = None if window.stage == 1 else derive(*key)
                calls.append(_call(len(calls), endpoint.id, window, slot, bodies.get(key), later))
    _refuse_shared_ids(calls)
    return tuple(calls)


def _call(
    index: int, endpoint: str, window: Window, slot: Slot, body: str | None, later: str | None
) -> PlannedCall:
    asked: tuple[str | int, ...] = (window.stage, endpoint, slot.item.id, slot.arm)
    key = (*asked, slot.condition, window.id, slot.repeat, slot.draw)
    return PlannedCall(
        plan_index=index,
        call_id=call_id(key),
        stage=window.stage,
        endpoint=endpoint,
        item=slot.item.id,
        group=slot.item.group,
        task=slot.item.task,
        arm=slot.arm,
        condition=slot.condition,
        day=window.day,
        window=window.id,
        repeat=slot.repeat,
        draw=slot.draw,
        body_sha256=body,
        derivation_sha256=later,
    )


def call_id(key: Sequence[str | int]) -> str:
    """Return a call's id: `c` and 12 hexadecimal digits of its canonical key's digest.

    The key is stage, endpoint, item, arm, condition, window, repeat, draw; the id therefore
    survives an amendment that changes how the call is asked. For an array of texts and whole
    numbers the compact form is that of RFC 8785.
    """
    return "c" + digest(body_bytes(list(key))).short


def _refuse_shared_ids(calls: Iterable[PlannedCall]) -> None:
    seen: dict[str, int] = {}
    for call in calls:
        if (first := seen.setdefault(call.call_id, call.plan_index)) != call.plan_index:
            raise InputError(
                "plan",
                f"rows {first} and {call.plan_index}",
                f"one call id, {call.call_id}",
                "rename an item or an arm",
            )


def window_slots(
    schedule: Schedule,
    window: Window,
    asker: Asker,
    items: Sequence[Item],
    controls: Sequence[Item],
    *,
    tasks: bool = False,
) -> Iterator[Slot]:
    """Yield what a window asks of every endpoint, in sending order; blocks may be of `tasks`."""
    last = window.stage == len(asker.stages)
    groups = group_order(items, schedule.seed)
    present = _share(groups, schedule.replay_share) if last and not _is_first(window) else groups
    repeated = set(_share(groups, schedule.repeat_share)) if last else set()
    shown = [item for item in items if item.group in set(present)]
    if last and schedule.block is not None:
        chosen = block_of_tasks if tasks else block_of
        shown = chosen(shown, schedule.block, window.index, schedule.seed)
    conditions = schedule.conditions if last else schedule.conditions[:1]
    draws = schedule.draws if last else 1
    visits = _Visits(asker.stages[window.stage - 1], repeated, schedule.repeats, schedule.seed)
    passes = [
        list(visits.of_pass(window, shown, controls, repeat, draw))
        for repeat in range(visits.most())
        for draw in range(draws)
    ]
    yield from interleave(passes, conditions, schedule, window)


def block_of(items: Sequence[Item], size: int, index: int, seed: int) -> list[Item]:
    """Return the items of the block with number `index`, from 1; the last may be short or empty."""
    order = shuffled(items, seed, "blocks")
    return order[(index - 1) * size : index * size]


def block_of_tasks(items: Sequence[Item], size: int, index: int, seed: int) -> list[Item]:
    """Return the items of a block of `size` whole tasks, task after task in a seeded order."""
    order = shuffled(dict.fromkeys(item.task for item in items), seed, "blocks")
    chosen = order[(index - 1) * size : index * size]
    return [item for task in chosen for item in items if item.task == task]


def _is_first(window: Window) -> bool:
    return window.day == 1 and window.index == 1


def group_order(items: Sequence[Item], seed: int) -> list[str]:
    """Return the groups in the seeded order from whose front shares are taken."""
    return shuffled(dict.fromkeys(item.group for item in items), seed, "groups")


def _share(groups: Sequence[str], share: Decimal) -> list[str]:
    return list(groups[: math.ceil(share * len(groups))])


def shuffled(values: Iterable[T], seed: int, *purpose: str | int) -> list[T]:
    """Return `values` in the order that a study's seed draws for one named purpose.

    Ordered by SHA-256 of seed, purpose and position, so that the same plan can be derived by any
    version of Python, or by another language.
    """
    head = "\x1f".join(map(str, (seed, *purpose))) + "\x1f"
    keyed = [
        (hashlib.sha256(f"{head}{position}".encode()).digest(), value)
        for position, value in enumerate(values)
    ]
    keyed.sort(key=lambda pair: pair[0])
    return [value for _, value in keyed]


@dataclass(frozen=True)
class _Visits:
    """What one pass asks: every (item, cell), its arms together."""

    askings: tuple[Asking, ...]
    repeated: set[str]
    repeats: int
    seed: int

    def most(self) -> int:
        """Return the number of repeats of the most repeated call."""
        return max(asking.repeats(self.repeats if self.repeated else 1) for asking in self.askings)

    def of_pass(
        self,
        window: Window,
        items: Sequence[Item],
        controls: Sequence[Item],
        repeat: int,
        draw: int,
    ) -> Iterator[list[Slot]]:
        """Yield one pass visit by visit, in seeded order, the condition still open."""
        asked = [
            (item, asking)
            for item in items
            for asking in self.askings
            if self._in(item, asking, repeat)
        ]
        if repeat == 0 and draw == 0:
            asked += [(item, asking) for item in controls for asking in self.askings]
        turns = self._turns([*items, *controls])
        for item, asking in shuffled(asked, self.seed, "order", window.id, repeat, draw):
            arms = _rotated(asking.readout.arms(item), turns[item.id])
            yield [Slot(item, asking, asking.arm_of(arm), "", repeat, draw) for arm in arms]

    def _in(self, item: Item, asking: Asking, repeat: int) -> bool:
        scheduled = self.repeats if item.group in self.repeated else 1
        return repeat < asking.repeats(scheduled)

    def _turns(self, items: Sequence[Item]) -> dict[str, int]:
        """Return which arm an item starts with: each arm first for an equal share of items."""
        order = shuffled((item.id for item in items), self.seed, "arms")
        return {name: position for position, name in enumerate(order)}


def _rotated(arms: tuple[str, ...], turn: int) -> tuple[str, ...]:
    start = turn % len(arms)
    return arms[start:] + arms[:start]


Visit = list[Slot]
"""All arms of one (item, cell), which no change of condition separates."""


def interleave(
    passes: Sequence[Sequence[Visit]],
    conditions: Sequence[Condition],
    schedule: Schedule,
    window: Window,
) -> Iterator[Slot]:
    """Yield all passes under all conditions, chunk by chunk."""
    names = [condition.name for condition in conditions]
    if schedule.order == "blocked":
        for name in names:
            yield from (replace(s, condition=name) for one in passes for v in one for s in v)
        return
    chunks = (chunk for one in passes for chunk in _chunks(one, schedule.chunk))
    for number, chunk in enumerate(chunks):
        for name in shuffled(names, schedule.seed, "conditions", window.id, number):
            yield from (replace(slot, condition=name) for slot in chunk)


def _chunks(visits: Sequence[Visit], size: int) -> Iterator[list[Slot]]:
    chunk: list[Slot] = []
    for visit in visits:
        chunk += visit
        if len(chunk) >= size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


class _Derivations:
    """Digests of how a later stage's bodies will be made, fixed before anything is known."""

    def __init__(self, protocol: ProtocolDocument) -> None:
        stages = protocol.all_stages()
        self._stages = [str(digest_of(plain(_told(stage, "cells")))) for stage in stages]
        self._cells = {
            (number, cell.name): str(digest_of(plain(_told(cell))))
            for number, stage in enumerate(stages, 1)
            for cell in stage.cells
        }

    def __call__(self, endpoint: str, stage: int, item: str, arm: str) -> str:
        cell = self._cells.get((stage, arm.partition(":")[0]), "")
        return digest("\n".join((self._stages[stage - 1], cell, endpoint, item, arm)).encode())


_FIRST_FIELDS: Mapping[type[BaseModel], frozenset[str]] = {
    Stage: frozenset({"readout", "options", "prompt", "decoding", "texts"}),
    Cell: frozenset({"name", "fields", "texts", "take", "repeats", "prompt", "readout", "options"}),
    Take: frozenset({"field", "cell", "stage", "source", "avoid", "count"}),
    PromptSpec: frozenset({"system", "user"}),
    Decoding: frozenset({"temperature", "top_p", "max_tokens", "seed", "stop", "max_tokens_field"}),
}
"""What a derivation's digest covers always; a field added since, only where it is used."""

_DECLARES = frozenset({"levels", "again", "probe"})
"""What a cell declares for the analysis: it changes no request."""


def _told(value: Any, *without: str) -> Any:
    """Return a part of a protocol as its derivation digest covers it.

    A field that a later version added is left out while it has its default, so that it changes no
    digest that was frozen before there was one.
    """
    if isinstance(value, list):
        return [_told(one) for one in value]
    if not isinstance(value, BaseModel):
        return value
    first = next(_FIRST_FIELDS[kind] for kind in type(value).__mro__ if kind in _FIRST_FIELDS)
    return {
        name: _told(getattr(value, name))
        for name, field in type(value).model_fields.items()
        if name not in without and name not in _DECLARES
        if name in first or getattr(value, name) != field.get_default(call_default_factory=True)
    }
