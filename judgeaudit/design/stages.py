"""Later stages: bodies made from sealed readings of an earlier one, by a rule frozen before.

For each call of the stage and each `take` of its cell:

* `own` is the reading of the same endpoint and item in the named cell.
* `unrelated` is that cell's reading of another item at the same endpoint. Candidates are valid
  readings of items of another task that hold none of the texts of the `avoid` fields (compared
  without case) and in which `count` matches as often as in the own reading. The one nearest in
  length (code points) to the own reading is taken, ties by SHA-256 of seed, endpoint and both
  items; nothing is cut or padded, and one reading may serve several items.
* Where the own reading is invalid, or no candidate is left, the call has no body: its reading is
  `Invalid(no_memory)` and nothing is sent for it. With `lost_lesson = "ask_without"` it is asked
  with that field empty. Nothing is drawn again.

The text of a reading is its text, else its label, category or ranking as it was answered.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from judgeaudit.design.bodies import BodyKey, Composer, distinct
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.protocol import Take
from judgeaudit.design.tables import FrozenTables, compact
from judgeaudit.errors import EvidenceError
from judgeaudit.model import FrozenBody, Invalid, Item, PlannedCall, Reading, Reason, Value

Place = tuple[str, int, str, str]
"""(endpoint, stage, cell, item) of an earlier reading."""


@dataclass(frozen=True, slots=True)
class Memory:
    """An earlier reading that may be taken: its call, item, task and text (None: invalid)."""

    call_id: str
    item: str
    task: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Made:
    """What one call of a later stage became: a body, or why there is none; and what it took."""

    call_id: str
    body: FrozenBody | None
    reason: Invalid | None
    taken: Mapping[str, str]


class Memories:
    """The readings of earlier stages, and the two ways of taking from them."""

    def __init__(self, study: FrozenStudy, readings: Iterable[Reading]) -> None:
        self._seed = study.registration.schedule.seed
        self._own: dict[Place, Memory] = {}
        self._pool: dict[tuple[str, int, str], list[Memory]] = defaultdict(list)
        self._chosen: dict[tuple[str, str, str], Memory | None] = {}
        for reading in sorted(readings, key=lambda one: one.call.plan_index):
            self._add(study, reading)

    def _add(self, study: FrozenStudy, reading: Reading) -> None:
        call = reading.call
        cell = call.arm.partition(":")[0]
        place = (call.endpoint, call.stage, cell, call.item)
        if place in self._own:  # another arm of the cell's readout: the first one is taken
            return
        memory = Memory(call.call_id, call.item, call.task, text_of(reading.value))
        self._own[place] = memory
        if "control" not in study.items[call.item].meta:
            self._pool[place[:3]].append(memory)

    def take(self, take: Take, endpoint: str, item: Item) -> Memory | Invalid:
        """Return what fills one placeholder, or why nothing does."""
        own = self._own.get((endpoint, take.stage, take.cell, item.id))
        if own is None:
            raise EvidenceError(
                f"stage {take.stage}: no sealed reading of item {item.id!r} in cell {take.cell!r} "
                f"at endpoint {endpoint!r}"
            )
        if own.text is None:
            return Invalid(Reason.NO_MEMORY, f"reading of call {own.call_id} is invalid")
        if take.source == "own":
            return own
        key = (compact([take.stage, take.cell, take.avoid, take.count]), endpoint, item.id)
        if key not in self._chosen:
            self._chosen[key] = self._nearest(take, endpoint, item, own.text)
        found = self._chosen[key]
        return found or Invalid(Reason.NO_MEMORY, f"no unrelated reading in cell {take.cell!r}")

    def _nearest(self, take: Take, endpoint: str, item: Item, own: str) -> Memory | None:
        avoid = [str(item.fields[name]).casefold() for name in take.avoid]
        wanted = count(take.count, own)

        def distance(memory: Memory) -> tuple[int, bytes]:
            tie = f"{self._seed}\x1f{endpoint}\x1f{item.id}\x1f{memory.item}"
            return abs(len(memory.text or "") - len(own)), hashlib.sha256(tie.encode()).digest()

        for memory in sorted(self._pool[endpoint, take.stage, take.cell], key=distance):
            text = memory.text
            if text is None or memory.task == item.task or count(take.count, text) != wanted:
                continue
            if not any(word in text.casefold() for word in avoid):
                return memory
        return None


def text_of(value: Value | Invalid) -> str | None:
    """Return the text of a reading, or None where it is invalid."""
    if isinstance(value, Invalid):
        return None
    return value.text or value.label or value.category or " ".join(value.ranking or ()) or None


def count(pattern: str | None, text: str) -> int:
    """Return how often `pattern` matches; 0 without one."""
    return 0 if pattern is None else len(re.findall(pattern, text))


def make_stage(study: FrozenStudy, stage: int, readings: Iterable[Reading]) -> list[Made]:
    """Return what each call of `stage` becomes, in plan order.

    `readings` are all readings of the earlier stages. Raises `EvidenceError` where one is missing
    that a body needs.
    """
    memories = Memories(study, readings)
    composer = Composer.of(study.asker, study.registration.endpoints)
    made: dict[BodyKey, Made] = {}
    calls = [call for call in study.plan if call.stage == stage]
    for call in calls:
        key = (call.endpoint, call.stage, call.item, call.arm)
        if key not in made:
            made[key] = _make(study, composer, memories, call)
    return [
        replace(made[call.endpoint, call.stage, call.item, call.arm], call_id=call.call_id)
        for call in calls
    ]


def _make(study: FrozenStudy, composer: Composer, memories: Memories, call: PlannedCall) -> Made:
    cell, item = study.asking(call).cell, study.items[call.item]
    texts: dict[str, str] = {}
    taken: dict[str, str] = {}
    instead: dict[str, str] = {}
    for take in cell.take if cell is not None else ():
        memory = memories.take(take, call.endpoint, item)
        if isinstance(memory, Invalid):
            if take.lost_lesson == "no_call":
                return Made(call.call_id, None, memory, taken)
            texts[take.field] = ""
            instead |= take.without
            continue
        texts[take.field], taken[take.field] = memory.text or "", memory.call_id
    body = composer.compose(call.endpoint, call.stage, item, call.arm, texts, instead)
    return Made(call.call_id, body, None, taken)


def stage_bodies(made: Iterable[Made]) -> list[FrozenBody]:
    """Return a stage's bodies, each once."""
    return distinct(one.body for one in made if one.body is not None)


def stage_table(made: Iterable[Made], tables: FrozenTables) -> pa.Table:
    """Return what each call became as a table."""
    rows = list(made)
    columns = {
        "call_id": [one.call_id for one in rows],
        "body_sha256": [one.body.body_sha256 if one.body else None for one in rows],
        "reason": [str(one.reason.reason) if one.reason else None for one in rows],
        "detail": [one.reason.detail if one.reason else None for one in rows],
        "taken": [compact(dict(sorted(one.taken.items()))) for one in rows],
    }
    schema = tables.stage_calls
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def with_bodies(plan: Iterable[PlannedCall], table: pa.Table) -> Iterator[PlannedCall]:
    """Yield the plan with the digests of a stage's bodies in their rows."""
    ids, bodies = table.column("call_id").to_pylist(), table.column("body_sha256").to_pylist()
    known = dict(zip(ids, bodies, strict=True))
    for call in plan:
        body = known.get(call.call_id)
        yield call if body is None else replace(call, body_sha256=body)
