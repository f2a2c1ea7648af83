"""What a gate will rest on by the plan: independent units, rows and comparisons, before any call.

The plan is laid out as the table that the readings will make, with nothing come back yet, so that
`where`, `over` and the cluster mean here what they mean to the analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import pandas as pd

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.grid import column_pairs
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.model import Item, PlannedCall, Reason
from judgeaudit.readings.table import from_readings, probes, select
from judgeaudit.verdict.oc.laid import grid_of

CLUSTERS = {"item": "item", "task": "task", "world": "task", "window": "item"}
"""The column that holds a unit's clusters; a window is a unit of day decompositions alone."""


@dataclass(frozen=True, slots=True)
class Size:
    """What one endpoint's estimate rests on: units, rows, comparisons, calls."""

    units: int
    rows: int
    comparisons: int
    calls: int

    @property
    def calls_a_unit(self) -> float:
        """Calls that one more unit costs."""
        return self.calls / max(1, self.units)


def planned_table(plan: Iterable[PlannedCall], items: Iterable[Item]) -> pd.DataFrame:
    """Return the table of a plan, every call still without a reply."""
    rows = [
        {key: value for key, value in asdict(call).items() if not key.endswith("sha256")}
        | {"status": "invalid", "reason": Reason.NO_REPLY.value}
        for call in plan
    ]
    return from_readings(pd.DataFrame(rows), items)


def size_of(
    gate: Gate, registration: Registration, table: pd.DataFrame, candidates: int = 0
) -> Size:
    """Return the smallest size over the endpoints that a gate is held against.

    `candidates` is the number of candidates of an item, for rankings taken pair by pair.
    """
    chosen = probes(select(table, gate.where))
    sizes = [
        _size(gate, registration, part, candidates)
        for _, part in chosen.groupby("endpoint", sort=False)
    ]
    return min(sizes, key=lambda size: (size.units, size.comparisons))


def _size(gate: Gate, registration: Registration, part: pd.DataFrame, candidates: int) -> Size:
    found = statistic(gate.statistic)
    grid = grid_of(gate, registration, part)
    used = grid.part
    units = int(used[CLUSTERS[registration.unit.cluster]].nunique())
    if "groups" in found.needs:
        units = min(units, int(used["task"].nunique()))
    compared = len(used)
    if "repeats" in found.needs or gate.over == "orders":
        planned = grid.planned
        pairs = column_pairs(grid.columns, gate.over)
        compared = sum(int((planned[:, a] & planned[:, b]).sum()) for a, b in pairs)
    if found.per_pair:
        compared *= max(1, math.comb(candidates, 2))
    if registration.sequential is not None:
        compared = units  # one comparison an item, with its own second call or with the baseline
    return Size(units, len(grid.rows), compared, len(part))


def candidates_of(items: Sequence[Item]) -> int:
    """Return how many candidates an item shows, 0 where it shows none."""
    counts = [len(item.candidates) for item in items if "control" not in item.meta]
    return int(median(counts)) if counts else 0
