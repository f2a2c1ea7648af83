"""One contrast of a memory-luck study: one number a world and endpoint, and its interval.

* A world counts where each of the contrast's cells has a choice. With `counted`, a call without a
  choice is one that did not choose the worse tool, and only cells without memory leave a world out.
* One call a cell and weights of 1 and -1: the cells make pairs. One pair: Tango or Newcombe;
  several: MOVER of such intervals. Several calls a cell, or other weights: t over worlds, two
  pseudo-worlds where fewer than ten are not 0, widened for skew.
* Worlds in clusters that a registration names: t over the clusters' means (`clustered`).
* *Present* is a lower bound above 0, *large* one above the margin, *negligible* an upper bound
  below it: three claims, each with a one-sided bound of its own. Present and negligible may hold
  together; that none of them holds is no finding, and not being large is not being safe.
* The p value of a claim is the smallest alpha at which its bound would make it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.luck.answers import Answers
from judgeaudit.analysis.luck.clustered import cluster_means
from judgeaudit.analysis.luck.declared import Contrast, Losses
from judgeaudit.analysis.luck.skew import skewed_t
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.paired import (
    Base,
    mover_sum_ends,
    newcombe_ends,
    supporting_correlations,
    tango_ends,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Side = Literal["above", "below"]

FARTHEST_Z = 6.0  # a p value below 1e-9 is told as 1e-9
BISECTIONS = 40


@dataclass(frozen=True)
class Effects:
    """One contrast at each endpoint.

    `y` is endpoints x cells x worlds, the share of the worse tool, nan without a choice; `single`
    where no cell was asked twice. `missing` is the share of worlds that lack a choice, `lowest` and
    `highest` (endpoints x worlds, nan where a world is not counted in it) what the missing ones
    could have made of each world; `lost` the worlds that had no memory. `clusters` is the cluster
    of each world, empty where the world is the unit, `scale` what a choice of the
    worse tool costs in each world, None where choices are counted.
    """

    contrast: Contrast
    endpoints: tuple[str, ...]
    y: Floats
    single: bool
    missing: Floats
    lowest: Floats
    highest: Floats
    lost: Ints
    clusters: tuple[str, ...] = ()
    scale: Floats | None = None

    @cached_property
    def weights(self) -> Floats:
        """The weights, one a cell."""
        return np.array([float(weight) for _, weight in self.contrast.weights])

    @cached_property
    def d(self) -> Floats:
        """The contrast in each world, endpoints x worlds, nan where a cell has no choice."""
        found = np.einsum("k,ekw->ew", self.weights, self.y)
        return np.asarray(found if self.scale is None else found * self.scale, dtype=np.float64)

    @cached_property
    def n(self) -> Ints:
        """Worlds that count, by endpoint."""
        return np.asarray((~np.isnan(self.d)).sum(axis=1), dtype=np.int64)

    @cached_property
    def moving(self) -> Ints:
        """Worlds whose contrast is not 0, by endpoint."""
        return np.asarray((np.nan_to_num(self.d) != 0).sum(axis=1), dtype=np.int64)

    @cached_property
    def value(self) -> Floats:
        """Mean over the worlds that count (over clusters, of their means), nan where none does."""
        n = self.n
        if self.clusters:
            each = [self.worlds(e) for e in range(len(self.endpoints))]
            return np.array([part.mean() if part.size else np.nan for part in each])
        return np.where(n > 0, np.nansum(self.d, axis=1) / np.maximum(n, 1), np.nan)

    @cached_property
    def worst(self) -> Floats:
        """Least and greatest value that missing choices could have made, endpoints x 2."""
        n = np.maximum((~np.isnan(self.lowest)).sum(axis=1), 1)
        ends = [np.nansum(part, axis=1) / n for part in (self.lowest, self.highest)]
        return np.stack(ends, axis=1)

    @property
    def paired(self) -> bool:
        """Whether the interval is made of paired tables and not by t over worlds."""
        whole = self.contrast.halves() is not None and self.scale is None
        return self.single and not self.clusters and whole

    def exact(self, endpoint: int) -> Fraction | None:
        """Return the value as a rational, None where it is a mean of means."""
        n = int(self.n[endpoint])
        whole = all(weight.denominator == 1 for _, weight in self.contrast.weights)
        if not n or not self.single or not whole or self.clusters or self.scale is not None:
            return None
        return Fraction(round(float(np.nansum(self.d[endpoint]))), n)

    def shares(self, endpoint: int) -> list[float]:
        """Return p of each cell over the worlds that count."""
        kept = ~np.isnan(self.d[endpoint])
        return [float(p) for p in self.y[endpoint][:, kept].mean(axis=1)] if kept.any() else []

    def method(self, endpoint: int, base: Base) -> str:
        """Return how the interval is made, in words."""
        if not self.paired:
            found = self._t(endpoint)
            return found.reason if isinstance(found, Undefined) else found[1].method
        words = "Tango score" if base == "tango" else "Newcombe paired"
        return words if len(self._halves) == 1 else f"MOVER of {words}"

    def ends(self, z: float | Floats, base: Base) -> tuple[Floats, Floats]:
        """Return both ends of the interval at normal quantile `z` (one, or one an endpoint)."""
        wide = np.broadcast_to(np.asarray(z, float), (len(self.endpoints),))
        if not self.paired:
            return self._t_ends(wide)
        halves = [_half_ends(counts, wide, base) for counts in self._halves]
        values = np.stack([(b - c) / (a + b + c + d) for a, b, c, d in self._halves])
        lows, highs = (np.stack([half[end] for half in halves]) for end in (0, 1))
        low, high = mover_sum_ends(values, lows, highs, self._together)
        none = self.n == 0
        return np.where(none, np.nan, low), np.where(none, np.nan, high)

    def p(self, margin: float, side: Side, base: Base = "newcombe") -> Floats:
        """Return the least alpha whose lower (upper) bound lies above (below) the margin.

        1 where the estimate itself does not, nan where there is none.
        """
        near, far = np.zeros(len(self.endpoints)), np.full(len(self.endpoints), FARTHEST_Z)
        for _ in range(BISECTIONS):
            middle = (near + far) / 2
            low, high = self.ends(middle, base)
            holds = low > margin if side == "above" else high < margin
            near, far = np.where(holds, middle, near), np.where(holds, far, middle)
        on_side = self.value > margin if side == "above" else self.value < margin
        p = np.where(on_side, special.ndtr(-near), 1.0)
        return np.where(self.n == 0, np.nan, p)

    def worlds(self, endpoint: int) -> Floats:
        """Return the contrast of each world that counts, or of each cluster of worlds."""
        d = self.d[endpoint]
        if self.clusters:
            return cluster_means(d, self.clusters)
        return np.asarray(d[~np.isnan(d)])

    @cached_property
    def _halves(self) -> list[tuple[Floats, ...]]:
        """Counts a, b, c, d of each pair's table; an endpoint without worlds has d = 1."""
        kept = ~np.isnan(self.d)
        n = np.maximum(self.n, 1).astype(float)
        found: list[tuple[Floats, ...]] = []
        for pair in self.contrast.halves() or ():
            first, second = (np.where(kept, self.y[:, k], 0.0) for k in pair)
            a, one, other = (v.sum(axis=1) for v in (first * second, first, second))
            found.append((a, one - a, other - a, n - one - other + a))
        return found

    @cached_property
    def _together(self) -> Floats:
        """Correlation of the pairs over worlds, pairs x pairs x endpoints, where it is positive."""
        pairs = self.contrast.halves() or []
        found = np.zeros((len(pairs), len(pairs), len(self.endpoints)))
        for e in range(len(self.endpoints)):
            y = self.y[e][:, ~np.isnan(self.d[e])]
            if y.size:
                found[:, :, e] = supporting_correlations([y[i] - y[j] for i, j in pairs])
        return found

    def _t(self, endpoint: int) -> tuple[float, Interval] | Undefined:
        return skewed_t(self.worlds(endpoint))

    def _t_ends(self, z: Floats) -> tuple[Floats, Floats]:
        ends = np.full((2, z.size), np.nan)
        for e, quantile in enumerate(z):
            level = max(float(2 * special.ndtr(quantile) - 1), 1e-12)
            found = skewed_t(self.worlds(e), level)
            if not isinstance(found, Undefined):
                ends[:, e] = found[1].low, found[1].high
        return ends[0], ends[1]


