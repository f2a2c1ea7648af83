"""Equal scores, majorities, and what chance does to a rule on days."""

import numpy as np
import pytest

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.majority import majority_bounds
from judgeaudit.stats.spread import chance_by_dealing, chance_by_simulation, day_spread
from judgeaudit.stats.ties import settle


def test_scores_that_differ_by_rounding_are_one_score():
    found = settle(np.array([[0.3, 0.1 + 0.2], [0.5, np.nan]]))

    assert found[0, 0] == found[0, 1] == 0.3
    assert np.isnan(found[1, 1])


def test_scores_that_differ_are_left_alone():
    """1e-6 apart on a scale of 5 is a difference; the same object comes back."""
    y = np.array([5.0, 5.000001, 0.0])

    assert settle(y) is y
    assert settle(np.array([np.nan])).size == 1


def test_two_categories_bound_the_majority_between_its_root_and_the_flip_rate():
    """p = .9: flips 2 * .9 * .1 = .18, and one reading in ten is unlike the majority."""
    low, high = majority_bounds(0.18, 2)

    assert low == pytest.approx(0.1)
    assert high == 0.18


@pytest.mark.parametrize("p", [(0.4, 0.15, 0.15, 0.15, 0.15), (0.2,) * 5, (0.5, 0.5, 0, 0, 0)])
def test_five_categories_are_bounded_beyond_one_half(p):
    """For p itself: flips 1 - sum p^2, and 1 - max p lies within the bounds of five categories."""
    low, high = majority_bounds(1 - sum(x * x for x in p), 5)

    assert low - 1e-12 <= 1 - max(p) <= high + 1e-12
    if p[1:] == (p[1],) * 4:
        assert 1 - max(p) == pytest.approx(low)


def test_spread_of_days_by_hand():
    """Day 0 has windows 0, 1 (agreement .9), day 1 windows 2, 3 (.8); day 2 has no pair."""
    agreement = np.full((5, 5), 0.5)
    agreement[0, 1], agreement[2, 3] = 0.9, 0.8
    days = np.array([0, 0, 1, 1, 2])

    assert day_spread(agreement, days) == pytest.approx(0.1)
    assert np.isnan(day_spread(agreement, np.arange(5)))


def test_chance_by_dealing_counts_the_deals():
    """Windows 0, 1 agree in .9, all else in .5: of three deals of four windows, one pairs them.

    Its spread is .4 and that of the others 0, so a limit of .1 is passed in a third.
    """
    agreement = np.full((4, 4), 0.5)
    agreement[0, 1] = agreement[1, 0] = 0.9
    days = np.array([0, 0, 1, 1])
    rng = np.random.default_rng(1)

    assert chance_by_dealing(agreement, days, 0.1, rng=rng) == pytest.approx(1 / 3, abs=0.04)
    assert isinstance(chance_by_dealing(agreement, np.arange(4), 0.1, rng=rng), Undefined)


def test_a_judge_that_never_flips_has_no_spread_and_a_noisy_one_always_some():
    rng = np.random.default_rng(2)

    assert chance_by_simulation(1.0, 50, 5, 5, 0.0, rng=rng, studies=20) == 0
    assert chance_by_simulation(0.8, 50, 5, 5, 0.0, rng=rng, studies=50) == 1


def test_the_rule_of_three_hundredths_fires_on_one_constant_noise():
    """case S14: 100 items, five days of five windows, equal readings .8, limit .03."""
    found = chance_by_simulation(0.8, 100, 5, 5, 0.03, rng=np.random.default_rng(3))

    assert found > 0.7
