"""Checks of sequential designs and of monitoring: what the schedule must be for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from judgeaudit.design.asking import Asker
from judgeaudit.design.criteria import Gate, Sequential
from judgeaudit.design.document import Registration
from judgeaudit.errors import Problem
from judgeaudit.model import Item


def sequential_problems(registration: Registration) -> Iterator[Problem]:
    """Yield what keeps `[sequential]`, `schedule.block` and `[watch]` from meaning something."""
    if registration.watch is not None:
        yield from _watch_problems(registration)
    if registration.sequential is None:
        return
    yield from _schedule_problems(registration, registration.sequential)
    yield from _baseline_problems(registration.sequential)
    if not registration.gates:
        yield Problem("sequential", "no gate is registered", "add a [[gates]] that it can decide")
    for number, gate in enumerate(registration.gates):
        yield from _gate_problems(f"gates[{number}]", gate, registration.sequential)


def _schedule_problems(registration: Registration, found: Sequential) -> Iterator[Problem]:
    schedule = registration.schedule
    calls = 1 if found.design == "flip_vs_baseline" else 2
    if schedule.block is None:
        yield Problem("schedule.block", "missing", "how many items a block asks, e.g. block = 20")
    if schedule.repeats != calls:
        yield Problem(
            "schedule.repeats",
            f"{schedule.repeats}, but {found.design} asks {calls} a fresh item",
            f"set repeats = {calls}",
        )
    for name, wanted in (("days", 1), ("draws", 1), ("repeat_share", 1), ("replay_share", 1)):
        if (value := getattr(schedule, name)) != wanted:
            yield Problem(f"schedule.{name}", f"{value} in a sequential design", f"set {name} = 1")
    if len(schedule.conditions) > 1:
        yield Problem("schedule.conditions", "several in a sequential design", "keep one")


def _baseline_problems(found: Sequential) -> Iterator[Problem]:
    needed = found.design == "flip_vs_baseline"
    for name in ("baseline", "digest"):
        given = getattr(found, name) is not None
        if needed and not given:
            yield Problem(
                f"sequential.{name}",
                "missing",
                "the baseline's folder and the digest of its last manifest",
            )
        if given and not needed:
            yield Problem(f"sequential.{name}", f"{found.design} has no baseline", "leave it out")


def _gate_problems(key: str, gate: Gate, found: Sequential) -> Iterator[Problem]:
    flips = found.design != "spearman_looks"
    if not flips and found.unit != "item":
        yield Problem("sequential.unit", f"{found.unit!r} in a {found.design} design", '"item"')
    statistic, side = ("flip_rate", "at_most") if flips else ("spearman", "at_least")
    over = "all" if found.design == "flip_vs_baseline" else "same_window"
    if gate.statistic != statistic:
        yield Problem(
            f"{key}.statistic", f"{gate.statistic!r} in a {found.design} design", repr(statistic)
        )
    elif getattr(gate, side) is None:
        yield Problem(f"{key}.{side}", f"missing in a {found.design} design", "give that side")
    elif flips and not 0 < getattr(gate, side) < 1:
        yield Problem(f"{key}.{side}", f"{gate.at_most} is no rate above 0", "between 0 and 1")
    if gate.over != over:
        yield Problem(f"{key}.over", f"{gate.over!r} in a {found.design} design", repr(over))
    if gate.decide != "bound":
        yield Problem(f"{key}.decide", '"point" in a sequential design', '"bound"')
    if set(gate.where) - {"endpoint"}:
        yield Problem(f"{key}.where", "narrows the items that a block asks", "endpoint alone")


def block_problems(
    registration: Registration, asker: Asker, items: Sequence[Item]
) -> Iterator[Problem]:
    """Yield empty blocks, and items that are asked in more ways than one."""
    schedule = registration.schedule
    if schedule.block is None:
        return
    design = registration.sequential
    by_task = design is not None and design.unit == "task"
    count = len({item.task for item in items}) if by_task else len(items)
    most, what = math.ceil(count / schedule.block), "tasks" if by_task else "items"
    if schedule.windows_per_day > most:
        yield Problem(
            "schedule.windows_per_day",
            f"{schedule.windows_per_day} blocks of {schedule.block} for {count} {what}",
            f"at most {most}",
        )
    if design is None:
        return
    yield from _unit_problems(registration, design, items)
    askings = asker.stages[-1]
    for item in items:
        ways = sum(len(asking.readout.arms(item)) for asking in askings)
        if ways != 1:
            yield Problem(
                "sequential",
                f"item {item.id!r} is asked in {ways} ways, which are no independent looks",
                'one way: e.g. orders = "as_given", one cell',
            )
            return


def _unit_problems(
    registration: Registration, design: Sequential, items: Sequence[Item]
) -> Iterator[Problem]:
    """Yield a unit that is none: items of one task, or a last block that is smaller."""
    tasks, block = len({item.task for item in items}), registration.schedule.block or 1
    nested = tasks < len(items) and registration.unit.target == "probes like these"
    if nested and design.unit != "task":
        yield Problem(
            "sequential.unit",
            f"{design.unit!r}, but {len(items)} items stand in {tasks} tasks, and items of one "
            "task are no independent looks at probes like these",
            '"task" (for flips), or unit.target = "these probes"',
        )
    if design.unit == "block" and len(items) % block:
        yield Problem(
            "schedule.block",
            f"{block} for {len(items)} items: the last block counts as much and is smaller",
            "a block size that divides the number of items",
        )


def _watch_problems(registration: Registration) -> Iterator[Problem]:
    watch, schedule = registration.watch, registration.schedule
    assert watch is not None
    if watch.alpha * (watch.calibration + 1) < 1:
        least = math.ceil(1 / watch.alpha) - 1
        yield Problem(
            "watch.alpha",
            f"{watch.alpha}, below 1/{watch.calibration + 1}: {watch.calibration} clean runs "
            "cannot promise it",
            f"calibration >= {least} runs, or a larger alpha",
        )
    if schedule.windows_per_day > 1:
        yield Problem(
            "watch.calibration",
            f"{schedule.windows_per_day} runs a day share that day's state",
            "windows_per_day = 1: one calibration run a day",
        )
    if schedule.days <= watch.reference + watch.calibration:
        yield Problem(
            "schedule.days",
            f"{schedule.days}, all of them reference or calibration",
            f"more than {watch.reference + watch.calibration}",
        )
