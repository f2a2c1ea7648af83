"""How often a registered gate passes, fails or cannot tell, for an instrument of a given truth.

A gate asks that a statistic lie in a `Region`. How its estimate scatters depends on its kind:

* "share": a mean of shares in [0, 1]. Binomial on the effective number of independent draws, and
  Clopper-Pearson's bounds on the same number, which is how the analysis decides (Korn & Graubard
  1998). Exact where every comparison is independent.
* "correlation", "positive", "plain": normal on the scale atanh, log, none, with a standard error
  that a pilot measured and that falls with the root of the number of independent units.

The pilot never says what is healthy: that is declared from the consumer's requirement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate
from judgeaudit.statistic import Kind
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.operating import DEGRADED_PASSES, HEALTHY_PASSES, Chances, Rule
from judgeaudit.stats.power import upper_quantile
from judgeaudit.verdict.oc.simulated import STEPS, smallest

Floats = NDArray[np.float64]
_EDGE = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Region:
    """What a gate accepts: low <= value <= high, its ends included; None is no end."""

    low: float | None = None
    high: float | None = None

    def holds(self, value: Floats) -> NDArray[np.bool_]:
        """Return whether each value is accepted, compared after rounding to 12 digits."""
        v = np.round(value, 12)
        return np.asarray((v >= (-np.inf if self.low is None else self.low)) & (
            v <= (np.inf if self.high is None else self.high)
        ))  # fmt: skip

    def holds_whole(self, low: Floats, high: Floats) -> NDArray[np.bool_]:
        """Return whether whole intervals are accepted."""
        return self.holds(low) & self.holds(high)

    def misses_whole(self, low: Floats, high: Floats) -> NDArray[np.bool_]:
        """Return whether no point of the intervals is accepted."""
        below = np.round(high, 12) < (-np.inf if self.low is None else self.low)
        above = np.round(low, 12) > (np.inf if self.high is None else self.high)
        return np.asarray(below | above)


def region_of(gate: Gate) -> Region:
    """Return what a gate accepts."""
    if gate.band is not None:
        return Region(float(gate.band[0]), float(gate.band[1]))
    if gate.at_least is not None:
        return Region(low=float(gate.at_least))
    assert gate.at_most is not None
    return Region(high=float(gate.at_most))


def share_chances(truth: float, n: float, region: Region, rule: Rule, alpha: float) -> Chances:
    """Return the chances of a share gate on `n` independent draws (rounded to a whole number).

    ">= .99 of 100" by the point passes a true .99 with .74, .98 with .40, .995 with .91.
    """
    passing, failing = share_outcomes(max(1, round(n)), region, rule, alpha)
    s = np.arange(passing.size)
    size = passing.size - 1
    choose = special.gammaln(size + 1) - special.gammaln(s + 1) - special.gammaln(size - s + 1)
    chance = np.exp(choose + special.xlogy(s, truth) + special.xlog1py(size - s, -truth))
    passes, fails = float(chance[passing].sum()), float(chance[failing].sum())
    return Chances(min(1.0, passes), min(1.0, fails), max(0.0, 1 - passes - fails))


def share_outcomes(
    n: int, region: Region, rule: Rule, alpha: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which numbers of successes 0..n pass, and which fail."""
    s = np.arange(n + 1, dtype=float)
    if rule == "point":
        passing = region.holds(s / n)
        return passing, ~passing
    inner = np.arange(1, n, dtype=float)
    low, high = np.zeros(n + 1), np.ones(n + 1)
    low[1:n] = special.betaincinv(inner, n - inner + 1, alpha)
    high[1:n] = special.betaincinv(inner + 1, n - inner, 1 - alpha)
    # No success and no failure: the ends have closed forms, alpha^(1/n) and its complement.
    low[n], high[0] = alpha ** (1 / n), 1 - alpha ** (1 / n)
    return region.holds_whole(low, high), region.misses_whole(low, high)


def to_scale(kind: Kind, value: float) -> float:
    """Return `value` on the scale on which its estimate is nearly normal."""
    if kind == "correlation":
        return math.atanh(min(_EDGE, max(-_EDGE, value)))
    return math.log(max(value, 1e-300)) if kind == "positive" else value


