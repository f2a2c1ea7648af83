"""Chances of registered gates: exact by the binomial, normal elsewhere."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.proportions import clopper_pearson
from judgeaudit.verdict.oc.instrument import (
    Precision,
    Region,
    grid,
    normal_chances,
    share_chances,
    share_outcomes,
    smallest_units,
    standard_error,
)
from judgeaudit.verdict.worth import effective_draws


@pytest.mark.parametrize(("truth", "passes"), [(0.99, 0.74), (0.98, 0.40), (0.995, 0.91)])
def test_exact_match_of_99_in_100_as_published(truth, passes):
    """FIELD: ">= .99 of 100" passes a true .99 instrument 74 % of the time, .98 40 %, .995 91 %."""
    found = share_chances(truth, 100, Region(low=0.99), "point", 0.05)

    assert round(found.passes, 2) == passes
    assert found.fails == pytest.approx(1 - found.passes)


@pytest.mark.parametrize("rule", ["point", "bound"])
def test_a_share_gate_agrees_with_the_closed_form(rule):
    found = share_chances(0.95, 100, Region(low=0.9), rule, 0.05)
    fewest, most = {"point": (90, 89), "bound": (96, 84)}[rule]
    known = binom.sf(fewest - 1, 100, 0.95), binom.cdf(most, 100, 0.95)

    assert (found.passes, found.fails) == pytest.approx(known)


def test_at_most_is_the_mirror_of_at_least():
    """Flips of at most .1 at a true .05 are agreements of at least .9 at a true .95."""
    flips = share_chances(0.05, 100, Region(high=0.1), "bound", 0.05)
    alike = share_chances(0.95, 100, Region(low=0.9), "bound", 0.05)

    assert (flips.passes, flips.fails) == pytest.approx((alike.passes, alike.fails))


def test_no_number_of_successes_of_100_shows_99_percent():
    """With no failure at all the bound is .05^(1/100) = .9705."""
    passing, failing = share_outcomes(100, Region(low=0.99), "bound", 0.05)

    assert not passing.any()
    assert failing.any()


def test_the_normal_gate_at_its_threshold_passes_with_alpha():
    found = normal_chances("correlation", 0.9, 0.1, Region(low=0.9), "bound", 0.05)

    assert found.passes == pytest.approx(0.05)
    assert found.fails == pytest.approx(0.05)


def test_a_band_is_two_one_sided_tests():
    """Band -.03 to .03, se .01, truth 0: P(|x| < .03 - 1.645 * .01) = 2 Phi(1.355) - 1 = .8246."""
    found = normal_chances("plain", 0.0, 0.01, Region(-0.03, 0.03), "bound", 0.05)

    assert found.passes == pytest.approx(0.8246, abs=2e-4)
    assert found.fails < 1e-5


def test_chances_add_up():
    for kind, truth in (("share", 0.93), ("correlation", 0.93), ("positive", 0.93)):
        size = {"draws": 80} if kind == "share" else {"se": 0.2}
        found = Precision(kind, 80, **size).chances(truth, Region(low=0.9), "bound", 0.05)
        assert found.passes + found.fails + found.inconclusive == pytest.approx(1)


def test_effective_draws_are_read_back_from_an_interval():
    interval = clopper_pearson(0.8 * 37.5, 37.5, 0.8)
    found = Estimate("x", 0.8, low=interval.low, high=interval.high, level=0.8)

    assert effective_draws(found) == pytest.approx(37.5, abs=0.01)
    assert effective_draws(Estimate("x", 0.8)) is None


def test_standard_errors_are_read_back_from_an_interval():
    """atanh .5 -/+ 1.2816 * .1 at level .8."""
    ends = [math.tanh(math.atanh(0.5) + s * 1.2815515655 * 0.1) for s in (-1, 1)]
    found = Estimate("spearman", 0.5, low=ends[0], high=ends[1], level=0.8)

    assert standard_error("correlation", found) == pytest.approx(0.1)


def test_the_fewest_units_discriminate_and_fewer_do_not():
    """264: `operating.smallest_n` gives 263 by its own rule for the saw teeth."""
    plan = Precision("share", 100, draws=100)
    units = smallest_units(plan, Region(low=0.9), "bound", 0.05, 0.95, 0.9)

    assert isinstance(units, int)
    assert 255 <= units <= 270
    assert plan.at(units).chances(0.95, Region(low=0.9), "bound", 0.05).passes >= 0.9
    assert plan.at(200).chances(0.95, Region(low=0.9), "bound", 0.05).passes < 0.9


def test_a_point_gate_with_healthy_at_the_threshold_never_discriminates():
    plan = Precision("share", 100, draws=100)

    found = smallest_units(plan, Region(low=0.99), "point", 0.05, 0.99, 0.98, most=20_000)

    assert isinstance(found, Undefined)


def test_four_times_the_units_halve_the_standard_error():
    assert Precision("positive", 50, se=0.2).at(200).se == pytest.approx(0.1)
    assert Precision("share", 50, draws=75).at(100).draws == pytest.approx(150)


def test_a_grid_stays_in_range():
    points = np.array(grid("share", [0.98, 0.995]))

    assert points.min() >= 0
    assert points.max() <= 1
    assert points.min() < 0.98 < 0.995 < points.max()
