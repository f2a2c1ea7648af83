"""Requirements: each function inverts the decision effect that it names."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from judgeaudit.errors import InputError
from judgeaudit.stats.decisions import (
    advantage_sign_flip,
    binary_advantage,
)
from judgeaudit.stats.requirements import (
    flip_allowed_by_binary_reward,
    flip_allowed_by_filter,
    pick_change,
    reliability_required_by_sign,
    sd_allowed_by_leaderboard,
    sd_allowed_by_pick,
    sd_allowed_by_reliability,
)


@pytest.mark.parametrize("against_truth", [False, True])
@pytest.mark.parametrize("tolerated", [0.01, 0.1, 0.3])
def test_reliability_gives_back_the_tolerated_share_of_sign_flips(tolerated, against_truth):
    rho = reliability_required_by_sign(tolerated, against_truth=against_truth)

    assert advantage_sign_flip(rho, against_truth=against_truth) == pytest.approx(tolerated)


def test_five_percent_sign_flips_ask_for_a_reliability_of_988():
    """cos(pi/20) = .98769, so s_w is at most s_t sqrt(1/.98769 - 1) = .1117 s_t."""
    rho = reliability_required_by_sign(0.05)

    assert rho == pytest.approx(0.98769, abs=1e-5)
    assert sd_allowed_by_reliability(rho, 1.0) == pytest.approx(0.1117, abs=1e-4)
    assert sd_allowed_by_reliability(0.0, 1.0) == math.inf


@pytest.mark.parametrize("tolerated", [0.01, 0.05, 0.4])
def test_leaderboard_sd_gives_back_the_tolerated_share_of_flips(tolerated):
    sd = sd_allowed_by_leaderboard(tolerated, 0.1, 200)

    up = norm.cdf(0.1 / (sd * math.sqrt(2 / 200)))
    assert 2 * up * (1 - up) == pytest.approx(tolerated)


def test_new_items_leave_less_room_for_the_judge_or_none():
    same, new = (sd_allowed_by_leaderboard(0.05, 0.1, 200, item_sd=s) for s in (0.0, 0.5))

    assert new == pytest.approx(math.sqrt(same**2 - 0.5**2 / 2))
    assert sd_allowed_by_leaderboard(0.05, 0.1, 200, item_sd=5.0) == 0.0
    assert sd_allowed_by_leaderboard(0.5, 0.1, 200) == math.inf


def test_filter_allows_the_tolerated_share_itself_and_so_bounds_the_majority_error():
    """min(p, 1 - p) <= 2 p (1 - p) for every p, so .1 flips are at most .1 wrong votes."""
    assert flip_allowed_by_filter(0.1) == 0.1


def test_binary_reward_flip_rate_gives_back_the_tolerated_share():
    """.05 flipped rewards change 26 % of advantage signs, so 26 % allow about .05."""
    flip = flip_allowed_by_binary_reward(0.26, seed=1)
    share, _ = binary_advantage(flip, rng=np.random.default_rng(1))

    assert share == pytest.approx(0.26, abs=0.002)
    assert flip == pytest.approx(0.05, abs=0.003)


@pytest.mark.parametrize(("candidates", "changes"), [(4, 0.40), (8, 0.52), (16, 0.60)])
def test_pick_changes_and_their_inverse(candidates, changes):
    """Measured before at s_w/s_t = .6."""
    assert pick_change(0.6, candidates) == pytest.approx(changes, abs=0.01)
    assert sd_allowed_by_pick(changes, candidates, 2.0) == pytest.approx(1.2, abs=0.06)


def test_a_share_that_pure_chance_keeps_allows_any_noise():
    """Two candidates at random differ in half of the passes."""
    assert sd_allowed_by_pick(0.6, 2, 1.0) == math.inf


@pytest.mark.parametrize("tolerated", [0.0, 1.0, -0.1])
def test_a_tolerated_share_outside_zero_and_one_is_refused(tolerated):
    with pytest.raises(InputError, match="between 0 and 1"):
        reliability_required_by_sign(tolerated)
