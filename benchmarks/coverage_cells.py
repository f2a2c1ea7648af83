"""The grid of the coverage benchmark: one builder of cells for each family of analyses."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from planted import (
    Judge,
    Verdicts,
    true_crossed,
    true_kendall,
    true_spearman,
    true_variances,
)

from judgeaudit.stats.agreement import effective_proportion, flip_rate, gwet_ac1
from judgeaudit.stats.components import variance_components
from judgeaudit.stats.drift import mean_shift, trend
from judgeaudit.stats.excess import excess_disagreement
from judgeaudit.stats.icc import icc
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.kendall import kendall_between
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import difference, spearman_between, spearman_within

Simulate = Callable[[np.random.Generator], Interval | Undefined]


@dataclass(frozen=True)
class Cell:
    """One analysis in one regime at one number of units, with its truth."""

    analysis: str
    regime: str
    n: int
    truth: float
    simulate: Simulate

    @property
    def key(self) -> str:
        """Return the name that seeds the cell."""
        return f"{self.analysis}|{self.regime}|{self.n}"


HOMO, QUIET, MIXED = ((1.0, 0.5),), ((1.0, 0.2),), ((0.7, 0.05), (0.3, 1.0))
SCALES = ("continuous", "balanced5", "ceiling5", "ceiling3", "saturated")
VERDICTS = (
    Verdicts("graded: Beta(1, 3)", ((1.0, 1, 3),)),
    Verdicts("U-shaped: Beta(.5, .5)", ((1.0, 0.5, 0.5),)),
    Verdicts("bimodal: 90 % fixed, 10 % coins", ((0.5, 0, 1), (0.4, 1, 0), (0.1, 50, 50))),
    Verdicts("rare: 97 % fixed, 3 % Beta(2, 2)", ((0.57, 0, 1), (0.4, 1, 0), (0.03, 2, 2))),
)


def judges(scales: tuple[str, ...] = SCALES) -> list[Judge]:
    """Return the grid of planted judges."""
    grid = [(0.0, HOMO), (0.3, HOMO), (0.0, QUIET), (0.3, MIXED)]
    return [Judge(scale, window, classes) for scale in scales for window, classes in grid]


def spearman_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Two windows of 1 and 3 repeats, and many windows of one reply."""

    def across(judge: Judge, n: int, m: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            y = judge.draw(rng, n, 2, m)
            found = spearman_between(y[:, 0], y[:, 1])
            return found if isinstance(found, Undefined) else found.estimate.interval()

        return simulate

    def windows(judge: Judge, n: int, count: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = spearman_within(judge.draw(rng, n, count, 1)[:, :, 0])
            return found if isinstance(found, Undefined) else found.estimate.interval()

        return simulate

    cells = [
        Cell(f"spearman, m={m}", j.name, n, true_spearman(j), across(j, n, m))
        for j in judges()
        for m in (1, 3)
        for n in sizes
    ]
    return cells + [
        Cell(f"spearman, {w} windows", j.name, n, true_spearman(j), windows(j, n, w))
        for j in (Judge("ceiling5", 0.3, MIXED), Judge("saturated", 0.3, HOMO))
        for w in (5, 25)
        for n in sizes[:2]
    ]


def difference_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Two reliabilities on the same items, three windows: r12 - r23, whose truth is 0."""

    def dependent(judge: Judge, n: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            y = judge.draw(rng, n, 3, 1)
            first, second = (spearman_between(y[:, a], y[:, a + 1]) for a in (0, 1))
            if isinstance(first, Undefined) or isinstance(second, Undefined):
                return Undefined("constant")
            found = difference(first, second)
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    return [
        Cell("difference of spearmans", j.name, n, 0.0, dependent(j, n))
        for j in judges(("continuous", "balanced5", "ceiling5"))
        for n in sizes
    ]


def kendall_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Tau-b across two windows, two repeats in each."""

    def across(judge: Judge, n: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            y = judge.draw(rng, n, 2, 2)
            found = kendall_between(y[:, 0], y[:, 1])
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    chosen = [j for j in judges() if j.window_sd > 0]
    return [
        Cell("kendall", j.name, n, true_kendall(j), across(j, n)) for j in chosen for n in sizes
    ]


def icc_and_noise_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """ICC(1,1) and within-item SD of one window with 2 and 5 repeats."""

    def ratio(judge: Judge, n: int, k: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = icc(judge.draw(rng, n, 1, k)[:, 0])
            return found if isinstance(found, Undefined) else found.single.interval()

        return simulate

    def spread(judge: Judge, n: int, k: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = noise(judge.draw(rng, n, 1, k)[:, 0])
            return found if isinstance(found, Undefined) else found.sd.interval()

        return simulate

    cells = []
    for j in (Judge(s, 0.0, c) for s in SCALES[:4] for c in (HOMO, ((1.0, 1.0),), MIXED)):
        within, between = true_variances(j)
        for k in (2, 5):
            for n in sizes:
                truth = between / (between + within)
                cells.append(Cell(f"icc(1,1), k={k}", j.name, n, truth, ratio(j, n, k)))
                cells.append(Cell(f"noise, k={k}", j.name, n, math.sqrt(within), spread(j, n, k)))
    return cells


def verdict_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Flip rate and AC1 of two verdicts, and the excess of a second order."""

    def flips(judge: Verdicts, n: int, k: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = flip_rate(judge.draw(rng, n, k), 2)
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    def ac1(judge: Verdicts, n: int, k: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = gwet_ac1(judge.draw(rng, n, k), 2)
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    cells = []
    for j in VERDICTS:
        mean, flip = j.moments()
        chance = 2 * mean * (1 - mean)
        agreement = (1 - flip - chance) / (1 - chance)
        for n in sizes:
            for k in (2, 3, 5):
                cells.append(Cell(f"flip rate, k={k}", j.name, n, flip, flips(j, n, k)))
            if n >= 100:
                cells.append(Cell("ac1, k=3", j.name, n, agreement, ac1(j, n, 3)))
    return cells


def excess_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Excess of a second order that moves each p towards 1 by a tenth of the way."""

    def moved(judge: Verdicts, n: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            p = judge.chances(rng, n)[:, None]
            first = (rng.random((n, 3)) < p).astype(np.int64)
            second = (rng.random((n, 3)) < 0.9 * p + 0.1).astype(np.int64)
            found = excess_disagreement(first, second, 2)
            return found if isinstance(found, Undefined) else found.excess.interval()

        return simulate

    cells = []
    for j in VERDICTS[:3]:
        mean, flip = j.moments()
        # E (.1 (1 - p))^2 with E p^2 = E p - flip / 2
        truth = 0.01 * (1 - 2 * mean + mean - flip / 2)
        cells += [Cell("excess, k=3", j.name, n, truth, moved(j, n)) for n in sizes]
    return cells


def component_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Item, item:window and reply components, with 2, 5 and 25 windows."""

    def part(judge: Judge, n: int, windows: int, repeats: int, name: str) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = variance_components(judge.draw(rng, n, windows, repeats))
            return found if isinstance(found, Undefined) else getattr(found, name).interval()

        return simulate

    cells = []
    for j in (
        Judge(s, w, c) for s in ("continuous", "ceiling5") for w, c in ((0.3, HOMO), (0.6, MIXED))
    ):
        truths = dict(zip(("items", "items_by_window", "repeats"), true_crossed(j), strict=True))
        for name, truth in truths.items():
            for w, r in ((2, 3), (5, 2), (25, 2)):
                label = f"component {name}, {w}x{r}"
                cells += [Cell(label, j.name, n, truth, part(j, n, w, r, name)) for n in sizes]
    return cells


def shift_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Mean shift between two windows, planted 0."""

    def shift(judge: Judge, n: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            y = judge.draw(rng, n, 2, 2)
            found = mean_shift(y[:, 0], y[:, 1])
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    chosen = [Judge(s, 0.3, c) for s in SCALES[:4] for c in (HOMO, MIXED)]
    return [Cell("mean shift", j.name, n, 0.0, shift(j, n)) for j in chosen for n in sizes]


def task_cells() -> list[Cell]:
    """Share of groups that keep their order: four groups a task, in 8, 16, 25 and 50 tasks.

    A task keeps each of its orders with a chance drawn from Beta(a, b); n
    counts groups, of which a task has four.
    """

    def share(tasks: int, a: float, b: float) -> Simulate:
        codes = np.repeat(np.arange(tasks), 4)

        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            kept = rng.random(4 * tasks) < np.repeat(rng.beta(a, b, tasks), 4)
            found = effective_proportion(kept.astype(float), clusters=codes)
            return found if isinstance(found, Undefined) else found.interval()

        return simulate

    return [
        Cell("share of groups, by task", f"Beta({a:g}, {b:g})", 4 * t, a / (a + b), share(t, a, b))
        for a, b in ((4, 1), (1.5, 1.5), (0.5, 0.5), (9, 0.5))
        for t in (8, 16, 25, 50)
    ]


def clustered_cells() -> list[Cell]:
    """Spearman of candidates in tasks, error summed by task: four to a task, half the variance its.

    n counts candidates; "candidates like these" keeps the truth of unclustered items.
    """

    def by_task(judge: Judge, tasks: int) -> Simulate:
        codes = np.repeat(np.arange(tasks), 4)

        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            y = judge.draw(rng, 4 * tasks, 2, 2, tasks=codes)
            found = spearman_between(y[:, 0], y[:, 1], clusters=codes)
            return found if isinstance(found, Undefined) else found.estimate.interval()

        return simulate

    chosen = [Judge("saturated", 0.3, HOMO), Judge("balanced5", 0.0, MIXED)]
    return [
        Cell("spearman, by task", j.name, 4 * t, true_spearman(j), by_task(j, t))
        for j in chosen
        for t in (8, 16, 25, 50)
    ]


def trend_cells(sizes: tuple[int, ...]) -> list[Cell]:
    """Slope over five windows, planted 0."""

    def slope(judge: Judge, n: int) -> Simulate:
        def simulate(rng: np.random.Generator) -> Interval | Undefined:
            found = trend(judge.draw(rng, n, 5, 1), np.arange(5.0))
            return found if isinstance(found, Undefined) else found.these_windows.interval()

        return simulate

    chosen = [Judge(s, 0.3, c) for s in ("balanced5", "ceiling3") for c in (HOMO, MIXED)]
    return [Cell("trend", j.name, n, 0.0, slope(j, n)) for j in chosen for n in sizes]
