"""Shares: published tables, identities of the beta distribution, and coverage under clustering."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.proportions import (
    clopper_pearson,
    effective_n,
    jeffreys_se,
    share_of_clusters,
    wilson,
)


@pytest.mark.parametrize(
    ("share", "n", "successes", "low", "high"),
    [
        (0.7604, 96, 73, 0.6661, 0.8347),
        (0.7914, 556, 440, 0.7556, 0.8231),
        (0.8069, 932, 752, 0.7803, 0.8309),
        (0.9860, 1068, 1053, 0.9770, 0.9915),
        (0.9020, 408, 368, 0.8692, 0.9272),
    ],
)
def test_wilson_reproduces_the_published_separation_by_error_size(share, n, successes, low, high):
    """The counts are the only whole numbers that round to the published share to 4 decimals."""
    fitting = [s for s in range(n + 1) if round(s / n, 4) == share]
    found = wilson(successes, n)

    assert fitting == [successes]
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_wilson_ends_solve_the_score_equation():
    """(p - P)² = z² P(1 - P)/n at both ends, by definition of the score interval."""
    z = stats.norm.ppf(0.975)
    found = wilson(7, 30)
    for end in (found.low, found.high):
        assert (7 / 30 - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / 30)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (10, 10), (78, 100), (2.5, 17.3)])
def test_clopper_pearson_ends_leave_half_alpha_in_each_binomial_tail(successes, n):
    """P(X >= s | low) = P(X <= s | high) = .025, with the binomial tail as a beta integral."""
    found = clopper_pearson(successes, n)

    if successes > 0:
        tail = stats.beta.cdf(found.low, successes, n - successes + 1)
        assert tail == pytest.approx(0.025)
    else:
        assert found.low == 0
    if successes < n:
        assert stats.beta.sf(found.high, successes + 1, n - successes) == pytest.approx(0.025)
    else:
        assert found.high == 1


def test_clopper_pearson_equals_scipy_for_whole_numbers():
    oracle = stats.binomtest(3, 40).proportion_ci(0.9, method="exact")
    found = clopper_pearson(3, 40, 0.9)

    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))


def test_no_event_in_59_bounds_the_share_below_5_percent():
    """1 - .05^(1/59) = .04951, and 58 items are not enough: .05034."""
    assert clopper_pearson(0, 59, 0.9).high == pytest.approx(1 - 0.05 ** (1 / 59))
    assert clopper_pearson(0, 59, 0.9).high < 0.05 < clopper_pearson(0, 58, 0.9).high
    assert clopper_pearson(59, 59, 0.9).low == pytest.approx(0.05 ** (1 / 59))


def test_jeffreys_standard_errors_are_the_seven_published_ones():
    draws = (8, 16, 32, 64, 100, 200, 500)
    published = [0.157, 0.118, 0.086, 0.062, 0.050, 0.035, 0.022]

    assert [round(jeffreys_se(m), 3) for m in draws] == published


def test_jeffreys_se_is_the_spread_of_the_point_over_draws():
    """Exact: the point is (m + 1/2)/(M + 1) with m ~ Binomial(8, .5)."""
    m = np.arange(9)
    points, chances = (m + 0.5) / 9, stats.binom.pmf(m, 8, 0.5)
    variance = (chances * points**2).sum() - (chances * points).sum() ** 2

    assert jeffreys_se(8) == pytest.approx(np.sqrt(variance))


def test_effective_n_is_the_binomial_variance_over_the_variance_and_held_in_range():
    """.1 * .9/.0009 = 100; twice the spread of the mean leaves a quarter of the draws."""
    assert effective_n(0.1, 0.0009, 50, 200) == pytest.approx(100)
    assert effective_n(0.1, 0.0036, 10, 200) == pytest.approx(25)
    assert effective_n(0.1, 1e-9, 50, 200) == 200
    assert effective_n(0.1, 0.0, 50, 200) == 50
    assert effective_n(0.0, 0.0, 50, 200) == 50


def test_clusters_without_an_event_count_as_one_draw_each():
    """Zero of 40 x 10: the bound is that of 40 draws, with t(399)/t(39) for few clusters."""
    share, found = share_of_clusters(np.zeros(40), np.full(40, 10))
    draws = 40 * (stats.t.ppf(0.975, 399) / stats.t.ppf(0.975, 39)) ** 2

    assert (share, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / draws))


def test_counts_a_cluster_and_values_an_item_give_one_interval():
    """The same data through `effective_proportion`, unequal clusters."""
    sizes, rng = np.array([3, 9, 5, 8, 4, 7]), np.random.default_rng(2)
    values = (rng.random(36) < 0.4).astype(float)
    names = np.repeat(np.arange(6), sizes)
    counts = np.bincount(names, values)
    other = effective_proportion(values, None, names).interval()
    _, found = share_of_clusters(counts, sizes)

    assert (found.low, found.high) == pytest.approx((other.low, other.high))


def test_clusters_without_correlation_keep_nearly_all_draws():
    """Fifty clusters whose shares are as spread as binomial: close to plain Clopper-Pearson."""
    rng = np.random.default_rng(3)
    sizes = np.full(200, 10)
    counts = rng.binomial(sizes, 0.3)
    share, found = share_of_clusters(counts, sizes)
    plain = clopper_pearson(counts.sum(), 2000)

    assert share == pytest.approx(counts.sum() / 2000)
    assert (found.high - found.low) == pytest.approx(plain.high - plain.low, rel=0.15)


def test_clusters_that_agree_within_count_once_each():
    """Forty clusters of 5 identical draws carry 40 draws' worth, up to the t factor."""
    counts = np.repeat([5, 0], [28, 12])
    _, found = share_of_clusters(counts, np.full(40, 5))
    once = clopper_pearson(28, 40)

    assert found.low == pytest.approx(once.low, abs=0.01)
    assert found.high == pytest.approx(once.high, abs=0.01)


def test_one_cluster_says_nothing_of_others():
    assert share_of_clusters([3], [5]) == Undefined("needs >= 2 clusters")


def test_clustered_interval_covers_where_the_plain_one_does_not():
    """25 tasks of 30 draws, task shares Beta(6, 1.5): truth .8, intraclass correlation .12."""
    rng = np.random.default_rng(11)
    covered = plain = 0
    for _ in range(400):
        counts = rng.binomial(30, rng.beta(6, 1.5, size=25))
        _, found = share_of_clusters(counts, np.full(25, 30))
        ordinary = clopper_pearson(counts.sum(), 750)
        covered += found.low <= 0.8 <= found.high
        plain += ordinary.low <= 0.8 <= ordinary.high

    assert covered / 400 >= 0.92
    assert plain / 400 < 0.75


@pytest.mark.parametrize(("successes", "n"), [(5, 4), (-1, 4), (0, 0), (1, float("nan"))])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(InputError, match="0 <= successes <= n"):
        clopper_pearson(successes, n)
    with pytest.raises(InputError, match="0 <= successes <= n"):
        wilson(successes, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_outside_zero_and_one_is_refused(level):
    with pytest.raises(InputError, match="level between 0 and 1"):
        wilson(1, 2, level)
