"""Is one tool better than another? Exact Beta posteriors, uniform prior, in rational arithmetic.

After s successes in n runs a tool's rate has the posterior Beta(s + 1, n - s + 1). A world is
decision-irrelevant when the better tool is better with probability of at least the threshold
before the outcome that is shown *and after either outcome of either tool*: then no single outcome
is a reason to change the decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

THRESHOLD = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Record:
    """A tool's runs so far."""

    successes: int
    runs: int

    def after(self, success: bool) -> Record:
        """Return the record with one run more."""
        return Record(self.successes + success, self.runs + 1)


def _beta(a: int, b: int) -> Fraction:
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


@lru_cache(maxsize=4096)
def probability_better(one: Record, other: Record) -> Fraction:
    """Return P(rate of `one` > rate of `other`), exactly.

    With rates Beta(a, b) and Beta(c, d) of whole parameters it is
    sum over i < a of B(c + i, b + d) / ((b + i) B(1 + i, b) B(c, d)) (Miller 2014).
    """
    a, b = one.successes + 1, one.runs - one.successes + 1
    c, d = other.successes + 1, other.runs - other.successes + 1
    total = sum(
        (_beta(c + i, b + d) / ((b + i) * _beta(1 + i, b)) for i in range(a)), start=Fraction(0)
    )
    return total / _beta(c, d)


def posteriors(better: Record, worse: Record) -> dict[str, Fraction]:
    """Return the probability that the better tool is better, before and after each outcome."""
    return {
        "before": probability_better(better, worse),
        "better_failed": probability_better(better.after(False), worse),
        "better_succeeded": probability_better(better.after(True), worse),
        "worse_failed": probability_better(better, worse.after(False)),
        "worse_succeeded": probability_better(better, worse.after(True)),
    }


def after_shown(better: Record, worse: Record, shown: Mapping[str, Sequence[int]]) -> Fraction:
    """Return P(better) after what a case shows: [successes, runs] beyond the log, by role."""
    (s, n), (t, m) = (shown.get(role, (0, 0)) for role in ("better", "worse"))
    return probability_better(
        Record(better.successes + s, better.runs + n), Record(worse.successes + t, worse.runs + m)
    )


def shown_irrelevant(
    better: Record, worse: Record, shown: Mapping[str, Sequence[int]], threshold: Fraction
) -> bool:
    """Tell whether what a case shows gives no reason to leave the better tool."""
    return after_shown(better, worse, shown) >= threshold


def decision_irrelevant(better: Record, worse: Record, threshold: Fraction = THRESHOLD) -> bool:
    """Tell whether no single outcome gives a reason to leave the better tool."""
    return min(posteriors(better, worse).values()) >= threshold
