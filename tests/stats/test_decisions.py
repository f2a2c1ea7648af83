"""Decision effects: closed forms against simulation, small cases by hand."""

import numpy as np
import pytest

from judgeaudit.errors import InputError
from judgeaudit.stats.decisions import (
    advantage_sign_flip,
    best_of_n,
    binary_advantage,
    funnel,
    leaderboard,
    majority_error,
    order_flip,
    order_flip_interval,
    order_noise,
    reliability,
    retest_flip,
)
from judgeaudit.stats.interval import Interval, Undefined


@pytest.mark.parametrize("group", [4, 8, 16])
def test_advantage_signs_flip_as_the_arc_cosine_says_for_any_group_size(group):
    """s_w/s_t = .6: rho = 1/1.36, .2369 between passes and .1729 against the truth."""
    rng = np.random.default_rng(group)
    truth = rng.normal(size=(20_000, group))
    first, second = (truth + 0.6 * rng.normal(size=truth.shape) for _ in range(2))
    signs = [np.sign(x - x.mean(axis=1, keepdims=True)) for x in (first, second, truth)]
    rho = reliability(1.0, 0.36)

    assert np.mean(signs[0] != signs[1]) == pytest.approx(advantage_sign_flip(rho), abs=0.006)
    assert np.mean(signs[0] != signs[2]) == pytest.approx(
        advantage_sign_flip(rho, against_truth=True), abs=0.006
    )
    assert advantage_sign_flip(rho) == pytest.approx(0.2370, abs=1e-4)
    assert advantage_sign_flip(rho, against_truth=True) == pytest.approx(0.1720, abs=1e-4)


def test_advantage_without_signal_is_a_coin_and_without_noise_is_certain():
    assert advantage_sign_flip(0.0) == 0.5
    assert advantage_sign_flip(1.0) == 0.0


@pytest.mark.parametrize(
    ("flip", "signs", "spurious"), [(0.02, 0.13, 0.15), (0.05, 0.26, 0.34), (0.1, 0.36, 0.57)]
)
def test_binary_rewards_at_group_eight(flip, signs, spurious):
    found = binary_advantage(flip, rng=np.random.default_rng(1))

    assert found == pytest.approx((signs, spurious), abs=0.012)
    # All eight rewards right: (1 - f)^8.
    assert found[1] == pytest.approx(1 - (1 - flip) ** 8 - flip**8, abs=0.02)


def test_best_of_n_by_hand():
    """Passes pick candidate 0, candidate 0 and a tie: overlaps 1, 1/2, 1/2, so changes 1/3."""
    found = best_of_n([[[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]]])

    assert found.changes == pytest.approx(1 / 3)
    # Held-out means of candidate 0: 1.5, 1.5, 2; of candidate 1: 1. Picks are worth 1.5, 1.5
    # and (2 + 1)/2; the largest mean over all passes is 5/3.
    assert found.regret_high == pytest.approx(5 / 3 - 1.5)


def test_best_of_n_needs_two_passes():
    assert best_of_n(np.ones((3, 4, 1))) == Undefined("needs >= 2 passes")


@pytest.mark.parametrize(
    ("candidates", "changes", "regret"), [(4, 0.40, 0.15), (8, 0.52, 0.20), (16, 0.60, 0.25)]
)
def test_best_of_n_of_normal_scores(candidates, changes, regret):
    """s_w/s_t = .6; the planted regret lies between the two identified ends."""
    rng = np.random.default_rng(candidates)
    truth = rng.normal(size=(4000, candidates))
    found = best_of_n(truth[:, :, None] + 0.6 * rng.normal(size=(4000, candidates, 5)))

    assert found.changes == pytest.approx(changes, abs=0.02)
    assert found.regret_low < regret < found.regret_high


