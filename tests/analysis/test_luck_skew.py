"""The widening for skew and pools with gaps: by hand, and where it does nothing."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.analysis.luck.pool import by_world, pooled, with_pseudo_worlds
from judgeaudit.analysis.luck.skew import further_out, skewed_t, skewness
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.paired import pseudo_world_t


def test_skewness_is_scipys():
    values = np.array([1.0, 0, 0, 0, 0, 2, -1])

    assert skewness(values) == pytest.approx(stats.skew(values))
    assert skewness(np.zeros(5)) == 0.0


def test_only_the_side_of_the_skew_moves():
    """gamma 3, n = 256, 90 %: 3 (2 x 2.705543 + 1)/96 = .200346; mirrored on the other side."""
    assert further_out(3.0, 256, 0.9) == (0.0, pytest.approx(0.200346, abs=1e-6))
    assert further_out(-3.0, 256, 0.9) == (pytest.approx(0.200346, abs=1e-6), 0.0)
    assert further_out(0.0, 256, 0.9) == (0.0, 0.0)


def test_a_symmetric_contrast_keeps_its_t_interval():
    values = np.resize([1.0, -1.0, 0.0, 0.0], 64)

    value, found = skewed_t(values)
    plain = pseudo_world_t(values)[1]
    assert value == 0
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert skewed_t(np.array([1.0])) == Undefined("needs >= 2 worlds")


def test_pseudo_worlds_from_mean_and_error_equal_those_from_the_values(rng):
    """The closed form against the values themselves with +1 and -1 appended."""
    values = rng.normal(0.1, 0.4, 50)
    used = np.append(values, [1.0, -1.0])
    centre, se = with_pseudo_worlds(values.mean(), values.std(ddof=1) / np.sqrt(50), 50)

    assert centre == pytest.approx(used.mean())
    assert se == pytest.approx(used.std(ddof=1) / np.sqrt(52))


def test_one_row_pools_to_itself(rng):
    values = rng.choice([0.0, 1.0], 64, p=[0.7, 0.3])

    assert pooled(values[None], "these").interval.low == pytest.approx(skewed_t(values)[1].low)
    assert pooled(values[None], "these").interval.high == pytest.approx(skewed_t(values)[1].high)


def test_what_a_world_contributes_averages_to_the_mean_of_the_endpoints_means():
    """Endpoints (1, 0, nan) and (0, nan, 1): means 1/2 each, whatever worlds they have."""
    d = np.array([[1.0, 0.0, np.nan], [0.0, np.nan, 1.0]])

    assert by_world(d).mean() == pytest.approx(0.5)
    assert pooled(d, "these").value == pytest.approx(0.5)
    assert by_world(np.array([[1.0, 0.0], [0.0, 0.0]])).tolist() == pytest.approx([0.5, 0.0])


def test_plain_t_misses_above_and_the_widened_one_does_not():
    """One event in ten worlds, 256 worlds, 4,000 studies; the error of a rate at 5 % is .0034."""
    rng = np.random.default_rng(3)
    misses = np.zeros(2)
    for _ in range(4000):
        values = (rng.random(256) < 0.1).astype(float)
        ends = [f(values, 0.9)[1].high for f in (pseudo_world_t, skewed_t)]
        misses += np.array(ends) < 0.1

    assert misses[0] / 4000 > 0.06
    assert misses[1] / 4000 <= 0.05 + 3 * 0.0034
