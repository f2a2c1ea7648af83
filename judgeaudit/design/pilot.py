"""The pilot of a study, as a study of its own: which facets, how many items, and its registration.

* It contains the facets of every gate: same-window gates get >= 3 repeats in >= 2 windows; gates
  between windows or days get >= 5 windows over >= 2 days. Both are kept where gates ask for both.
* Its size follows from the precision that is wanted: the within-item SD is known to a relative
  error e with 1/(2 (r - 1) e²) items of r repeats. Never fewer than 50 items or 2 % of the plan's
  calls, never more than the battery has. Whole tasks are taken, in an order drawn by the seed.
* It has no gate and no rule: nothing is decided on it, and none of its calls is the study's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from judgeaudit.design.criteria import Analysis, Gate
from judgeaudit.design.document import PilotRef, Registration, Schedule
from judgeaudit.design.plan import shuffled
from judgeaudit.model import Item
from judgeaudit.statistic import Catalogue

REPEATS, WINDOWS = 3, 2
DAYS, DAY_WINDOWS = 2, 3
LEAST_ITEMS, SHARE = 50, 0.02
BETWEEN_DAYS = frozenset({"next_day", "other_day"})
BETWEEN_WINDOWS = BETWEEN_DAYS | {"windows", "windows_same_day"}
PURPOSE = "pilot"


@dataclass(frozen=True, slots=True)
class PilotDesign:
    """Facets and size of a pilot, and the registered analyses that it is read by."""

    days: int
    windows_per_day: int
    repeats: int
    items: tuple[Item, ...]
    analyses: tuple[str | Analysis, ...]

    @property
    def windows(self) -> int:
        """How many windows it has."""
        return self.days * self.windows_per_day


def facets_of(
    gates: Sequence[Gate], schedule: Schedule, statistics: Catalogue
) -> tuple[int, int, int]:
    """Return days, windows a day and repeats of the pilot of these gates."""
    between = any(
        gate.over in BETWEEN_WINDOWS or "windows" in statistics[gate.statistic].needs
        for gate in gates
    )
    within = any(gate.over in ("same_window", "conditions", "all") for gate in gates) or not gates
    repeats = max(REPEATS if within else 2, schedule.repeats)
    if between:
        return max(DAYS, min(schedule.days, 3)), DAY_WINDOWS, repeats
    return 1, WINDOWS, repeats


def items_wanted(precision: float, repeats: int, windows: int, plan_calls: int, arms: int) -> int:
    """Return the items that a pilot wants, for a relative error of the within-item SD."""
    by_precision = math.ceil(1 / (2 * max(1, repeats - 1) * precision**2))
    by_share = math.ceil(SHARE * plan_calls / (repeats * windows * max(1, arms)))
    return max(LEAST_ITEMS, by_precision, by_share)


def chosen_items(items: Sequence[Item], wanted: int, seed: int) -> tuple[Item, ...]:
    """Return whole tasks, in the order drawn by the seed, until `wanted` items are there."""
    tasks: dict[str, list[Item]] = {}
    for item in items:
        tasks.setdefault(item.task, []).append(item)
    kept: set[str] = set()
    for task in shuffled(tasks, seed, PURPOSE):
        if sum(len(tasks[name]) for name in kept) >= wanted:
            break
        kept.add(task)
    return tuple(item for item in items if item.task in kept)


def design(
    registration: Registration,
    items: Sequence[Item],
    plan_calls: int,
    statistics: Catalogue,
    *,
    precision: float = 0.1,
    most_items: int | None = None,
    least_items: int = 0,
) -> PilotDesign:
    """Return the pilot's design for a study whose plan has `plan_calls` calls."""
    days, per_day, repeats = facets_of(registration.gates, registration.schedule, statistics)
    schedule = registration.schedule
    asked = len(items) * schedule.days * schedule.windows_per_day * schedule.repeats
    arms = max(1, round(plan_calls / max(1, asked)))
    sized = items_wanted(precision, repeats, days * per_day, plan_calls, arms)
    wanted = most_items or max(sized, least_items)
    names = [gate.statistic for gate in registration.gates]
    names += [name for gate in registration.gates for name in gate.sensitivity]
    plain_names = [name for name in registration.analyses if isinstance(name, str)]
    registered = [one for one in registration.analyses if not isinstance(one, str)]
    analyses: tuple[str | Analysis, ...] = (*dict.fromkeys([*names, *plain_names]), *registered)
    chosen = chosen_items(items, wanted, registration.schedule.seed)
    return PilotDesign(days, per_day, repeats, chosen, analyses)


def pilot_registration(registration: Registration, found: PilotDesign, cap: int) -> Registration:
    """Return the pilot's own registration."""
    schedule = registration.schedule
    gap = schedule.min_gap or (timedelta(hours=2) if found.days > 1 else timedelta(0))
    study = registration.study
    return registration.model_copy(
        update={
            "study": study.model_copy(
                update={
                    "id": f"{study.id[:58]}-pilot",
                    "title": f"Pilot of {study.id}",
                    "hypotheses": [],
                    "consumer": None,
                    "prohibitions": ["none of these calls enters the study's denominators"],
                }
            ),
            "battery": registration.battery.model_copy(update={"file": "items.jsonl"}),
            "protocol": registration.protocol.model_copy(update={"file": "protocol.toml"}),
            "controls": registration.controls.model_copy(
                update={"items": "controls.jsonl" if registration.controls.items else None}
            ),
            "schedule": schedule.model_copy(
                update={
                    "start": None,
                    "days": found.days,
                    "windows_per_day": found.windows_per_day,
                    "repeats": found.repeats,
                    "min_gap": gap,
                    "day_gap": schedule.day_gap or timedelta(hours=24),
                    "repeat_share": Decimal(1),
                    "replay_share": Decimal(1),
                    "cap": cap,
                    "block": None,
                }
            ),
            "gates": [],
            "rules": [],
            "analyses": list(found.analyses),
            "pilot": None,
            "sequential": None,
            "watch": None,
        }
    )


def same_pilot(ref: PilotRef | None) -> str:
    """Return the folder that a study's pilot is in."""
    return "pilot" if ref is None else ref.study
