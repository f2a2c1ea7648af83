"""What a fixed gate does before it is frozen: the registered decision on simulated readings.

* Shares of equal readings (flips, equal categories, numbers, texts, rankings): many runs at once,
  as arrays. The mean over items, Korn and Graubard's effective number, the bound or the point and
  the rule for missing readings are those of `analysis.pairing` and `verdict.verdicts`; tests hold
  both to the same verdicts on the same readings.
* Spearman, ICC and noise: run by run, by the estimators that read the study.
* Other statistics are held against no instrument here: `rule_of` returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Gate
from judgeaudit.stats.icc import icc
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.operating import DEGRADED_PASSES, HEALTHY_PASSES, Chances
from judgeaudit.stats.ranks import spearman_pairs
from judgeaudit.stats.scaled import LEAST_TASKS, Estimated, freedom_of_moments
from judgeaudit.verdict.oc.instrument import Region, region_of
from judgeaudit.verdict.oc.laid import Laid
from judgeaudit.verdict.oc.simulated import EVEN, STEPS, Simulated, smallest
from judgeaudit.verdict.oc.worlds import (
    ICCS,
    LEVELS,
    SCORES,
    SDS,
    Draw,
    Where,
    flip_instruments,
    readings,
)
from judgeaudit.verdict.verdicts import outcome_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
RUNS, SCORE_RUNS, SEARCH_RUNS = 2_000, 200, 1_000
CELLS_AT_ONCE = 4_000_000
PASS, FAIL, OPEN, NONE = 1, -1, 0, 2
MOST_UNITS = 20_000
"""Most units that a search tries."""


@dataclass(frozen=True, slots=True)
class FixedRule:
    """One fixed gate on the plan that it will rest on."""

    gate: Gate
    laid: Laid
    seed: int

    @property
    def where(self) -> Where:
        """Where noise can lie in what it asks."""
        return Where(len(self.laid.units), self.laid.stretch, self.laid.tasks)

    @property
    def calls(self) -> float:
        """Calls that it asks, whatever comes."""
        return self.laid.calls * len(self.laid.units)

    @property
    def instruments(self) -> tuple[str, ...]:
        """Names of the instruments that it is held against, the even one first."""
        draws = SCORED.get(self.gate.statistic)
        return flip_instruments(self.where) if draws is None else tuple(draws.draws)

    def weigh(self, instrument: str, truth: float, runs: int | None = None) -> Simulated:
        """Return the cell of one instrument of a true value."""
        scored = SCORED.get(self.gate.statistic)
        count = runs or (RUNS if scored is None else SCORE_RUNS)
        rng = np.random.default_rng([self.seed, round(abs(truth) * 1e6)])
        found = (
            self._shares(rng, instrument, truth, count)
            if scored is None
            else self._scores(rng, scored.draws[instrument], truth, count)
        )
        rates = [float(np.mean(found == code)) for code in (PASS, FAIL, OPEN, NONE)]
        return Simulated(instrument, truth, Chances(*rates), self.calls, count)

    def at(self, units: int) -> FixedRule:
        """Return the rule with another number of independent units."""
        return replace(self, laid=self.laid.at(units))

    def _shares(self, rng: np.random.Generator, instrument: str, truth: float, runs: int) -> Ints:
        rate = truth if statistic(self.gate.statistic).better == "low" else 1 - truth
        columns = self.laid.planned.shape[1]
        most = max(1, CELLS_AT_ONCE // (len(self.laid.units) * columns))
        found, planned = [], self.compared(self.laid.planned[None])
        while runs > 0:
            some = min(most, runs)
            found.append(self.decided(self._drawn(rng, instrument, rate, some), planned))
            runs -= some
        return np.concatenate(found)

    def _drawn(self, rng: np.random.Generator, instrument: str, rate: float, runs: int) -> Ints:
        """Return the equal comparisons (runs, rows): of whole readings, or of each pair alone."""
        if self.laid.of == 1:
            columns = self.laid.planned.shape[1]
            return self.alike(readings(instrument, rng, runs, self.where, rate, columns))
        chances = LEVELS[instrument](rng, runs, self.where, rate)
        every = self.laid.of * self.compared(self.laid.planned[None])
        return np.asarray(rng.binomial(np.broadcast_to(every, chances.shape), 1 - chances))

    def alike(self, usual: Bools, valid: Bools | None = None) -> Ints:
        """Return the equal compared pairs (runs, rows) of readings that are usual, or their own."""
        there = self.laid.planned if valid is None else valid & self.laid.planned
        same = usual & there
        total = np.zeros(usual.shape[:2], np.int64)
        for a, b in self.laid.pairs:
            total += same[..., a] & same[..., b]
        return total

    def compared(self, valid: Bools) -> Ints:
        """Return the pairs (runs, rows) whose two readings are valid."""
        there = valid & self.laid.planned
        total = np.zeros(valid.shape[:2], np.int64)
        for a, b in self.laid.pairs:
            total += there[..., a] & there[..., b]
        return total

    def decided(self, alike: Ints, compared: Ints) -> Ints:
        """Return each run's outcome by its equal and its compared pairs (runs, rows)."""
        planned = self.compared(self.laid.planned[None])
        counted = self.gate.denominator == "planned" or self.gate.invalid == "disagree"
        compared = np.broadcast_to(compared, alike.shape)
        among = np.broadcast_to(planned, alike.shape) if counted else compared
        flips = statistic(self.gate.statistic).better == "low"
        hits = self.laid.of * among - alike if flips else alike
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(among > 0, hits / (self.laid.of * among), np.nan)
        share = _Shares.of(values, self.laid.of * among, self.laid.clusters, self._tail)
        outcome = share.outcome(self.gate)
        if not counted:
            lost = self.laid.of * (planned - compared)
            low = (hits if flips else alike) / (self.laid.of * planned)
            worst = low.mean(axis=1), (low + lost / (self.laid.of * planned)).mean(axis=1)
            missing = 1 - compared.sum(axis=1) / planned.sum()
            outcome = share.with_missing(self.gate, outcome, missing, worst)
        return np.where(np.isnan(share.value), NONE, outcome)

    @property
    def _tail(self) -> float:
        return float(self.gate.alpha)

    def _scores(self, rng: np.random.Generator, draw: Draw, truth: float, runs: int) -> Ints:
        columns = self.laid.planned.shape[1]
        scored = SCORED[self.gate.statistic]
        found = []
        for _ in range(runs):
            scores = draw(rng, 1, self.where, truth / scored.factor, columns)[0]
            found.append(self.decide_scores(np.where(self.laid.planned, scores, np.nan)))
        return np.asarray(found)

    def decide_scores(self, scores: Floats) -> int:
        """Return the outcome for one run's scores (rows, columns), nan where there is none."""
        scored = SCORED[self.gate.statistic]
        found = scored.estimate(self, scores)
        level = 1 - 2 * self._tail
        if isinstance(found, Undefined):
            return NONE
        factor, interval = scored.factor, found.interval(level)
        value = found.value * factor
        estimate = Estimate(self.gate.statistic, value, level=level)
        if not isinstance(interval, Undefined):
            low, high = interval.low * factor, interval.high * factor
            estimate = replace(estimate, low=low, high=high)
        return CODES[outcome_of(self.gate, estimate).value]


