"""Operating characteristic: how often a gate passes, fails or cannot tell, before it is frozen.

* Rule "point": pass if the estimate >= threshold, else fail. Rule "bound": pass if the
  one-sided lower bound >= threshold, fail if the upper bound < threshold, else inconclusive.
* A gate **discriminates** if a healthy instrument passes with chance >= .9 and a degraded one
  with chance <= .1; both are declared from the requirement, never from the pilot.
* The **predictive** characteristic resamples the pilot twice: pilot items once for what the
  pilot itself does not know, then a study of the planned size from those. Plugging the pilot's
  estimate in leaves the first part out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined

Floats = NDArray[np.float64]
Columns = NDArray[np.int_]
Rule = Literal["point", "bound"]
Outcome = Literal["pass", "fail", "inconclusive", "undefined"]

# table (items x ... x columns) and the pilot window of each column -> what the gate would say
Decide = Callable[[Floats, Columns], Outcome]
Statistic = Callable[[Floats, Columns], float]

HEALTHY_PASSES, DEGRADED_PASSES = 0.9, 0.1
CAPABLE_LEVEL = 0.8  # its ends are one-sided bounds at .1


@dataclass(frozen=True, slots=True)
class Chances:
    """Chances of a gate's outcomes; they add to 1."""

    passes: float
    fails: float
    inconclusive: float = 0.0
    undefined: float = 0.0


def discriminates(healthy: Chances, degraded: Chances) -> bool:
    """Say whether healthy passes >= .9 and degraded <= .1."""
    return healthy.passes >= HEALTHY_PASSES and degraded.passes <= DEGRADED_PASSES


def share_limits(
    n: int, threshold: float, rule: Rule = "point", alpha: float = 0.05
) -> tuple[int, int]:
    """Fewest successes of n that pass, and most that fail (n + 1 and -1 where none do).

    The bound is Clopper-Pearson's: s passes if P(X >= s | T) <= alpha, fails if
    P(X <= s | T) < alpha.
    """
    if n < 1 or not 0 < threshold <= 1:
        raise InputError(
            "gate", "n, threshold", f"{n!r}, {threshold!r}", "give n >= 1, T in (0, 1]"
        )
    if rule == "point":
        # .99 * 100 is 99.00000000000001 in floats, and 99 of 100 passes.
        fewest = math.ceil(round(threshold * n, 9))
        return fewest, fewest - 1
    s = np.arange(n + 1)
    at_least = np.where(s > 0, special.bdtrc(np.maximum(s - 1, 0), n, threshold), 1.0)
    passing, failing = at_least <= alpha, special.bdtr(s, n, threshold) < alpha
    fewest = int(s[passing].min()) if passing.any() else n + 1
    return fewest, int(s[failing].max()) if failing.any() else -1


def can_fire(
    n: int, threshold: float, rule: Rule = "bound", alpha: float = 0.05
) -> tuple[bool, bool]:
    """Say whether the pass and the fail branch of a share gate can ever fire."""
    fewest, most = share_limits(n, threshold, rule, alpha)
    return fewest <= n, most >= 0


def share_gate(
    truth: float, n: int, threshold: float, rule: Rule = "point", alpha: float = 0.05
) -> Chances:
    """Chances of a share gate on n independent draws, exact by the binomial.

    ">= .99 of 100" by the point passes a true .99 with .74, .98 with .40, .995 with .91.
    """
    if not 0 <= truth <= 1:
        raise InputError("gate", "truth", f"{truth!r}", "give a share in [0, 1]")
    fewest, most = share_limits(n, threshold, rule, alpha)
    passes = 1.0 if fewest <= 0 else float(special.bdtrc(fewest - 1, n, truth))
    fails = 0.0 if most < 0 else float(special.bdtr(most, n, truth))
    passes = 0.0 if fewest > n else passes
    return Chances(passes, fails, max(0.0, 1 - passes - fails))


def predictive_share_gate(
    successes: float,
    pilot_n: float,
    n: int,
    threshold: float,
    rule: Rule = "point",
    alpha: float = 0.05,
) -> Chances:
    """Chances of a share gate for the instrument that a pilot saw `successes` of `pilot_n` from.

    Beta-binomial with Jeffreys' posterior; both may be effective numbers, so that clustered
    pilots count for what they are worth.
    """
    if not (pilot_n > 0 and 0 <= successes <= pilot_n):
        raise InputError(
            "gate", "pilot", f"{successes!r} of {pilot_n!r}", "give 0 <= s <= n, n > 0"
        )
    a, b, s = successes + 0.5, pilot_n - successes + 0.5, np.arange(n + 1)
    choose = special.gammaln(n + 1) - special.gammaln(s + 1) - special.gammaln(n - s + 1)
    chance = np.exp(choose + special.betaln(s + a, n - s + b) - special.betaln(a, b))
    fewest, most = share_limits(n, threshold, rule, alpha)
    passes, fails = float(chance[s >= fewest].sum()), float(chance[s <= most].sum())
    return Chances(passes, fails, max(0.0, 1 - passes - fails))


def curve(gate: Callable[[float], Chances], grid: Iterable[float]) -> list[tuple[float, Chances]]:
    """Operating characteristic over a grid of true values."""
    return [(float(truth), gate(float(truth))) for truth in grid]