def test_retest_flip_is_unbiased_for_the_mean_of_2p_1_minus_p():
    """p ~ Beta(1, 3): E 2p(1 - p) = 3/10, from E p = 1/4 and E p² = 1/10."""
    rng = np.random.default_rng(3)
    p = rng.beta(1, 3, size=(40_000, 1))
    value, items = retest_flip((rng.random((40_000, 3)) < p).astype(int))

    assert value == pytest.approx(0.3, abs=0.008)
    assert set(np.round(items, 9)) == {0.0, round(2 / 3, 9)}


def test_retest_flip_by_hand_and_its_limits():
    """1 1 0 flips in 2 of 3 pairs, 1 1 1 in none."""
    assert retest_flip([[1, 1, 0], [1, 1, 1]])[0] == pytest.approx(1 / 3)
    assert isinstance(retest_flip([[1], [0]]), Undefined)
    with pytest.raises(InputError, match="0 and 1"):
        retest_flip([[0.5, 1]])


def test_majority_error_is_only_bracketed_by_the_flip_rate():
    """Rare flips p = .01 give .01 at flip .0198; coins in a fifth of items give .1 at flip .1."""
    low, high = majority_error(2 * 0.01 * 0.99)
    assert low <= 0.01 <= high
    assert majority_error(0.1)[1] == pytest.approx(0.2 * 0.5)


def test_order_flips_as_two_independent_passes_do():
    """n = 50, s_w = .6, gap .1: tau = .12, 2 Phi(.833) Phi(-.833) = .3229."""
    rng = np.random.default_rng(4)
    passes = [0.1 + 0.6 * np.sqrt(2 / 50) * rng.normal(size=50_000) for _ in range(2)]
    tau = order_noise(0.6, 50)

    assert order_flip(0.1, tau) == pytest.approx(0.3229, abs=2e-4)
    assert np.mean((passes[0] > 0) != (passes[1] > 0)) == pytest.approx(0.3229, abs=0.008)


def test_interval_of_an_order_flip_maps_both_ends_of_the_gap():
    mapped = order_flip_interval(Interval(0.05, 0.2, 0.95, "t"), 0.12)
    across = order_flip_interval(Interval(-0.3, 0.2, 0.95, "t"), 0.12)

    assert mapped.low == pytest.approx(order_flip(0.2, 0.12))
    assert mapped.high == pytest.approx(order_flip(0.05, 0.12))
    assert across.high == 0.5
    assert across.low == pytest.approx(order_flip(0.3, 0.12))


def test_without_noise_only_equal_systems_change_order():
    assert order_flip(0.1, 0.0) == 0.0
    assert order_flip(0.0, 0.0) == 0.5


def test_leaderboard_of_a_silent_judge_never_changes():
    y = np.repeat(np.array([[1.0, 2.0], [2.0, 3.0], [0.0, 1.0]])[:, :, None], 3, axis=2)
    found = leaderboard(y, rng=np.random.default_rng(5), draws=50)

    assert (found.top_changes, found.tau) == (0.0, 1.0)
    assert not found.pair_flips.any()


def test_leaderboard_flip_of_two_systems_is_near_its_closed_form():
    """Systems .05 apart on 100 items, s_w = .5: over 30 leaderboards against the formula."""
    rng = np.random.default_rng(6)
    rates = []
    for _ in range(30):
        gap = np.array([0.05, 0.0])[:, None, None]
        y = gap + 0.5 * rng.normal(size=(2, 100, 8))
        rates.append(leaderboard(y, rng=rng, draws=200).pair_flips[0, 1])

    assert np.mean(rates) == pytest.approx(order_flip(0.05, order_noise(0.5, 100)), abs=0.07)


def test_leaderboard_needs_two_repeats():
    assert isinstance(leaderboard(np.ones((2, 5, 1)), rng=np.random.default_rng(1)), Undefined)


def test_funnel_shares_are_of_all_and_of_the_stage_before():
    found = funnel({"asked": 100, "answered": 90, "parsed": 45})

    assert found.of_all == pytest.approx((1.0, 0.9, 0.45))
    assert found.of_previous == pytest.approx((1.0, 0.9, 0.5))
    with pytest.raises(InputError, match="nested"):
        funnel({"asked": 10, "answered": 11})
