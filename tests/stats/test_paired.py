"""Paired differences against brute force, published examples and enumerated tables."""

import numpy as np
import pytest
from scipy import optimize, stats

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.paired import (
    mcnemar_midp,
    mover_ends,
    newcombe_ends,
    opposing_correlation,
    pseudo_world_t,
    tango_ends,
)

Z = stats.norm.ppf(0.975)
# Airway hyper-responsiveness before and after transplantation, 21 children: both 1, before
# only 7 -> here second only, as printed by Fagerland, Lydersen & Laake (2014).
AIRWAY = (1, 1, 7, 12)


def score(delta, b, c, n):
    """(b - c - n delta)/sd at the table most likely under p10 - p01 = delta, by search."""

    def minus_log_likelihood(p01):
        p10 = p01 + delta
        rest = 1 - p10 - p01
        cells = ((b, p10), (c, p01), (n - b - c, rest))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in cells if k)

    low, high = max(0.0, -delta), (1 - delta) / 2
    best = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    # A bounded search never returns the end itself, where a zero count puts the maximum.
    best = min((best, low, high), key=minus_log_likelihood)
    return (b - c - n * delta) / np.sqrt(n * (2 * best + delta - delta**2))


@pytest.mark.parametrize(
    ("b", "c", "n"), [(30, 1, 256), (0, 0, 64), (5, 0, 64), (0, 3, 40), (12, 12, 50), (40, 20, 160)]
)
def test_tango_ends_are_where_the_constrained_score_is_the_normal_quantile(b, c, n):
    low, high = tango_ends(b, c, n, Z)

    assert score(float(low), b, c, n) == pytest.approx(Z, abs=1e-4)
    assert score(float(high), b, c, n) == pytest.approx(-Z, abs=1e-4)


@pytest.mark.parametrize("n", [64, 256])
def test_tango_without_events_is_z_squared_over_n_plus_z_squared(n):
    low, high = tango_ends(0, 0, n, Z)

    assert high == pytest.approx(Z**2 / (n + Z**2))
    assert low == pytest.approx(-high)


def test_published_example_of_both_intervals():
    """Fagerland, Lydersen & Laake (2014): Tango -.517 to -.026, Newcombe -.507 to -.026."""
    _, b, c, _ = AIRWAY

    assert np.round(tango_ends(b, c, 21, Z), 3).tolist() == [-0.517, -0.026]
    assert np.round(newcombe_ends(*AIRWAY, Z), 3).tolist() == [-0.507, -0.026]


def test_published_mid_p_value():
    """Fagerland, Lydersen & Laake (2013): .0391, = 2 (P(X <= 1) - P(X = 1)/2), X ~ Bin(8, .5)."""
    assert mcnemar_midp(1, 7) == pytest.approx(2 * (9 / 256 - 4 / 256))
    assert mcnemar_midp(1, 7, "less") == pytest.approx(5 / 256)
    assert mcnemar_midp(7, 1, "greater") == pytest.approx(5 / 256)
    assert mcnemar_midp(0, 0) == 1.0


@pytest.mark.parametrize("which", ["tango", "newcombe"])
def test_swapping_the_two_answers_mirrors_the_interval(which):
    if which == "tango":
        one, other = tango_ends(9, 2, 50, Z), tango_ends(2, 9, 50, Z)
    else:
        one, other = newcombe_ends(4, 9, 2, 35, Z), newcombe_ends(4, 2, 9, 35, Z)

    assert (one[0], one[1]) == pytest.approx((-other[1], -other[0]))


def test_every_pair_discordant_the_same_way_reaches_one():
    low, high = tango_ends(21, 0, 21, Z)

    assert high == pytest.approx(1)
    assert 0 < low < 1


def test_newcombe_without_correlation_is_square_and_add_of_wilson():
    """With ad - bc between 0 and n/2 the corrected phi is 0, so the reaches add in squares."""
    n = 10  # a 4, b 1, c 3, d 2: ad - bc = 5 = n/2
    low, high = newcombe_ends(4, 1, 3, 2, Z)
    p1, p2 = 5 / n, 7 / n

    def ends(p):
        centre, reach = (p + Z**2 / 20), Z * np.sqrt(p * (1 - p) / 10 + Z**2 / 400)
        return (centre - reach) / (1 + Z**2 / 10), (centre + reach) / (1 + Z**2 / 10)

    (l1, u1), (l2, u2) = ends(p1), ends(p2)
    assert low == pytest.approx(p1 - p2 - np.hypot(p1 - l1, u2 - p2))
    assert high == pytest.approx(p1 - p2 + np.hypot(u1 - p1, p2 - l2))


def test_impossible_discordant_counts_are_refused():
    with pytest.raises(InputError, match="b \\+ c <= n"):
        tango_ends(5, 6, 10, Z)


def test_mover_by_hand():
    """d = .3 - .1; low .2 - sqrt(.1² + .05²), high .2 + sqrt(.2² + .02²)."""
    low, high = mover_ends(0.3, (0.2, 0.5), 0.1, (0.08, 0.15))

    assert low == pytest.approx(0.2 - np.sqrt(0.0125))
    assert high == pytest.approx(0.2 + np.sqrt(0.0404))


def test_mover_with_correlation_by_hand():
    """R = -1 adds the reaches themselves: .1 + .05 and .2 + .02; r = 1 takes their difference."""
    apart, alike = (mover_ends(0.3, (0.2, 0.5), 0.1, (0.08, 0.15), r) for r in (-1.0, 1.0))

    assert apart == (pytest.approx(0.05), pytest.approx(0.42))
    assert alike == (pytest.approx(0.15), pytest.approx(0.38))


def test_only_opposing_correlation_is_used():
    """(1, 0, -1) against itself is 1, so 0; against its mirror -1; a constant half says 0."""
    d = [1.0, 0.0, -1.0]

    assert opposing_correlation([d, d, d], [d, d[::-1], [0.0] * 3]) == pytest.approx([0, -1, 0])


def test_pseudo_worlds_enter_only_when_events_are_rare():
    none = pseudo_world_t(np.zeros(64))
    many = pseudo_world_t(np.resize([1.0, -1.0, 0.0, 0.0], 64))

    assert none[0] == 0
    # 66 values, two of them unlike 0: variance 2/65, t with 63 degrees of freedom.
    assert none[1].high == pytest.approx(stats.t.ppf(0.975, 63) * np.sqrt(2 / 65 / 66))
    assert many[1].method == "t over worlds"
    assert pseudo_world_t([1.0]) == Undefined("needs >= 2 worlds")


def cells(rng, n, p1, p2, studies):
    """Counts (a, b, c, d) of `studies` paired tables with independent answers."""
    both, first, second = p1 * p2, p1 * (1 - p2), p2 * (1 - p1)
    return rng.multinomial(n, [both, first, second, 1 - both - first - second], size=studies).T


@pytest.mark.parametrize("n", [64, 256])
def test_tango_covers_and_newcombe_holds_its_lower_tail(n):
    """11.6 % against .4 %: .954 and lower miss .014-.022 were measured in 3,000 studies."""
    a, b, c, d = cells(np.random.default_rng(n), n, 0.116, 0.004, 3000)
    low, high = tango_ends(b, c, n, Z)
    careful, _ = newcombe_ends(a, b, c, d, Z)

    assert np.mean((low <= 0.112) & (high >= 0.112)) >= 0.94
    assert np.mean(careful > 0.112) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 3000)
