"""Judges with planted noise, and what each statistic would be with infinitely many items.

A score is y = theta + omega + eps: theta of the item, N(0, 1); omega of item and window,
N(0, s_iw^2); eps of the reply, N(0, s_c^2) with c the item's class. It is then cut to the levels of
a scale; cut points are multiples of the total SD. Truth comes from the table of two replies of one
item, an integral over a grid of 16,001 points, or for uncut scores from orthant probabilities.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logit, ndtr

# 54 % of "ceiling5" and 79 % of "ceiling3" lie at the top level; "saturated" is 1/(1 + exp(-6 y))
# to two digits, as a choice probability read from log-probabilities saturates.
CUTS = {
    "continuous": None,
    "balanced5": (-1.1, -0.35, 0.35, 1.1),
    "ceiling5": (-2.0, -1.5, -0.9, -0.1),
    "ceiling3": (-1.6, -0.8),
    "saturated": tuple(logit((np.arange(100) + 0.5) / 100) / 6),
}


@dataclass(frozen=True)
class Judge:
    """A planted judge: a scale, the SD of item:window, and (share, SD) of each class of items."""

    scale: str
    window_sd: float
    classes: tuple[tuple[float, float], ...]

    @property
    def name(self) -> str:
        """A label for tables."""
        noise = "+".join(f"{share:g}x{sd:g}" for share, sd in self.classes)
        return f"{self.scale}, s_iw {self.window_sd:g}, s {noise}"

    def total_sd(self) -> float:
        """Return the SD of a score before cutting."""
        return float(np.sqrt(1 + self.window_sd**2 + sum(p * s**2 for p, s in self.classes)))

    def draw(
        self,
        rng: np.random.Generator,
        n: int,
        windows: int,
        repeats: int,
        tasks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return scores (n, windows, repeats); items of a task share half of theta's variance."""
        shares, sds = zip(*self.classes, strict=True)
        noise = np.array(sds)[rng.choice(len(sds), n, p=shares)][:, None, None]
        theta = rng.normal(size=n)
        if tasks is not None:
            theta = np.sqrt(0.5) * (theta + rng.normal(size=tasks.max() + 1)[tasks])
        y = theta[:, None, None] + self.window_sd * rng.normal(size=(n, windows, 1))
        y = y + noise * rng.normal(size=(n, windows, repeats))
        cuts = CUTS[self.scale]
        if cuts is None:
            return y
        return np.searchsorted(np.array(cuts) * self.total_sd(), y, side="right").astype(float)


@cache
def cell_table(judge: Judge, same_window: bool) -> np.ndarray:
    """Return the chances of each pair of levels for two replies of one item."""
    cuts = np.concatenate([[-np.inf], np.array(CUTS[judge.scale]) * judge.total_sd(), [np.inf]])
    shared = np.sqrt(1 + judge.window_sd**2) if same_window else 1.0
    own = 0.0 if same_window else judge.window_sd
    grid = np.linspace(-8, 8, 16_001)
    density = np.exp(-(grid**2) / 2)
    density /= density.sum()
    table = np.zeros((cuts.size - 1, cuts.size - 1))
    for share, sd in judge.classes:
        below = ndtr((cuts[None, :] - shared * grid[:, None]) / np.hypot(sd, own))
        levels = np.diff(below, axis=1)
        table += share * (levels * density[:, None]).T @ levels
    return table


def true_spearman(judge: Judge) -> float:
    """Return the population mid-rank Spearman of single replies in two windows."""
    if CUTS[judge.scale] is None:
        return _continuous_spearman(judge)
    table = cell_table(judge, same_window=False)
    level = table.sum(axis=0)
    middle = np.cumsum(level) - level / 2 - 0.5
    return float(middle @ table @ middle / (level @ middle**2))


def _continuous_spearman(judge: Judge) -> float:
    """12 E[F(X) F(Y)] - 3, each term an orthant probability 1/4 + asin(r) / (2 pi)."""
    total = 0.0
    variances = [(share, 1 + judge.window_sd**2 + sd**2) for share, sd in judge.classes]
    for own_share, own in variances:
        for p, one in variances:
            for q, two in variances:
                r = 1 / np.sqrt((own + one) * (own + two))
                total += own_share * p * q * (0.25 + np.arcsin(r) / (2 * np.pi))
    return float(12 * total - 3)


