"""Paired differences against brute force, published examples and enumerated tables."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.paired import (
    Pairs,
    interaction,
    mcnemar_midp,
    mover,
    newcombe_ends,
    newcombe_paired,
    opposing_correlation,
    pair_counts,
    paired_bounds,
    pseudo_world_t,
    sign_flip_test,
    tango,
    tango_ends,
    world_interaction,
)

Z = stats.norm.ppf(0.975)
# Airway hyper-responsiveness before and after transplantation, 21 children: both 1, before
# only 7 -> here second only, as printed by Fagerland, Lydersen & Laake (2014).
AIRWAY = Pairs(1, 1, 7, 12)


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
    found = tango(b, c, n)

    assert score(found.low, b, c, n) == pytest.approx(Z, abs=1e-4)
    assert score(found.high, b, c, n) == pytest.approx(-Z, abs=1e-4)


@pytest.mark.parametrize("n", [64, 256])
def test_tango_without_events_is_z_squared_over_n_plus_z_squared(n):
    found = tango(0, 0, n)

    assert found.high == pytest.approx(Z**2 / (n + Z**2))
    assert found.low == pytest.approx(-found.high)


def test_published_example_of_both_intervals():
    """Fagerland, Lydersen & Laake (2014): Tango -.517 to -.026, Newcombe -.507 to -.026."""
    score_interval = tango(AIRWAY.b, AIRWAY.c, AIRWAY.n)
    square_and_add = newcombe_paired(AIRWAY.a, AIRWAY.b, AIRWAY.c, AIRWAY.d)

    assert (round(score_interval.low, 3), round(score_interval.high, 3)) == (-0.517, -0.026)
    assert (round(square_and_add.low, 3), round(square_and_add.high, 3)) == (-0.507, -0.026)


def test_published_mid_p_value():
    """Fagerland, Lydersen & Laake (2013): .0391, = 2 (P(X <= 1) - P(X = 1)/2), X ~ Bin(8, .5)."""
    assert mcnemar_midp(1, 7) == pytest.approx(2 * (9 / 256 - 4 / 256))
    assert mcnemar_midp(1, 7, "less") == pytest.approx(5 / 256)
    assert mcnemar_midp(7, 1, "greater") == pytest.approx(5 / 256)
    assert mcnemar_midp(0, 0) == 1.0


@pytest.mark.parametrize("which", ["tango", "newcombe"])
def test_swapping_the_two_answers_mirrors_the_interval(which):
    if which == "tango":
        one, other = tango(9, 2, 50), tango(2, 9, 50)
    else:
        one, other = newcombe_paired(4, 9, 2, 35), newcombe_paired(4, 2, 9, 35)

    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_every_pair_discordant_the_same_way_reaches_one():
    found = tango(21, 0, 21)

    assert found.high == pytest.approx(1)
    assert 0 < found.low < 1


def test_newcombe_without_correlation_is_square_and_add_of_wilson():
    """With ad - bc between 0 and n/2 the corrected phi is 0, so the reaches add in squares."""
    n = 10  # a 4, b 1, c 3, d 2: ad - bc = 5 = n/2
    found = newcombe_paired(4, 1, 3, 2)
    p1, p2 = 5 / n, 7 / n

    def ends(p):
        centre, reach = (p + Z**2 / 20), Z * np.sqrt(p * (1 - p) / 10 + Z**2 / 400)
        return (centre - reach) / (1 + Z**2 / 10), (centre + reach) / (1 + Z**2 / 10)

    (l1, u1), (l2, u2) = ends(p1), ends(p2)
    assert found.low == pytest.approx(p1 - p2 - np.hypot(p1 - l1, u2 - p2))
    assert found.high == pytest.approx(p1 - p2 + np.hypot(u1 - p1, p2 - l2))


def test_pair_counts_by_hand():
    pairs = pair_counts([1, 1, 0, 0, 1], [1, 0, 1, 0, 0])

    assert pairs == Pairs(1, 2, 1, 1)
    assert pairs.difference == pytest.approx(1 / 5)


@pytest.mark.parametrize("second", [[0, 2], [0, float("nan")], [0, 1, 1]])
def test_answers_other_than_zero_and_one_are_refused(second):
    with pytest.raises(InputError):
        pair_counts([0, 1], second)


def test_impossible_discordant_counts_are_refused():
    with pytest.raises(InputError, match="b \\+ c <= n"):
        tango(5, 6, 10)


def test_mover_by_hand():
    """d = .3 - .1; low .2 - sqrt(.1² + .05²), high .2 + sqrt(.2² + .02²)."""
    first = Interval(0.2, 0.5, 0.95, "one")
    second = Interval(0.08, 0.15, 0.95, "two")
    found = mover(0.3, first, 0.1, second)

    assert found.low == pytest.approx(0.2 - np.sqrt(0.0125))
    assert found.high == pytest.approx(0.2 + np.sqrt(0.0404))
    assert found.method == "MOVER of one and two"


def test_mover_refuses_two_levels():
    with pytest.raises(InputError, match="one level"):
        mover(0, Interval(-1, 1, 0.95, "x"), 0, Interval(-1, 1, 0.9, "x"))


def test_interaction_is_the_difference_of_two_paired_differences():
    value, found = interaction(Pairs(1, 28, 0, 227), Pairs(0, 1, 1, 254))

    assert value == pytest.approx(28 / 256)
    assert found.low < value < found.high
    assert found.method == "MOVER of Tango score"


def test_mover_with_correlation_by_hand():
    """R = -1 adds the reaches themselves: .1 + .05 and .2 + .02; r = 1 takes their difference."""
    first = Interval(0.2, 0.5, 0.95, "one")
    second = Interval(0.08, 0.15, 0.95, "two")
    apart, alike = (mover(0.3, first, 0.1, second, r) for r in (-1.0, 1.0))

    assert (apart.low, apart.high) == pytest.approx((0.05, 0.42))
    assert (alike.low, alike.high) == pytest.approx((0.15, 0.38))


def test_only_opposing_correlation_is_used():
    """(1, 0, -1) against itself is 1, so 0; against its mirror -1; a constant half says 0."""
    d = [1.0, 0.0, -1.0]

    assert opposing_correlation([d, d, d], [d, d[::-1], [0.0] * 3]) == pytest.approx([0, -1, 0])


def test_world_interaction_counts_the_four_columns():
    """Two worlds of eight fail only under the matching lesson, one only under FU."""
    y = np.zeros((8, 4))
    y[:2, 0] = y[5, 1] = 1
    value, found = world_interaction(y)
    expected = interaction(Pairs(0, 2, 1, 5), Pairs(0, 0, 0, 8))

    assert value == pytest.approx(1 / 8)
    assert (value, found) == expected
    with pytest.raises(InputError, match="4 answers"):
        world_interaction(y[:, :3])


def test_interaction_covers_where_worlds_push_the_two_halves_apart():
    """Shared normal part .5 with signs + - - +: taken as independent the halves cover .90."""
    rng = np.random.default_rng(12)
    cut, signs = stats.norm.ppf([0.23, 0.12, 0.13, 0.12]), np.array([1, -1, -1, 1])
    covered = plain = 0
    for _ in range(400):
        latent = np.sqrt(0.5) * (signs * rng.normal(size=(256, 1)) + rng.normal(size=(256, 4)))
        y = (latent < cut).astype(float)
        _, found = world_interaction(y, base="newcombe")
        pairs = [pair_counts(y[:, k], y[:, k + 1]) for k in (0, 2)]
        _, independent = interaction(*pairs, base="newcombe")
        covered += found.low <= 0.1 <= found.high
        plain += independent.low <= 0.1 <= independent.high

    assert covered / 400 >= 0.92
    assert plain < covered


def test_pseudo_worlds_enter_only_when_events_are_rare():
    none = pseudo_world_t(np.zeros(64))
    many = pseudo_world_t(np.resize([1.0, -1.0, 0.0, 0.0], 64))

    assert none[0] == 0
    # 66 values, two of them unlike 0: variance 2/65, t with 63 degrees of freedom.
    assert none[1].high == pytest.approx(stats.t.ppf(0.975, 63) * np.sqrt(2 / 65 / 66))
    assert many[1].method == "t over worlds"
    assert pseudo_world_t([1.0]) == Undefined("needs >= 2 worlds")


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_sign_flip_p_is_the_share_of_sign_patterns_at_least_as_extreme(alternative):
    d = np.array([2, 1, 0, -1, 1, 1, 2, -2])
    sums = np.array([np.dot(s, np.abs(d)) for s in itertools.product((1, -1), repeat=d.size)])
    extreme = {"greater": sums >= 4, "less": sums <= 4, "two-sided": np.abs(sums) >= 4}

    assert sign_flip_test(d, alternative) == pytest.approx(extreme[alternative].mean())


def test_sign_flip_of_fractions_needs_a_generator_and_comes_near_the_exact_share():
    d = np.array([2, 1, -1, 1, 1, 2, -2, 3]) / 2
    with pytest.raises(InputError, match="generator"):
        sign_flip_test(d)

    exact = sign_flip_test(2 * d)
    drawn = sign_flip_test(d, rng=np.random.default_rng(1), draws=20_000)
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_sign_flip_of_nothing_but_zeros_is_no_evidence():
    assert sign_flip_test(np.zeros(10)) == 1.0


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


def test_bounds_are_the_ends_of_the_ninety_percent_newcombe_interval():
    found = newcombe_paired(1, 30, 1, 224, 0.9)

    assert paired_bounds(Pairs(1, 30, 1, 224)) == (found.low, found.high)