def smallest_n(
    healthy: float,
    degraded: float,
    threshold: float,
    rule: Rule = "bound",
    alpha: float = 0.05,
    most: int = 5000,
) -> int | Undefined:
    """Fewest draws at which a share gate discriminates, and does at every larger n up to 5 % more.

    Binomial steps make chances saw-toothed; a number that fails again right after is not
    offered. Undefined if none up to `most`.
    """
    if healthy <= degraded:
        raise InputError(
            "gate", "healthy", f"{healthy} <= {degraded}", "healthy must be the better"
        )
    since = 0
    for n in range(1, most + 1):
        good = share_gate(healthy, n, threshold, rule, alpha)
        bad = share_gate(degraded, n, threshold, rule, alpha)
        if not discriminates(good, bad):
            since = 0
            continue
        since = since or n
        if n >= since + max(1, since // 20):
            return since
    return Undefined(f"no n up to {most} discriminates")


def capable(
    pilot: Interval | Undefined, degraded: float, *, higher_is_better: bool = True
) -> bool | None:
    """Say whether a pilot shows its instrument to be better than the degraded one.

    `pilot` is the interval of level .8 of the gate's quantity, so that an instrument just at
    the degraded boundary is called capable with chance <= .1, however small the pilot. None
    (not known) without an interval. A predictive chance above one half is looser at that
    boundary, and a plug-in chance of .9 refuses good instruments: see the tests.
    """
    if isinstance(pilot, Undefined):
        return None
    if not math.isclose(pilot.level, CAPABLE_LEVEL):
        raise InputError("pilot", "level", f"{pilot.level}", f"give the {CAPABLE_LEVEL} interval")
    return pilot.low > degraded if higher_is_better else pilot.high < degraded


def per_comparison(exact_match: float, candidates: int) -> float:
    """Stability of each pair that an exact-match share implies: q^(1/C(m, 2)).

    Pairs taken as independent: .99 on whole rankings of ten asks .99978 of each pair.
    """
    if not 0 < exact_match <= 1 or candidates < 2:
        raise InputError("gate", "exact match", f"{exact_match!r}", "give q in (0, 1], m >= 2")
    return float(exact_match ** (1 / math.comb(candidates, 2)))


def point_rule(statistic: Statistic, threshold: float) -> Decide:
    """Decide by the statistic itself, rounded to 12 digits; NaN is undefined."""

    def decide(table: Floats, windows: Columns) -> Outcome:
        value = statistic(table, windows)
        if math.isnan(value):
            return "undefined"
        return "pass" if round(value, 12) >= threshold else "fail"

    return decide


def bound_rule(
    interval: Callable[[Floats, Columns], Interval | Undefined], threshold: float
) -> Decide:
    """Decide by the ends of an interval of level 1 - 2 alpha."""

    def decide(table: Floats, windows: Columns) -> Outcome:
        found = interval(table, windows)
        if isinstance(found, Undefined):
            return "undefined"
        if found.low >= threshold:
            return "pass"
        return "fail" if found.high < threshold else "inconclusive"

    return decide


def over_pairs(pair: Callable[[Floats, Floats], float], summary: str = "mean") -> Statistic:
    """Make a statistic: mean or median of `pair(x, y)` over columns from different windows.

    Columns that are the same pilot window drawn twice would agree with themselves and are
    left out; NaN if nothing remains or a pair is NaN.
    """
    reduce = np.median if summary == "median" else np.mean

    def statistic(table: Floats, windows: Columns) -> float:
        values = [
            pair(table[..., i], table[..., j])
            for i, j in combinations(range(table.shape[-1]), 2)
            if windows[i] != windows[j]
        ]
        return float(reduce(values)) if values else math.nan

    return statistic


def with_noise(pilot: ArrayLike, sd: float) -> Floats:
    """Rescale a pilot table to a within-item SD, as a declared instrument on the pilot's items.

    Surrogate: the pilot's items and the shape of its noise, at the declared size. Deviations
    from item means are multiplied by sd/s_w; item means, which carry s_w²/k of noise, are
    drawn together or apart until they carry sd²/k. The last axis holds windows or repeats.
    """
    y = np.asarray(pilot, float)
    k, means = y.shape[-1], y.mean(axis=-1, keepdims=True)
    noise = float(y.var(axis=-1, ddof=1).mean())
    if noise == 0:
        raise InputError("pilot", "noise", "0", "a pilot without noise cannot be rescaled")
    spread = max(float(means.var(ddof=1)) - noise / k, 0.0)
    centre, scale = float(means.mean()), math.sqrt((spread + sd**2 / k) / (spread + noise / k))
    return np.asarray(centre + (means - centre) * scale + (y - means) * sd / math.sqrt(noise))


def predictive(
    pilot: ArrayLike,
    decide: Decide,
    items: int,
    columns: int,
    *,
    rng: np.random.Generator,
    draws: int = 1000,
    pilot_uncertainty: bool = True,
) -> Chances:
    """Chances of a gate of `items` x `columns` on the instrument that the pilot saw.

    `pilot` has items on the first axis and windows (or repeats) on the last; groups of
    candidates may lie between. Each draw resamples pilot items and pilot windows, then the
    planned numbers from those. Windows are drawn without repetition where the pilot has
    enough; else `decide` sees from the window numbers which columns are copies.
    `pilot_uncertainty=False` is the plug-in rule, for comparison.
    """
    y = np.asarray(pilot, float)
    if y.ndim < 2 or y.shape[0] < 2 or y.shape[-1] < 2:
        raise InputError("pilot", "", f"shape {y.shape}", "give >= 2 items x >= 2 windows")
    tally = {"pass": 0, "fail": 0, "inconclusive": 0, "undefined": 0}
    for _ in range(draws):
        pool = np.arange(y.shape[0])
        if pilot_uncertainty:
            pool = rng.choice(pool, pool.size)
        rows = rng.choice(pool, items)
        windows = rng.choice(y.shape[-1], columns, replace=columns > y.shape[-1])
        tally[decide(y[rows][..., windows], windows)] += 1
    return Chances(*(tally[name] / draws for name in ("pass", "fail", "inconclusive", "undefined")))