def normal_chances(
    kind: Kind, truth: float, se: float, region: Region, rule: Rule, alpha: float
) -> Chances:
    """Return the chances of a gate whose estimate is normal around `truth` on its scale."""
    centre, z = to_scale(kind, truth), upper_quantile(alpha) if rule == "bound" else 0.0
    low = -math.inf if region.low is None else to_scale(kind, region.low)
    high = math.inf if region.high is None else to_scale(kind, region.high)
    if kind == "positive" and region.low is not None and region.low <= 0:
        low = -math.inf
    margin = z * se
    inside = _below(high - margin, centre, se) - _below(low + margin, centre, se)
    outside = _below(low - margin, centre, se) + 1 - _below(high + margin, centre, se)
    passes, fails = max(0.0, inside), min(1.0, max(0.0, outside))
    return Chances(passes, fails, max(0.0, 1 - passes - fails))


def _below(limit: float, centre: float, se: float) -> float:
    return float(special.ndtr((limit - centre) / se)) if math.isfinite(limit) else float(limit > 0)


@dataclass(frozen=True, slots=True)
class Precision:
    """What an estimate of one design is worth.

    `draws` is the effective number of independent draws of a share, `se` the standard error on the
    statistic's scale; one of them is None. `units` counts what is independent.
    """

    kind: Kind
    units: float
    draws: float | None = None
    se: float | None = None
    from_pilot: bool = False

    def at(self, units: float) -> Precision:
        """Return the precision of the same design with another number of units."""
        more = units / self.units
        draws = None if self.draws is None else self.draws * more
        se = None if self.se is None else self.se / math.sqrt(more)
        return Precision(self.kind, units, draws, se, self.from_pilot)

    def chances(self, truth: float, region: Region, rule: Rule, alpha: float) -> Chances:
        """Return the gate's chances at a true value."""
        if self.draws is not None:
            return share_chances(truth, self.draws, region, rule, alpha)
        assert self.se is not None
        return normal_chances(self.kind, truth, self.se, region, rule, alpha)

    @property
    def kappa(self) -> float | None:
        """sqrt(units) times the standard error on the scale; what sample size formulas take."""
        return None if self.se is None else self.se * math.sqrt(self.units)


def standard_error(kind: Kind, estimate: Estimate) -> float | None:
    """Return the standard error on the scale that an estimate's interval shows; None without."""
    if estimate.low is None or estimate.high is None:
        return None
    width = to_scale(kind, estimate.high) - to_scale(kind, estimate.low)
    return width / (2 * upper_quantile((1 - estimate.level) / 2)) or None


def curve(
    precision: Precision, region: Region, rule: Rule, alpha: float, truths: Iterable[float]
) -> list[tuple[float, Chances]]:
    """Return the operating characteristic over a grid of true values."""
    return [(float(t), precision.chances(float(t), region, rule, alpha)) for t in truths]


def grid(kind: Kind, marks: Iterable[float], points: int = 41) -> list[float]:
    """Return true values that span `marks` with a margin, inside the statistic's range."""
    known = sorted(marks)
    span = max(known[-1] - known[0], 0.02 if kind in ("share", "correlation") else 1e-3)
    low, high = known[0] - span / 2, known[-1] + span / 2
    if kind == "share":
        low, high = max(0.0, low), min(1.0, high)
    elif kind == "correlation":
        low, high = max(-0.999, low), min(0.999, high)
    elif kind == "positive":
        low = max(low, known[0] / 20, 1e-12)
    return [float(value) for value in np.linspace(low, high, points)]


def smallest_units(
    precision: Precision,
    region: Region,
    rule: Rule,
    alpha: float,
    healthy: float,
    degraded: float | None,
    *,
    wanted: float = HEALTHY_PASSES,
    most: int = 100_000,
) -> int | Undefined:
    """Return the fewest units at which healthy passes >= `wanted` and degraded <= .1.

    Without `degraded` the first alone is asked. Chances of shares go up and down by their steps:
    the number holds for itself and for 2, 5 and 10 % more. Undefined where none up to `most` does.
    """

    def good(units: float) -> bool:
        found = precision.at(units)
        if found.chances(healthy, region, rule, alpha).passes < wanted:
            return False
        if degraded is None:
            return True
        return found.chances(degraded, region, rule, alpha).passes <= DEGRADED_PASSES

    def stays(units: int) -> bool:
        return all(good(round(units * more)) for more in STEPS)

    found = smallest(stays, most, start=2, exact=True)
    if found is not None:
        return found
    told = f"between {healthy} and {degraded}" if degraded is not None else f"for {healthy}"
    return Undefined(f"no number up to {most} discriminates {told}")
