"""The noise floor, by hand and against the ANOVA residual."""

import math

import numpy as np
import pytest

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import (
    detectable_change,
    noise,
    quantisation_floor,
    repeats_for_gap,
)


def test_sd_is_the_root_of_the_mean_variance_by_hand():
    """(1, 3) has variance 2, (4, 4, 4) has 0: s_w = 1; the third item has one score."""
    found = noise(np.array([[1, 3, np.nan], [4, 4, 4], [5, np.nan, np.nan]]))

    assert found.sd.value == pytest.approx(1)
    assert found.repeatability == pytest.approx(1.959964 * math.sqrt(2), abs=1e-5)
    assert (found.items, found.single) == (2, 1)


def test_jackknife_of_the_log_variance_equals_deleting_by_hand(rng):
    y = rng.normal(size=(30, 4)) * rng.uniform(0.2, 2, size=(30, 1))
    logs = np.log([np.delete(y, i, 0).var(axis=1, ddof=1).mean() for i in range(30)])
    se = np.sqrt(29 / 30 * ((logs - logs.mean()) ** 2).sum())

    found = noise(y).sd

    assert found.se == pytest.approx(se)
    assert found.interval().low == pytest.approx(
        found.value * math.exp(-2.045230 * se / 2), rel=1e-6
    )


def test_a_judge_that_never_varied_gets_zero_a_bound_and_no_interval():
    found = noise(np.repeat(np.arange(59.0)[:, None], 2, axis=1))

    assert found.sd.value == 0
    assert found.sd.interval() == Undefined("no item varied")
    assert found.agreement_bound.high < 0.05


def test_one_repeat_is_undefined():
    assert noise(np.ones((5, 1))) == Undefined("needs >= 2 repeats")


def test_detectable_change_shrinks_with_the_root_of_the_repeats():
    assert detectable_change(1, 4) == pytest.approx(detectable_change(1) / 2)


def test_repeats_for_a_gap_equal_to_the_noise():
    """2 (1.96 + .8416)^2 = 15.7, hence 16."""
    assert repeats_for_gap(1, 1) == 16


@pytest.mark.parametrize("gap", [0, 1e-7])
def test_a_gap_far_below_the_noise_is_unresolvable_and_no_number_to_buy(gap):
    found = repeats_for_gap(1, gap)

    assert isinstance(found, Undefined)
    assert found.reason.startswith("unresolvable")


def test_rounding_without_dither_leaves_half_a_step():
    assert quantisation_floor(0.2, 1) == 0.5
    assert quantisation_floor(0.4, 1) == 0


def test_a_gap_that_no_number_of_repeats_resolves_is_told_and_does_not_overflow():
    """(.5 / 1e-300) squared is beyond any float."""
    found = repeats_for_gap(0.5, 1e-300)

    assert isinstance(found, Undefined)
    assert "unresolvable" in found.reason
