"""The drift alarm: its CUSUM by hand, its promise by order statistics and by simulation."""

import numpy as np
import pytest

from judgeaudit.errors import InputError
from judgeaudit.stats.alarm import calibrate, cusum, runs_needed


def clean_runs(rng, runs, items=60, *, ar=0.0, step=0.0, day_sd=0.0):
    """Residuals of unit variance: autocorrelated, rounded to `step`, with one effect of a day."""
    x = noise = rng.normal(size=(runs, items))
    for t in range(1, items):
        x[:, t] = ar * x[:, t - 1] + np.sqrt(1 - ar * ar) * noise[:, t]
    x = x + day_sd * rng.normal()
    return np.round(x / step) * step if step else x


def largest(residuals):
    """The maximum of each run's CUSUM."""
    return cusum(residuals).max(axis=-1)


def test_cusum_by_hand():
    """Allowance .5: up .5, 2, .5, 0; down 0, 0, .5, 2.0; the larger of both."""
    assert cusum([1.0, 2.0, -1.0, -2.0]).tolist() == [0.5, 2.0, 0.5, 2.0]
    assert cusum([[0.0, 0.0], [0.0, 9.0]]).tolist() == [[0.0, 0.0], [0.0, 8.5]]


def test_cusum_equals_its_recursion():
    x = np.random.default_rng(1).normal(size=200)
    up = down = 0.0
    expected = []
    for value in x:
        up, down = max(0.0, up + value - 0.3), max(0.0, down - value - 0.3)
        expected.append(max(up, down))

    assert cusum(x, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("runs", "rank", "rate"), [(19, 19, 1 / 20), (39, 38, 2 / 40), (99, 95, 5 / 100)]
)
def test_threshold_is_the_order_statistic_that_promises_alpha(runs, rank, rate):
    found = calibrate(np.arange(1, runs + 1), 0.05)

    assert (found.rank, found.value) == (rank, rank)
    assert found.false_alarm == pytest.approx(rate)
    assert found.alarms_per_year(365) == pytest.approx(365 * rate)


@pytest.mark.parametrize(("runs", "low", "high"), [(19, 0.001, 0.18), (99, 0.02, 0.10)])
def test_own_rate_of_a_calibration_ranges_as_a_beta_variable(runs, low, high):
    """Beta(1, 19) and Beta(5, 95): .001-.18 and .02-.10 at 95 %."""
    found = calibrate(np.arange(runs)).conditional_range()

    assert found == pytest.approx((low, high), abs=0.006)


def test_alpha_below_one_over_n_plus_one_is_refused():
    with pytest.raises(InputError, match="18 clean runs cannot promise alpha"):
        calibrate(np.arange(18), 0.05)
    assert calibrate(np.arange(19), 0.05).rank == 19
    assert (runs_needed(0.05), runs_needed(0.01)) == (19, 99)


def test_a_tie_with_the_threshold_is_no_alarm():
    found = calibrate(np.arange(1, 20), 0.05)

    assert found.alarms([19.0, 19.5, 3.0]).tolist() == [False, True, False]


def false_alarms(draw, runs, *, studies=600, tests=10):
    """Rate over studies of `runs` calibration and `tests` test runs, and its SE over studies."""
    rates = []
    for _ in range(studies):
        maxima = largest(draw(runs + tests))
        rates.append(calibrate(maxima[:runs]).alarms(maxima[runs:]).mean())
    return np.mean(rates), np.std(rates) / np.sqrt(studies)


@pytest.mark.parametrize("runs", [19, 39, 99])
@pytest.mark.parametrize(
    "kind", [{}, {"ar": 0.5}, {"ar": 0.5, "step": 1.0}], ids=["iid", "ar", "ar-ties"]
)
def test_false_alarms_stay_at_the_registered_rate(runs, kind):
    """Whatever happens inside a run: independent, autocorrelated, tied."""
    rng = np.random.default_rng(runs)
    rate, se = false_alarms(lambda n: clean_runs(rng, n, 40, **kind), runs)

    assert rate <= 0.05 + 4 * se
    if not kind.get("step"):
        assert rate == pytest.approx(0.05, abs=4 * se)


def test_calibration_from_a_single_day_is_not_exchangeable_with_other_days():
    """A shared day effect of .3 SD: .145 was measured, nearly three times the promise."""
    rng = np.random.default_rng(4)
    alarms = []
    for _ in range(400):
        limit = calibrate(largest(clean_runs(rng, 19, day_sd=0.3)))
        alarms.append(limit.alarms(largest(clean_runs(rng, 1, day_sd=0.3)))[0])

    assert np.mean(alarms) > 0.09


def test_a_threshold_from_normal_theory_breaks_under_autocorrelation():
    """Set on independent runs and used where AR is .5: .57 was measured."""
    rng = np.random.default_rng(5)
    limit = calibrate(largest(clean_runs(rng, 1999)))

    assert limit.alarms(largest(clean_runs(rng, 2000, ar=0.5))).mean() > 0.45


def test_unread_replies_are_not_passed_on():
    with pytest.raises(InputError, match="could not be read"):
        cusum([0.0, float("nan")])
