"""Decision effects: closed forms against simulation, small cases by hand."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.decisions import (
    advantage_sign_flip,
    best_of_n,
    binary_advantage,
    leaderboard,
)
from judgeaudit.stats.interval import Undefined


@pytest.mark.parametrize("group", [4, 8, 16])
def test_advantage_signs_flip_as_the_arc_cosine_says_for_any_group_size(group):
    """s_w/s_t = .6: rho = 1/1.36, .2369 between passes and .1729 against the truth."""
    rng = np.random.default_rng(group)
    truth = rng.normal(size=(20_000, group))
    first, second = (truth + 0.6 * rng.normal(size=truth.shape) for _ in range(2))
    signs = [np.sign(x - x.mean(axis=1, keepdims=True)) for x in (first, second, truth)]
    rho = 1 / 1.36

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


def test_leaderboard_of_a_silent_judge_never_changes():
    y = np.repeat(np.array([[1.0, 2.0], [2.0, 3.0], [0.0, 1.0]])[:, :, None], 3, axis=2)
    found = leaderboard(y, rng=np.random.default_rng(5), draws=50)

    assert (found.top_changes, found.tau) == (0.0, 1.0)
    assert not found.pair_flips.any()


def test_leaderboard_flip_of_two_systems_is_near_its_closed_form():
    """Systems .05 apart on 100 items, s_w = .5: over 30 leaderboards against 2 p (1 - p)."""
    rng = np.random.default_rng(6)
    rates = []
    for _ in range(30):
        gap = np.array([0.05, 0.0])[:, None, None]
        y = gap + 0.5 * rng.normal(size=(2, 100, 8))
        rates.append(leaderboard(y, rng=rng, draws=200).pair_flips[0, 1])
    up = stats.norm.cdf(0.05 / (0.5 * np.sqrt(2 / 100)))

    assert np.mean(rates) == pytest.approx(2 * up * (1 - up), abs=0.07)


def test_leaderboard_needs_two_repeats():
    assert isinstance(leaderboard(np.ones((2, 5, 1)), rng=np.random.default_rng(1)), Undefined)
