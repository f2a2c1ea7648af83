"""Contrasts of a memory-luck study: one number a world and endpoint, and what may be said of it.

In roles (see `luck_cells`), all of P(worse tool):

    lesson effect    p_LL - p_LO        content of the lesson at a fixed context
    outcome effect   p_Lx - p_Ox        the outcome shown, at a fixed lesson x
    total luck       p_LL - p_OO
    harm             p_LL - p_LU        protection   p_LU - p_LO
    CARRY            (p_LL - p_LU) - (p_OO - p_OU)

Rules of this module:

* A world counts where each of the contrast's cells has a choice. With `counted`, a call without a
  choice is one that did not choose the worse tool, and only cells without memory leave a world out.
* One call a cell: Tango or Newcombe for a difference, MOVER of two such for an interaction. Several
  calls a cell: t over worlds, two pseudo-worlds where fewer than ten are not 0, widened for skew.
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

from judgeaudit.analysis.luck.cells import Answers, Cell
from judgeaudit.analysis.luck.skew import skewed_t
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.paired import (
    Base,
    mover_ends,
    newcombe_ends,
    opposing_correlation,
    tango_ends,
)

Floats = NDArray[np.float64]
Side = Literal["above", "below"]

SIGNS = {2: (1, -1), 4: (1, -1, -1, 1)}
FARTHEST_Z = 6.0  # a p value below 1e-9 is told as 1e-9
BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class Contrast:
    """Cells in the order first - second, less third - fourth, and what to call it."""

    name: str
    scope: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True)
class Effects:
    """One contrast at each endpoint.

    `y` is endpoints x cells x worlds, the share of the worse tool, nan without a choice; `single`
    where no cell was asked twice. `missing` is the share of worlds with a memory that lack a
    choice, `worst` (endpoints x 2) the least and greatest value that these could have made of it.
    """

    contrast: Contrast
    endpoints: tuple[str, ...]
    y: Floats
    single: bool
    missing: Floats
    worst: Floats

    @cached_property
    def d(self) -> Floats:
        """The contrast in each world, endpoints x worlds, nan where a cell has no choice."""
        signs = np.array(SIGNS[self.y.shape[1]], float)
        return np.asarray(np.einsum("k,ekw->ew", signs, self.y), dtype=np.float64)

    @cached_property
    def n(self) -> NDArray[np.int64]:
        """Worlds that count, by endpoint."""
        return np.asarray((~np.isnan(self.d)).sum(axis=1), dtype=np.int64)

    @cached_property
    def value(self) -> Floats:
        """Mean over the worlds that count, nan where none does."""
        n = self.n
        return np.where(n > 0, np.nansum(self.d, axis=1) / np.maximum(n, 1), np.nan)

    def exact(self, endpoint: int) -> Fraction | None:
        """Return the value as a rational, None where cells hold means."""
        n = int(self.n[endpoint])
        if not n or not self.single:
            return None
        return Fraction(int(np.nansum(self.d[endpoint])), n)

    def shares(self, endpoint: int) -> list[float]:
        """Return p of each cell over the worlds that count."""
        kept = ~np.isnan(self.d[endpoint])
        return [float(p) for p in self.y[endpoint][:, kept].mean(axis=1)] if kept.any() else []

    def method(self, endpoint: int, base: Base) -> str:
        """Return how the interval is made, in words."""
        if not self.single:
            found = skewed_t(self._worlds(endpoint))
            return found.reason if isinstance(found, Undefined) else found[1].method
        words = "Tango score" if base == "tango" else "Newcombe paired"
        return words if self.y.shape[1] == 2 else f"MOVER of {words}"

    def ends(self, z: float | Floats, base: Base) -> tuple[Floats, Floats]:
        """Return both ends of the interval at normal quantile `z` (one, or one an endpoint)."""
        wide = np.broadcast_to(np.asarray(z, float), (len(self.endpoints),))
        if not self.single:
            return self._t_ends(wide)
        halves = [_half_ends(counts, wide, base) for counts in self._halves]
        if len(halves) == 1:
            low, high = halves[0]
        else:
            one, two = ((b - c) / (a + b + c + d) for a, b, c, d in self._halves)
            low, high = mover_ends(one, halves[0], two, halves[1], self._opposed)
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

    def _worlds(self, endpoint: int) -> Floats:
        d = self.d[endpoint]
        return np.asarray(d[~np.isnan(d)])

    @cached_property
    def _halves(self) -> list[tuple[Floats, ...]]:
        """Counts a, b, c, d of each half's paired table; an endpoint without worlds has d = 1."""
        kept = ~np.isnan(self.d)
        n = np.maximum(self.n, 1).astype(float)
        found: list[tuple[Floats, ...]] = []
        for k in range(0, self.y.shape[1], 2):
            first, second = (np.where(kept, self.y[:, k + j], 0.0) for j in (0, 1))
            a, one, other = (v.sum(axis=1) for v in (first * second, first, second))
            found.append((a, one - a, other - a, n - one - other + a))
        return found

    @cached_property
    def _opposed(self) -> Floats:
        def one(e: int) -> float:
            y = self.y[e][:, ~np.isnan(self.d[e])]
            return float(opposing_correlation(y[0] - y[1], y[2] - y[3])) if y.size else 0.0

        return np.array([one(e) for e in range(len(self.endpoints))])

    def _t_ends(self, z: Floats) -> tuple[Floats, Floats]:
        ends = np.full((2, z.size), np.nan)
        for e, quantile in enumerate(z):
            level = max(float(2 * special.ndtr(quantile) - 1), 1e-12)
            found = skewed_t(self._worlds(e), level)
            if not isinstance(found, Undefined):
                ends[:, e] = found[1].low, found[1].high
        return ends[0], ends[1]


