"""Drift and attenuation, on worked numbers and planted shifts."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.attenuation import correct_attenuation
from judgeaudit.stats.drift import equivalence, mean_shift, reliability_change, trend
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.ranks import spearman_between, spearman_within


def window(rng, theta, m=3, noise=0.5, shift=0.0):
    return theta[:, None] + shift + noise * rng.normal(size=(theta.size, m))


def test_mean_shift_equals_scipys_paired_t(rng):
    theta = rng.normal(size=40)
    first, second = window(rng, theta), window(rng, theta, shift=0.2)
    paired = stats.ttest_rel(second.mean(axis=1), first.mean(axis=1)).confidence_interval()

    found = mean_shift(first, second)

    assert (found.interval().low, found.interval().high) == pytest.approx((paired.low, paired.high))


def test_equivalence_is_the_ninety_percent_interval_inside_the_margin(rng):
    theta = rng.normal(size=60)
    shift = mean_shift(window(rng, theta), window(rng, theta))
    found = shift.interval(0.90)
    edge = max(abs(found.low), abs(found.high))

    wide, tight = equivalence(shift, edge * 1.01), equivalence(shift, edge * 0.99)

    assert (wide.holds, tight.holds) == (True, False)
    assert wide.p < 0.05 < tight.p


def test_reliability_change_is_later_less_earlier(rng):
    theta = rng.normal(size=300)
    first, second = window(rng, theta), window(rng, theta, noise=1.5)

    found = reliability_change(first, second)

    earlier, later = spearman_within(first), spearman_within(second)
    assert found.value == pytest.approx(later.estimate.value - earlier.estimate.value)
    assert found.interval().high < 0


def test_trend_of_exact_lines_by_hand():
    """Items rise by 1 or 3 a day over days 0, 1, 2, 4: the common slope is 2."""
    times = np.array([0.0, 1, 2, 4])
    slopes = np.tile([1.0, 3.0], 6)
    y = np.arange(12.0)[:, None] + slopes[:, None] * times

    found = trend(y, times)

    assert found.these_windows.value == pytest.approx(2)
    # slopes 1 and 3 around 2 in 12 items: SE = sqrt(12/11)/sqrt(12)
    assert found.these_windows.se == pytest.approx(np.sqrt(1 / 11))
    assert found.windows_like_these.value == pytest.approx(2)


def test_trend_with_missing_windows_still_compares_items_with_themselves():
    """A high item that leaves half way must not look like a fall."""
    times = np.arange(6.0)
    y = np.repeat(np.arange(12.0)[:, None] * 10, 6, axis=1) + 0.5 * times
    y[6:, 3:] = np.nan

    assert trend(y, times).these_windows.value == pytest.approx(0.5)


def test_trend_needs_four_windows(rng):
    assert trend(rng.normal(size=(20, 3)), np.arange(3.0)) == Undefined("needs >= 4 windows")


def test_correction_recovers_the_correlation_without_noise(rng):
    """Scores of two judges that share theta with r = .8; both reliabilities about .8."""
    theta = rng.normal(size=3_000)
    other = 0.8 * theta + 0.6 * rng.normal(size=3_000)
    x, y = window(rng, theta), window(rng, other)
    parts = (spearman_between(x, y), spearman_within(x), spearman_within(y))

    found = correct_attenuation(*(p.estimate for p in parts), same_window=False)

    truth = 6 / np.pi * np.arcsin(0.8 / 2)
    assert parts[0].estimate.value < 0.68
    assert found.estimate.interval().low < truth < found.estimate.interval().high


def test_correction_is_refused_where_it_would_mislead(rng):
    theta = rng.normal(size=50)
    good = spearman_within(window(rng, theta)).estimate
    poor = spearman_within(rng.normal(size=(50, 2))).estimate

    assert isinstance(correct_attenuation(good, good, good, same_window=True), Undefined)
    assert isinstance(correct_attenuation(good, poor, good, same_window=False), Undefined)


def test_a_value_above_one_is_shown_and_flagged(rng):
    theta = rng.normal(size=200)
    high = spearman_within(window(rng, theta, noise=0.1)).estimate
    low = spearman_within(window(rng, theta, noise=1.0)).estimate

    found = correct_attenuation(high, low, low, same_window=False)

    assert found.above_one
    assert found.estimate.value > 1