def true_kendall(judge: Judge) -> float:
    """Return the population tau-b of single replies in two windows."""
    if CUTS[judge.scale] is None:
        variances = [(share, 1 + judge.window_sd**2 + sd**2) for share, sd in judge.classes]
        terms = [p * q * np.arcsin(2 / (a + b)) for p, a in variances for q, b in variances]
        return float(2 / np.pi * sum(terms))
    table = cell_table(judge, same_window=False)
    below = np.zeros((table.shape[0] + 1, table.shape[1] + 1))
    below[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    lower = below[:-1, :-1]  # both smaller
    columns, rows = table.sum(axis=0), table.sum(axis=1)
    smaller_row = np.concatenate([[0], np.cumsum(rows)[:-1]])[:, None]
    mixed = smaller_row - below[:-1, 1:]  # row smaller, column larger
    difference = 2 * float((table * (lower - mixed)).sum())
    return difference / np.sqrt((1 - rows @ rows) * (1 - columns @ columns))


def true_variances(judge: Judge) -> tuple[float, float]:
    """Return the variance within an item and window, and between (item and item:window)."""
    if CUTS[judge.scale] is None:
        return sum(p * s**2 for p, s in judge.classes), 1 + judge.window_sd**2
    table = cell_table(judge, same_window=True)
    values = np.arange(table.shape[0], dtype=float)
    level = table.sum(axis=0)
    mean = float(level @ values)
    between = float(values @ table @ values) - mean**2
    return float(level @ values**2) - mean**2 - between, between


def true_crossed(judge: Judge) -> tuple[float, float, float]:
    """Return the variances of item, item:window and reply."""
    within, between = true_variances(judge)
    if CUTS[judge.scale] is None:
        return 1.0, judge.window_sd**2, within
    table = cell_table(judge, same_window=False)
    values = np.arange(table.shape[0], dtype=float)
    mean = float(table.sum(axis=0) @ values)
    item = float(values @ table @ values) - mean**2
    return item, between - item, within


@dataclass(frozen=True)
class Verdicts:
    """A judge of two verdicts: shares of kinds of items with Beta(a, b) chances of verdict 1.

    A kind with b = 0 always gives verdict 1, one with a = 0 always verdict 0.
    """

    name: str
    kinds: tuple[tuple[float, float, float], ...]

    def chances(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return each item's chance of verdict 1."""
        which = rng.choice(len(self.kinds), n, p=[share for share, _, _ in self.kinds])
        found = np.empty(n)
        for kind, (_, a, b) in enumerate(self.kinds):
            mine = which == kind
            found[mine] = a / (a + b) if 0 in (a, b) else rng.beta(a, b, mine.sum())
        return found

    def draw(self, rng: np.random.Generator, n: int, repeats: int) -> np.ndarray:
        """Return verdict codes (n, repeats)."""
        return (rng.random((n, repeats)) < self.chances(rng, n)[:, None]).astype(np.int64)

    def moments(self) -> tuple[float, float]:
        """Return E p and E 2p(1 - p), the flip rate."""
        mean = flip = 0.0
        for share, a, b in self.kinds:
            mean += share * a / (a + b)
            flip += share * 2 * a * b / ((a + b) * (a + b + 1))
        return mean, flip


def simulated_runs(
    rng,
    runs,
    items=60,
    *,
    ar=0.0,
    step=0.0,
    day_sd=0.0,
    shift=0.0,
    start=0,
):
    """Clean or shifted residuals (runs x items) with planted properties, unit variance.

    `ar` is the autocorrelation inside a run, `step` rounds to a grid (ties), `day_sd` is
    one common effect on all these runs, `shift` is added from index `start` on.
    """
    noise = rng.normal(size=(runs, items))
    x = noise.copy()
    for t in range(1, items):
        x[:, t] = ar * x[:, t - 1] + np.sqrt(1 - ar * ar) * noise[:, t]
    x += day_sd * rng.normal()
    x[:, start:] += shift
    return np.round(x / step) * step if step else x
