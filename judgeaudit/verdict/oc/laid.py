"""A gate's plan as arrays: which readings an item will have, which of them are compared.

Laid out by the code that lays out the readings themselves (`analysis.grid`), so that `where`,
`over`, arms and the cluster mean here what they mean to the analysis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.labels import FORWARD, REVERSED
from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.grid import Grid, column_pairs, layout
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import probes, select

Ints = NDArray[np.int64]
STRETCH = 20
"""How many items in a row a burst of noise lasts where no block is registered."""


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """Rows (items) x columns (times of asking) of one endpoint.

    planned: bool (rows, columns). pairs: the columns that are compared. units: the code of each
    row's independent unit; tasks: that of its task. of: comparisons a pair is worth. stretch: rows
    that a burst lasts. calls: calls a row costs.
    """

    planned: NDArray[np.bool_]
    pairs: tuple[tuple[int, int], ...]
    units: Ints
    tasks: Ints
    of: int
    stretch: int
    calls: float

    @property
    def clusters(self) -> Ints | None:
        """The units' codes; None where each row is one of its own."""
        return None if self.count == len(self.units) else self.units

    @property
    def count(self) -> int:
        """How many independent units there are."""
        return int(np.unique(self.units).size)

    def at(self, units: int) -> Laid:
        """Return the same plan with another number of units: the first again and again."""
        codes = np.unique(self.units, return_inverse=True)[1]
        order = [np.flatnonzero(codes == u % self.count) for u in range(units)]
        rows = np.concatenate(order)
        new = np.repeat(np.arange(units), [len(one) for one in order])
        tasks = self.tasks[rows] + (new // self.count) * (int(self.tasks.max()) + 1)
        return replace(self, planned=self.planned[rows], units=new, tasks=tasks)


def laid_out(
    gate: Gate, registration: Registration, table: pd.DataFrame, candidates: int = 0
) -> Laid | None:
    """Return the plan of the endpoint with the fewest units; None where nothing is planned.

    `table` is `planned.planned_table`'s, `candidates` how many an item shows.
    """
    chosen = probes(select(table, gate.where))
    found = [
        _of(gate, registration, part, candidates)
        for _, part in chosen.groupby("endpoint", sort=False)
    ]
    return min(found, key=lambda one: one.count) if found else None


def grid_of(gate: Gate, registration: Registration, part: pd.DataFrame) -> Grid:
    """Return one endpoint's planned rows and columns as the gate's statistic will read them."""
    found = statistic(gate.statistic)
    numbers = not found.reads or "number" in found.reads
    joined = numbers and {FORWARD, REVERSED} <= set(part["arm"]) and "repeats" in found.needs
    used = part[part["arm"].eq(FORWARD)] if joined else part
    if registration.unit.aggregate != "none":
        used = used[used["draw"].eq(0)]  # k draws make one reading
    return layout(used, arms_in_columns=gate.over == "orders")


def _of(gate: Gate, registration: Registration, part: pd.DataFrame, candidates: int) -> Laid:
    grid, schedule = grid_of(gate, registration, part), registration.schedule
    per_pair = statistic(gate.statistic).per_pair
    return Laid(
        grid.planned,
        tuple(column_pairs(grid.columns, gate.over)),
        grid.clusters(registration.unit.cluster),
        grid.clusters("task"),
        max(1, math.comb(candidates, 2)) if per_pair else 1,
        schedule.block or STRETCH,
        len(part) / max(1, len(grid.rows)),
    )
