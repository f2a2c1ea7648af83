"""Operating characteristics: exact binomials, published passes, and pilots resampled."""

import math

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.operating import (
    capable,
    per_comparison,
)


def let_through(flip, items, pilots=500):
    """Shares of pilots (3 repeats in 2 windows) that the bound and the plug-in rule let through.

    Requirement: flips at most .10. The plan of 263 draws passes a true .05 with .93.
    """
    rng = np.random.default_rng([items, int(100 * flip)])
    p = (1 - math.sqrt(1 - 2 * flip)) / 2
    fewest = next(s for s in range(264) if stats.binom.sf(s - 1, 263, 0.9) <= 0.05)
    bound = plug_in = 0
    for _ in range(pilots):
        ones = rng.binomial(6, p, items)
        found = effective_proportion(ones * (6 - ones) / 15, np.full(items, 15.0))
        bound += capable(found.interval(0.8), 0.10, higher_is_better=False) is True
        plug_in += stats.binom.sf(fewest - 1, 263, 1 - found.value) >= 0.9
    return bound / pilots, plug_in / pilots


@pytest.mark.parametrize("items", [50, 100])
def test_a_pilot_at_the_degraded_boundary_is_let_through_rarely(items):
    bound, _ = let_through(0.10, items)

    assert bound <= 0.10 + 3 * math.sqrt(0.1 * 0.9 / 500)


@pytest.mark.parametrize("items", [50, 100])
def test_an_instrument_twice_as_good_is_refused_rarely_and_more_by_plug_in(items):
    """Refused .14 at 50 items and .01 at 100; plugging the estimate in refuses about .4."""
    bound, plug_in = let_through(0.05, items)

    assert 1 - bound <= 0.15 + 3 * math.sqrt(0.15 * 0.85 / 500)
    assert plug_in < bound - 0.1


def test_a_pilot_without_an_interval_shows_nothing():
    assert capable(Undefined("constant"), 0.1) is None
    assert capable(Interval(0.91, 0.99, 0.8, "x"), 0.9) is True
    assert capable(Interval(0.89, 0.99, 0.8, "x"), 0.9) is None  # too small to tell
    assert capable(Interval(0.80, 0.90, 0.8, "x"), 0.9) is False
    with pytest.raises(InputError, match="interval"):
        capable(Interval(0.91, 0.99, 0.95, "x"), 0.9)


def test_exact_match_of_ten_candidates_asks_much_of_each_pair():
    """.99^(1/45) = .999777; four candidates have six pairs."""
    assert per_comparison(0.99, 10) == pytest.approx(0.999777, abs=1e-6)
    assert per_comparison(0.5, 4) ** 6 == pytest.approx(0.5)


def spearman(x, y):
    return float(stats.spearmanr(x, y)[0])


def pilot(rng, items, windows, sd):
    return rng.normal(size=(items, 1)) + sd * rng.normal(size=(items, windows))