def _half_ends(counts: tuple[Floats, ...], z: Floats, base: Base) -> tuple[Floats, Floats]:
    a, b, c, d = counts
    return tango_ends(b, c, a + b + c + d, z) if base == "tango" else newcombe_ends(a, b, c, d, z)


def effects_of(
    answers: Answers, contrast: Contrast, counted: bool = False, losses: Losses = "planned"
) -> Effects | Undefined:
    """Return the contrast at each endpoint, or which of its cells were not run."""
    lacking = [cell for cell in contrast.cells if answers.index(cell) is None]
    if lacking:
        return Undefined(f"cells not run: {', '.join(dict.fromkeys(lacking))}")
    at = np.array(answers.places(contrast.cells), dtype=np.int64)
    planned, no_memory = answers.planned[:, at], answers.no_memory[:, at]
    asked = planned - no_memory
    worse, valid = answers.worse[:, at], answers.valid[:, at]
    y = _ratio(worse, asked if counted else valid)
    of, lost = (planned, planned - valid) if losses == "planned" else (asked, asked - valid)
    weights = np.array([float(weight) for _, weight in contrast.weights])[:, None]
    least, most = _ratio(worse, of), _ratio(worse + lost, of)
    down = (np.where(weights > 0, least, most) * weights).sum(axis=1)
    up = (np.where(weights > 0, most, least) * weights).sum(axis=1)
    could = (of > 0).all(axis=1)
    cost = 1.0 if answers.scale is None else answers.scale
    lacks = could & ((lost > 0).any(axis=1) | np.isnan(y).any(axis=1))
    missing = lacks.sum(axis=1) / np.maximum(could.sum(axis=1), 1)
    return Effects(
        contrast,
        answers.endpoints,
        y,
        bool(answers.planned[:, at].max(initial=0) <= 1),
        missing,
        np.where(could, down * cost, np.nan),
        np.where(could, up * cost, np.nan),
        np.asarray((no_memory > 0).any(axis=1).sum(axis=1), dtype=np.int64),
        answers.clusters,
        answers.scale,
    )


def _ratio(top: Ints, bottom: Ints) -> Floats:
    return np.where(bottom > 0, top / np.maximum(bottom, 1), np.nan)
