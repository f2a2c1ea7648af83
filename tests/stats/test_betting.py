"""The betting gate on means of units: numbers by hand, the null held, bursts covered."""

import math

import numpy as np
import pytest

from judgeaudit.errors import InputError
from judgeaudit.stats.betting import (
    fewest_units,
    log_e_above,
    log_e_below,
    mean_bounds,
    stop_mean_gates,
)


@pytest.mark.parametrize(("threshold", "units"), [(0.10, 29), (0.05, 59), (0.20, 14)])
def test_the_fewest_units_without_a_flip(threshold, units):
    """ln 20 / -ln .9 = 28.4; ln 20 / -ln .95 = 58.4; ln 20 / -ln .8 = 13.4."""
    assert fewest_units(threshold) == units
    stops = stop_mean_gates(np.zeros((1, 100)), np.zeros((1, 100)), threshold)
    assert stops.outcome.tolist() == [1]
    assert stops.items.tolist() == [units]


def test_the_first_stakes_by_hand():
    """T = .1: m = .025, v = .002, (T - m)/(v + (T - m)^2) = 9.8 is above .99/.9 = 1.1.

    A unit without a flip: log(1 + 1.1 * .1) = log 1.11. Then a unit with all flips: the stake is
    (.1 - .0125)/(.001078 + .00766) = 10.0, again 1.1: log(1.11) + log(1 - 1.1 * .9) = log .0111.
    """
    found = log_e_below([[0.0, 1.0]], 0.1)[0]

    assert found[0] == pytest.approx(math.log(1.11))
    assert found[1] == pytest.approx(math.log(1.11 * 0.01))


def test_evidence_above_is_evidence_below_of_the_complement():
    values = np.array([[0.2, 0.0, 0.5, 0.9]])

    assert log_e_above(values, 0.3) == pytest.approx(log_e_below(1 - values, 0.7))


def test_a_unit_that_says_nothing_changes_nothing():
    told = log_e_below([[0.1, np.nan, 0.2]], 0.3)[0]
    without = log_e_below([[0.1, 0.2]], 0.3)[0]

    assert told[1] == told[0]
    assert told[2] == pytest.approx(without[1])


@pytest.mark.parametrize("kind", ["even", "bursts", "whole"])
def test_the_null_is_held_however_the_flips_lie_in_a_unit(rng, kind):
    """At the threshold .10, 60 units of 20: both errors at most .05 and 3 Monte Carlo errors."""
    runs = 3000
    if kind == "even":
        x = rng.binomial(20, 0.1, (runs, 60)) / 20
    elif kind == "bursts":
        x = np.where(rng.random((runs, 60)) < 0.2, rng.binomial(20, 0.5, (runs, 60)) / 20, 0.0)
    else:
        x = (rng.random((runs, 60)) < 0.1).astype(float)

    stops = stop_mean_gates(x, x, 0.1)

    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert stops.rate("pass") <= limit
    assert stops.rate("fail") <= limit


def test_healthy_passes_and_degraded_fails(rng):
    """.02 in bursts (2 units in 50 noisy) of 80 units at .10, and .30 even."""
    healthy = np.where(rng.random((1000, 80)) < 0.04, rng.binomial(20, 0.5, (1000, 80)) / 20, 0.0)
    degraded = rng.binomial(20, 0.3, (1000, 80)) / 20

    assert stop_mean_gates(healthy, healthy, 0.1).rate("pass") > 0.9
    assert stop_mean_gates(degraded, degraded, 0.1).rate("fail") > 0.95


def test_what_cannot_be_read_neither_passes_nor_fails():
    """Units without any valid reply: strict 1, lenient nothing."""
    strict, lenient = np.ones((1, 60)), np.full((1, 60), np.nan)

    assert stop_mean_gates(strict, lenient, 0.1).outcome.tolist() == [0]


def test_the_bounds_hold_what_is_not_rejected():
    """29 units without a flip just reject .10 and no less: the high end is .10."""
    low, high = mean_bounds(np.zeros(29), np.zeros(29), 0.05)

    assert low == 0.0
    assert high == pytest.approx(0.1, abs=0.0011)
    assert mean_bounds(np.full(40, 0.5), np.full(40, 0.5), 0.05)[0] > 0.3


def test_what_is_no_share_is_refused():
    with pytest.raises(InputError, match="outside of 0 to 1"):
        log_e_below([[1.2]], 0.1)
    with pytest.raises(InputError, match="betting"):
        fewest_units(1.0)
