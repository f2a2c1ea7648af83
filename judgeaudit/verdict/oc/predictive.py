"""A gate's chances for the instrument that the pilot saw, by resampling the pilot.

* Every draw takes clusters (items, tasks) of the pilot with replacement: once for what the pilot
  itself does not know, then the planned number from those. Windows, days and repeats are drawn
  without repetition, so that no reading is compared with itself.
* Each resampled table is analysed and held against the gate by the code that will do so with the
  study's own: the registered rule is the executed rule.
* A pilot with fewer windows, days or repeats than planned gives as many as it has; a note says so.
* `pilot_uncertainty=False` leaves the first draw out: the plug-in characteristic, for comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.luck.declared import Design
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration, Schedule
from judgeaudit.readings.table import probes, select
from judgeaudit.stats.operating import Chances
from judgeaudit.verdict.oc.planned import CLUSTERS
from judgeaudit.verdict.registered import question_of
from judgeaudit.verdict.verdicts import decide

Ints = NDArray[np.int64]
OUTCOMES = ("pass", "fail", "inconclusive", "undefined")


@dataclass(frozen=True, slots=True)
class Predicted:
    """Chances over `draws` resamples of the pilot, and what the pilot had less of than planned."""

    chances: Chances
    draws: int
    seed: int
    notes: tuple[str, ...] = ()


class Resampler:
    """Tables of the planned size, drawn from a pilot's table."""

    def __init__(self, table: pd.DataFrame, cluster: str, units: int, schedule: Schedule) -> None:
        self.column = CLUSTERS[cluster]
        self.codes, labels = pd.factorize(table[self.column])
        self.table, self.count, self.units, self.schedule = table, len(labels), units, schedule
        self.windows = table.drop_duplicates("window").groupby("day")["window"].apply(list)

    def notes(self) -> tuple[str, ...]:
        """Return what the pilot has less of than the plan."""
        schedule = self.schedule
        counted = {
            "days": (len(self.windows), schedule.days),
            "windows a day": (int(self.windows.map(len).min()), schedule.windows_per_day),
            "repeats": (int(self.table["repeat"].max()) + 1, schedule.repeats),
        }
        return tuple(
            f"the pilot has {had} {what}, the plan {planned}: {had} were used"
            for what, (had, planned) in counted.items()
            if had < planned
        )

    def thinned(self, rng: np.random.Generator) -> pd.DataFrame:
        """Return the pilot's own clusters at as many days, windows and repeats as are planned."""
        return self.table[self._moments(rng)].reset_index(drop=True)

    def draw(self, rng: np.random.Generator, *, pilot_uncertainty: bool) -> pd.DataFrame:
        """Return one resampled table."""
        kept = np.flatnonzero(self._moments(rng))
        pool = np.arange(self.count)
        if pilot_uncertainty:
            pool = rng.choice(pool, pool.size)
        chosen = rng.choice(pool, self.units)
        order = kept[np.argsort(self.codes[kept], kind="stable")]
        starts = np.searchsorted(self.codes[order], np.arange(self.count + 1))
        sizes = np.diff(starts)[chosen]
        inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = order[np.repeat(starts[chosen], sizes) + inside]
        return self._renamed(rows, np.repeat(np.arange(chosen.size), sizes))

    def _renamed(self, rows: Ints, draw: Ints) -> pd.DataFrame:
        """Return the rows with every drawn cluster under a name of its own."""
        found = self.table.iloc[rows].reset_index(drop=True)
        suffix = pd.Series(draw).astype(str).radd("#")
        for name in ("item", "group", "task"):
            found[name] = found[name].astype(str) + suffix
        return found

    def _moments(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return the rows of the drawn days, windows and repeats; days in a row stay in a row."""
        days = list(self.windows.index)
        wanted = min(self.schedule.days, len(days))
        first = int(rng.integers(0, len(days) - wanted + 1))
        windows: list[str] = []
        for day in days[first : first + wanted]:
            there = self.windows[day]
            some = min(self.schedule.windows_per_day, len(there))
            windows += [there[i] for i in sorted(rng.choice(len(there), some, replace=False))]
        repeats = int(self.table["repeat"].max()) + 1
        few = rng.choice(repeats, min(self.schedule.repeats, repeats), replace=False)
        return np.asarray(self.table["window"].isin(windows) & self.table["repeat"].isin(few))


def predict(
    gate: Gate,
    registration: Registration,
    pilot: pd.DataFrame,
    units: int,
    *,
    seed: int,
    draws: int = 200,
    pilot_uncertainty: bool = True,
    candidates: pd.DataFrame | None = None,
    design: Design | None = None,
    watch: Callable[[int], None] | None = None,
) -> Predicted:
    """Return the gate's chances at `units` independent units of the piloted instrument.

    `watch` is told of every draw. Raises `InputError` where the pilot has nothing of `gate.where`.
    """
    chosen = probes(select(pilot, gate.where))
    cluster = "task" if registration.unit.cluster == "world" else registration.unit.cluster
    resampler = Resampler(chosen, cluster, units, registration.schedule)
    question = question_of(gate, registration, candidates, design)
    rng, tally = np.random.default_rng(seed), Counter[str]()
    for done in range(draws):
        table = resampler.draw(rng, pilot_uncertainty=pilot_uncertainty)
        found = compute(gate.statistic, table, question)
        tally[decide(gate, found).outcome.value] += 1
        if watch is not None:
            watch(done + 1)
    chances = Chances(*(tally[name] / draws for name in OUTCOMES))
    return Predicted(chances, draws, seed, resampler.notes())
