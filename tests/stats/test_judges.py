"""Two judges, or a judge and gold: bias, limits, calibration."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.judges import bland_altman, calibration, slope_of


def test_bias_and_limits_by_hand():
    """Differences 1, 2, 3, each five times: mean 2, SD sqrt(10/14), limits 2 -/+ 1.96 SD."""
    second = np.arange(15.0)
    found = bland_altman(second + np.tile([1.0, 2, 3], 5), second)
    sd = np.sqrt(10 / 14)

    assert found.bias.value == pytest.approx(2)
    assert (found.low, found.high) == pytest.approx((2 - 1.959964 * sd, 2 + 1.959964 * sd))
    half = stats.t.ppf(0.975, 14) * sd * np.sqrt(1 / 15 + 1.959964**2 / 28)
    assert found.high_interval.high == pytest.approx(found.high + half)


def test_a_judge_that_spreads_wider_has_a_proportional_bias(rng):
    """x = 1.5 y: the difference is .5 y, the mean 1.25 y, so the slope is .4."""
    y = rng.normal(size=80)
    found = bland_altman(1.5 * y + 0.01 * rng.normal(size=80), y)

    assert found.slope.value == pytest.approx(0.4, abs=0.01)
    assert found.slope.interval().low > 0


def test_two_judges_with_equal_spread_have_none(rng):
    theta = rng.normal(size=200)
    found = bland_altman(*(theta + 0.3 * rng.normal(size=200) for _ in range(2)))

    assert found.slope.interval().low < 0 < found.slope.interval().high


def test_calibration_is_least_squares_on_gold(rng):
    gold = rng.normal(size=60)
    judge = 1 + 0.7 * gold + 0.2 * rng.normal(size=60)
    known = stats.linregress(gold, judge)
    found = calibration(judge, gold)

    assert (found.slope.value, found.intercept.value) == pytest.approx(
        (known.slope, known.intercept)
    )
    assert found.slope.se == pytest.approx(known.stderr, rel=0.25)
    assert found.residual_sd == pytest.approx(0.2, abs=0.05)


def test_tasks_widen_every_interval(rng):
    tasks = np.repeat(np.arange(12), 10)
    y = rng.normal(size=120)
    x = y + 0.5 * rng.normal(size=12)[tasks] + 0.1 * rng.normal(size=120)
    one, other = bland_altman(x, y, tasks), bland_altman(x, y)

    assert one.bias.se > 2 * other.bias.se
    width = [f.low_interval.high - f.low_interval.low for f in (one, other)]
    assert width[0] > width[1]
    assert one.sd.n == 12


def test_items_that_one_lacks_are_left_out(rng):
    x, y = rng.normal(size=30), rng.normal(size=30)
    x[:5] = np.nan

    assert bland_altman(x, y).items == 25
    assert isinstance(bland_altman(x[:7], y[:7]), Undefined)


def test_what_does_not_vary_has_no_slope():
    assert isinstance(slope_of(np.arange(20.0), np.ones(20)), Undefined)
    assert calibration(np.arange(20.0), np.ones(20)) == Undefined("gold does not vary")