CODES = {"pass": PASS, "fail": FAIL, "inconclusive": OPEN, "undefined": NONE}


@dataclass(frozen=True, slots=True)
class _Shares:
    """Means of shares (runs,) with the size that they are worth, and bounds at `tail` a side.

    `bounded` says where there are enough independent units for a bound.
    """

    value: Floats
    size: Floats
    bounded: Bools
    tail: float

    @classmethod
    def of(cls, values: Floats, trials: Ints, clusters: Ints | None, tail: float) -> _Shares:
        """Return the effective proportions of (runs, rows); see `stats.agreement`."""
        kept = ~np.isnan(values)
        n = kept.sum(axis=1)
        x = np.where(kept, values, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = x.sum(axis=1) / n
            apart = np.where(kept, values - mean[:, None], 0.0)
            if clusters is None:
                units, factor, sums, freedom = n, n / (n - 1), apart, n - 1
            else:
                codes = np.unique(clusters, return_inverse=True)[1]
                member = np.zeros((codes.size, int(codes.max()) + 1))
                member[np.arange(codes.size), codes] = 1.0
                sums, units = apart @ member, ((kept @ member) > 0).sum(axis=1)
                factor = units / (units - 1)
                square, fourth = ((sums**power).sum(axis=1) / units for power in (2, 4))
                freedom = freedom_of_moments(square, fourth, units)
            variance = factor * (sums**2).sum(axis=1) / n**2
            most = np.where(kept, trials, 0).sum(axis=1).astype(float)
            worth = np.where(variance > 0, mean * (1 - mean) / variance, units)
            size = np.minimum(np.maximum(worth, np.minimum(units, most)), most)
            wide, narrow = (special.stdtrit(v, 1 - tail) for v in (freedom, n - 1))
            size = np.where(units < n, size * (narrow / wide) ** 2, size)
        bounded = (units >= 2) & ((units == n) | (units >= LEAST_TASKS))
        return cls(mean, size, np.asarray(bounded), tail)

    def ends(self, value: Floats) -> tuple[Floats, Floats]:
        """Return Clopper and Pearson's bounds of shares on these sizes."""
        hits, misses = value * self.size, self.size - value * self.size
        with np.errstate(invalid="ignore"):
            low = np.where(hits <= 0, 0.0, special.betaincinv(hits, misses + 1, self.tail))
            high = np.where(misses <= 0, 1.0, special.betaincinv(hits + 1, misses, 1 - self.tail))
        return low, high

    def outcome(self, gate: Gate) -> Ints:
        """Return each run's outcome by the bound or the point, missing readings aside."""
        region = region_of(gate)
        if gate.decide == "point":
            return np.where(region.holds(self.value), PASS, FAIL)
        found = _held(region, *self.ends(self.value))
        return np.where(self.bounded, found, OPEN)

    def with_missing(
        self, gate: Gate, outcome: Ints, missing: Floats, worst: tuple[Floats, Floats]
    ) -> Ints:
        """Return the outcomes where too much is missing for the cases that came to decide."""
        low, high = worst if gate.decide == "point" else _outer(self, worst)
        settled = _held(region_of(gate), low, high) != OPEN
        open_ = (np.round(missing, 12) > float(gate.max_missing)) & ~settled
        return np.where(open_, OPEN, outcome)


def _outer(share: _Shares, worst: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return share.ends(worst[0])[0], share.ends(worst[1])[1]


def _held(region: Region, low: Floats, high: Floats) -> Ints:
    misses = region.misses_whole(low, high)
    return np.where(region.holds_whole(low, high), PASS, np.where(misses, FAIL, OPEN))


@dataclass(frozen=True, slots=True)
class _Scored:
    """How scores of a true value are drawn, and what reads them; `factor` times its estimate."""

    draws: Mapping[str, Draw]
    estimate: Callable[[FixedRule, Floats], Estimated | Undefined]
    factor: float = 1.0


def _spearman(rule: FixedRule, scores: Floats) -> Estimated | Undefined:
    found = spearman_pairs(scores, list(rule.laid.pairs), clusters=rule.laid.clusters)
    return found if isinstance(found, Undefined) else found.estimate


def _icc(rule: FixedRule, scores: Floats) -> Estimated | Undefined:
    found = icc(scores, "one-way", rule.laid.clusters)
    return found if isinstance(found, Undefined) else found.single


def _noise(rule: FixedRule, scores: Floats) -> Estimated | Undefined:
    found = noise(scores, rule.laid.clusters)
    return found if isinstance(found, Undefined) else found.sd


SCORED: Mapping[str, _Scored] = {
    "spearman": _Scored(SCORES, _spearman),
    "icc": _Scored(ICCS, _icc),
    "noise": _Scored(SDS, _noise),
    "repeatability_coefficient": _Scored(SDS, _noise, 1.96 * 2**0.5),
}


def rule_of(gate: Gate, laid: Laid | None, seed: int) -> FixedRule | None:
    """Return the gate as a rule that can be held against instruments; None where it cannot.

    Shares are those of pairs of readings of one item that agree as a whole or pair by pair.
    """
    if laid is None or not len(laid.units) or not laid.pairs:
        return None
    if gate.statistic in SCORED:
        other = plain(gate.params).get("form", "one-way") != "one-way"
        return None if other else FixedRule(gate, laid, seed)
    found = statistic(gate.statistic)
    compares = found.kind == "share" and found.needs == {"repeats"} and "windows" in found.over
    return FixedRule(gate, laid, seed) if compares else None


def smallest_units(
    rule: FixedRule,
    healthy: float,
    degraded: float | None,
    instruments: tuple[str, ...] = (EVEN,),
    *,
    wanted: float = HEALTHY_PASSES,
    most: int = MOST_UNITS,
) -> int | None:
    """Return the fewest units at which the executed gate is good enough; None up to `most`.

    Each instrument passes with chance `wanted` where healthy and, where `degraded` is given, with
    at most .1 there, at that size and at 2, 5 and 10 % more.
    """
    scored = rule.gate.statistic in SCORED
    runs = SCORE_RUNS // 2 if scored else SEARCH_RUNS

    def good(units: int) -> bool:
        for more in STEPS[:1] if scored else STEPS:
            larger = rule.at(round(units * more))
            for name in instruments:
                if larger.weigh(name, healthy, runs).chances.passes < wanted:
                    return False
                if degraded is None:
                    continue
                if larger.weigh(name, degraded, runs).chances.passes > DEGRADED_PASSES:
                    return False
        return True

    return smallest(good, most, start=2)
