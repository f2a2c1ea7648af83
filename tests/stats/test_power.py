"""Sample sizes against the tables they come from, closed forms against simulation."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import (
    correlated_answers,
    icc_power,
    items_for_icc,
    worlds_for_margin,
)


def test_icc_power_is_that_of_the_f_bound_on_simulated_normal_scores():
    """ICC .9, bound at .8, 30 items x 3: lower F bound from simulated mean squares."""

    rng = np.random.default_rng(1)
    y = rng.normal(size=(4000, 30, 1)) + np.sqrt(1 / 9) * rng.normal(size=(4000, 30, 3))
    msb, msw = 3 * y.mean(axis=2).var(axis=1, ddof=1), y.var(axis=2, ddof=1).mean(axis=1)
    lower = msb / msw / stats.f.ppf(0.95, 29, 60)

    assert icc_power(0.9, 0.8, 30, 3) == pytest.approx(
        np.mean((lower - 1) / (lower + 2) >= 0.8), abs=0.03
    )


def test_items_for_icc_are_the_fewest():
    n = items_for_icc(0.9, 0.8, 3)

    assert icc_power(0.9, 0.8, n - 1, 3) < 0.8 <= icc_power(0.9, 0.8, n, 3)
    assert isinstance(items_for_icc(0.8, 0.8, 3), Undefined)


def test_an_icc_at_the_threshold_passes_with_chance_alpha():
    assert icc_power(0.8, 0.8, 40, 3) == pytest.approx(0.05)


@pytest.mark.parametrize(("margin", "worlds"), [(0.0, 53), (0.05, 172), (0.08, 645), (0.10, 4590)])
def test_worlds_for_margins(margin, worlds):
    """Effect .112, v about .107, 80 % power at one-sided 5 %; the table rounds z and v."""
    assert worlds_for_margin(0.112, margin, 0.107) == pytest.approx(worlds, rel=0.006, abs=1)


def test_no_number_of_worlds_shows_a_difference_equal_to_its_margin():
    assert isinstance(worlds_for_margin(0.1, 0.1, 0.1), Undefined)


def test_simulated_answers_have_their_chances_and_move_together():
    y = correlated_answers((0.3, 0.1), 50, 400, rng=np.random.default_rng(6), correlation=0.5)

    assert y.mean(axis=(0, 1)) == pytest.approx([0.3, 0.1], abs=0.01)
    assert np.mean(y[..., 0] & y[..., 1]) > 0.3 * 0.1 + 0.02