def _half_ends(counts: tuple[Floats, ...], z: Floats, base: Base) -> tuple[Floats, Floats]:
    a, b, c, d = counts
    return tango_ends(b, c, a + b + c + d, z) if base == "tango" else newcombe_ends(a, b, c, d, z)


def effects_of(answers: Answers, contrast: Contrast, counted: bool = False) -> Effects | Undefined:
    """Return the contrast at each endpoint, or which of its cells were not run."""
    places = [answers.index(cell) for cell in contrast.cells]
    lacking = [c.name for c, at in zip(contrast.cells, places, strict=True) if at is None]
    if lacking:
        return Undefined(f"cells not run: {', '.join(dict.fromkeys(lacking))}")
    at = np.array(places, dtype=np.int64)
    asked = answers.planned[:, at] - answers.no_memory[:, at]
    worse, valid = answers.worse[:, at], answers.valid[:, at]
    y = _ratio(worse, asked if counted else valid)
    missing, worst = _bounds(worse, answers.lacking[:, at], asked, y)
    single = bool(answers.planned[:, at].max(initial=0) <= 1)
    return Effects(contrast, answers.endpoints, y, single, missing, worst)


def _ratio(top: NDArray[np.int64], bottom: NDArray[np.int64]) -> Floats:
    return np.where(bottom > 0, top / np.maximum(bottom, 1), np.nan)


def _bounds(
    worse: NDArray[np.int64], lacking: NDArray[np.int64], asked: NDArray[np.int64], y: Floats
) -> tuple[Floats, Floats]:
    """Return the share of worlds that lack a choice, and both extremes of the contrast with them.

    The worlds are those with a memory in each cell; a call that named no tool, or was never
    answered, is taken for the worse tool and for the better one, whichever moves the contrast most.
    """
    signs = np.array(SIGNS[worse.shape[1]], float)[:, None]
    could = (asked > 0).all(axis=1)
    least, most = _ratio(worse, asked), _ratio(worse + lacking, asked)
    down = np.where(signs > 0, least, most) * signs
    up = np.where(signs > 0, most, least) * signs
    total = np.maximum(could.sum(axis=1), 1)
    ends = [np.where(could, part.sum(axis=1), 0.0).sum(axis=1) / total for part in (down, up)]
    lacks = could & ((lacking > 0).any(axis=1) | np.isnan(y).any(axis=1))
    return lacks.sum(axis=1) / total, np.stack(ends, axis=1)
