"""Resolution and readings needed: one function and its inverse, by hand and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.facets import run_model
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.resolution import (
    Calibration,
    distance,
    movers,
    needed,
    needed_range,
    resolution,
)
from judgeaudit.stats.sessions import between_runs, between_sessions, within_sessions

# Run means vary by .01, of which .25/100 = .0025 is item noise; six runs.
KNOWN = Calibration(0.01, 0.25, 100, 1, 5, 495, 6)


def table(rng, n, k, sd, noise=0.5):
    return rng.normal(size=(n, 1)) + sd * rng.normal(size=(1, k)) + noise * rng.normal(size=(n, k))


def test_resolution_is_t_times_root_two_times_the_sd_of_run_means():
    """t(.975, 5) = 2.5706, so 2.5706 * sqrt(2 * .01) = .36354."""
    found = resolution(KNOWN)

    assert found.value == pytest.approx(2.570582 * math.sqrt(0.02), rel=1e-6)
    assert found.sized
    assert not found.floor
    # Chi-square interval of the variance: .01 * 5 / 12.8325 and .01 * 5 / .83121.
    ends = [2.570582 * math.sqrt(2 * 0.05 / c) for c in (12.8325, 0.831212)]
    assert (found.interval.low, found.interval.high) == pytest.approx(ends, rel=1e-4)


def test_distance_by_hand():
    """m = 4 runs of r = 2 at power .8: v_run = .0075, v_e/(n m r) = .25/800.

    t(.975, 5) + t(.8, 5) = 2.570582 + .919544; the variance of a difference .0075/4 * 2 + ...
    """
    variance = 2 * (0.0075 / 4 + 0.25 / 800)

    assert distance(KNOWN, 4, 2, power=0.8) == pytest.approx(
        (2.570582 + 0.919544) * math.sqrt(variance), rel=1e-6
    )


def test_item_noise_is_a_floor_and_no_substitute():
    """Equal run means: the floor is t(.975, 495) sqrt(2 * .0025); with it off nothing is left."""
    quiet = Calibration(0.0, 0.25, 100, 1, 5, 495, 6)
    floor = stats.t.ppf(0.975, 495) * math.sqrt(2 * 0.0025)

    assert resolution(quiet).value == pytest.approx(floor)
    assert resolution(quiet).floor
    assert distance(quiet, floor=False) == 0


@pytest.mark.parametrize("gap", [0.05, 0.12, 0.3, 0.6, 2.0])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
def test_needed_is_the_inverse_of_distance(gap, power):
    """The design found tells the gap apart, and no design with fewer calls does."""
    found = needed(KNOWN, gap, power=power)

    assert distance(KNOWN, found.runs, found.readings, power=power) <= gap * (1 + 1e-9)
    for m in range(1, found.calls):
        r = (found.calls - 1) // m
        if r:
            assert distance(KNOWN, m, r, power=power) > gap


def test_more_readings_do_not_buy_what_more_runs_buy():
    """At gap .2 and power .8 the run part alone allows no fewer than 5 runs.

    allowed = (.2/3.490126)^2/2 = .0016419; .0075/.0016419 = 4.57.
    """
    found = needed(KNOWN, 0.2)

    assert found.fewest_runs == 5
    assert distance(KNOWN, 4, 1e9, power=0.8) > 0.2
    assert distance(KNOWN, 5, 1e9, power=0.8) < 0.2


def test_a_difference_that_nothing_resolves():
    assert isinstance(needed(KNOWN, 0.0), Undefined)
    assert "runs would be needed" in needed(KNOWN, 0.001).reason


def test_needed_at_both_ends_of_the_calibration():
    low, high = needed_range(KNOWN, 0.3)

    assert low.calls < needed(KNOWN, 0.3).calls < high.calls


def test_a_power_outside_zero_and_one_is_refused():
    with pytest.raises(InputError, match=r"\(0, 1\)"):
        distance(KNOWN, power=1.0)


def test_two_runs_cannot_size_a_run_effect(rng):
    found = resolution(between_runs(run_model(table(rng, 60, 2, 0.2))))

    assert not found.sized
    assert found.calibration.df == 1


def test_one_run_has_no_resolution(rng):
    model = run_model(table(rng, 60, 1, 0.2))

    assert model.reason == "one run: nothing tells how runs differ"


def test_runs_and_sessions_by_hand():
    """Run means 0, 2 | 4, 6 | ... in five sessions: S_w^2 = 2, session means 1, 5, 9, 13, 17.

    S_b^2 = 40, so 40 + (1 - 1/2) 2 = 41, df = 41^2/(40^2/4 + 1^2/5).
    """
    means = 2.0 * np.arange(10)
    y = np.arange(40.0)[:, None] ** 1.5 + means + np.random.default_rng(1).normal(size=(40, 10))
    y += means - y.mean(axis=0)
    sessions = np.repeat(np.arange(5), 2)

    inside = within_sessions(run_model(y), sessions, "day")
    found = between_sessions(run_model(y), sessions, np.random.default_rng(2), "day")

    assert (inside.total, inside.df) == pytest.approx((2, 5))
    assert inside.comparison == "two runs of one day"
    assert (found.total, found.df) == pytest.approx((41, 41**2 / (1600 / 4 + 1 / 5)))
    assert found.comparison == "two runs of different days"


def test_few_sessions_take_one_run_from_each():
    """Session means hide what a single run varies by: of (0, 10) and (0, 10) each draw has one."""
    y = np.arange(40.0)[:, None] + np.array([0.0, 10, 0, 10])
    y += np.random.default_rng(3).normal(size=y.shape) * 1e-6
    found = {
        round(
            between_sessions(run_model(y), np.array([0, 0, 1, 1]), np.random.default_rng(s)).total
        )
        for s in range(12)
    }

    assert found == {0, 50}


def test_one_session_says_nothing_of_sessions(rng):
    model = run_model(table(rng, 30, 3, 0.1))

    assert isinstance(between_sessions(model, np.zeros(3, int), rng, "window"), Undefined)
    assert isinstance(within_sessions(model, np.arange(3), "window"), Undefined)


def test_movers_have_an_exact_bound():
    """3 of 60 items ever moved; Clopper-Pearson .0104 to .1392."""
    y = np.ones((60, 4))
    y[:3, 1] = 2
    found = movers(y)

    assert (found.moved, found.items, found.few) == (3, 60, True)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.0104, 0.1392), abs=1e-4)
    assert not movers(np.vstack([y[:3]] * 4)).few


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_pairs_of_new_runs_pass_the_resolution_as_often_as_it_says(sd, k):
    """Over 1,500 tables: .05 without the floor, at most .05 with it, 3.5 Monte Carlo errors."""
    rng = np.random.default_rng(int(100 * sd) + k)
    off, on = 0, 0
    for _ in range(1_500):
        theta = rng.normal(size=(60, 1))
        y = theta + table(rng, 60, k + 2, sd) - 0.0
        found = between_runs(run_model(y[:, :k]))
        apart = abs(float(y[:, k].mean() - y[:, k + 1].mean()))
        off += apart > distance(found, floor=False)
        on += apart > distance(found)
    error = 3.5 * math.sqrt(0.05 * 0.95 / 1_500)

    assert off / 1_500 == pytest.approx(0.05, abs=error)
    assert on / 1_500 <= 0.05 + error
