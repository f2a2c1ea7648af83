"""Tables with planted facets, and what each statistic would be with infinitely many items and runs.

A score is y = theta_i + run_j (+ session_s) + e_ij: theta ~ N(0, 1), the run ~ N(0, s_run^2), noise
N(0, s_c^2) with c the item's class; then cut to the levels of a scale. Items of a task share half
of theta's variance and their noise class. Truth is an integral over a grid, or a closed form.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

CUTS = {
    "normal": None,
    "five points": (-1.1, -0.35, 0.35, 1.1),
    "five points, top": (-2.0, -1.5, -0.9, -0.1),
    "five points, bottom": (0.1, 0.9, 1.5, 2.0),
}
EQUAL, UNEQUAL = ((1.0, 0.5),), ((0.7, 0.05), (0.3, 1.0))


@dataclass(frozen=True)
class Table:
    """A planted design: scale, SD of the run, (share, SD) of each noise class, items in tasks."""

    scale: str = "normal"
    run_sd: float = 0.0
    classes: tuple[tuple[float, float], ...] = EQUAL
    tasks: int = 0

    @property
    def noise(self) -> float:
        """Mean variance of the noise."""
        return sum(share * sd**2 for share, sd in self.classes)

    @property
    def total_sd(self) -> float:
        """SD of a score before cutting."""
        return float(np.sqrt(1 + self.run_sd**2 + self.noise))

    def draw(self, rng, n, runs, sessions=None):
        """Return scores (n, runs); `sessions` gives each run's session, of the same SD."""
        codes = np.arange(n) % self.tasks if self.tasks else np.arange(n)
        units = int(codes.max()) + 1
        theta = rng.normal(size=n)
        if self.tasks:
            theta = np.sqrt(0.5) * (theta + rng.normal(size=units)[codes])
        shares, sds = zip(*self.classes, strict=True)
        sd = np.array(sds)[rng.choice(len(sds), units, p=shares)][codes]
        shift = self.run_sd * rng.normal(size=runs)
        if sessions is not None:
            shift = 0.5 * shift + self.run_sd * rng.normal(size=int(sessions.max()) + 1)[sessions]
        return self.cut(theta[:, None] + shift + sd[:, None] * rng.normal(size=(n, runs)))

    def cut(self, y):
        """Return scores on the scale."""
        cuts = CUTS[self.scale]
        if cuts is None:
            return y
        return np.searchsorted(np.array(cuts) * self.total_sd, y, side="right").astype(float)


def means_given(table, own_sd, rest):
    """Return E[level | x] on a grid of x ~ N(0, own_sd^2), and the grid's weights.

    `rest` gives, for each noise class, its share and the SD of everything else.
    """
    grid = np.linspace(-8, 8, 4_001)
    weight = np.exp(-(grid**2) / 2)
    cuts = np.array(CUTS[table.scale]) * table.total_sd
    mean = sum(
        share * (1 - ndtr((cuts - own_sd * grid[:, None]) / sd)).sum(axis=1) for share, sd in rest
    )
    return mean, weight / weight.sum()


def spread(mean, weight):
    """Return the variance of a function on a weighted grid."""
    return float(weight @ mean**2 - (weight @ mean) ** 2)


@cache
def true_variances(table):
    """Return the variances between items, between runs, and of a single score."""
    if CUTS[table.scale] is None:
        return 1.0, table.run_sd**2, table.total_sd**2
    # An item is its theta and its noise class.
    parts = [
        (share, *means_given(table, 1.0, [(1.0, np.hypot(table.run_sd, sd))]))
        for share, sd in table.classes
    ]
    first = sum(share * float(w @ m) for share, m, w in parts)
    second = sum(share * float(w @ m**2) for share, m, w in parts)
    of_run = [(share, np.hypot(1.0, sd)) for share, sd in table.classes]
    run = spread(*means_given(table, table.run_sd, of_run)) if table.run_sd else 0.0
    levels, total = np.arange(len(CUTS[table.scale]) + 1.0), 0.0
    for share, sd in table.classes:
        whole = np.sqrt(1 + table.run_sd**2 + sd**2)
        edges = np.concatenate([[-np.inf], np.array(CUTS[table.scale]) * table.total_sd, [np.inf]])
        total += share * float(np.diff(ndtr(edges / whole)) @ levels**2)
    return second - first**2, run, total - first**2


def true_agreement(table):
    """Return ICC(A,1): variance between items over the variance of a single score."""
    item, _, total = true_variances(table)
    return item / total
