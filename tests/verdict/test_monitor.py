"""Monitoring: the threshold comes from clean runs on their own days; silence is not quiet."""

import importlib.util
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgeaudit.design.criteria import Watch
from judgeaudit.errors import InputError
from judgeaudit.readings.table import checked
from judgeaudit.stats.alarm import calibrate, cusum
from judgeaudit.verdict.monitor import check_watch, monitor
from judgeaudit.verdict.verdicts import Outcome

ITEMS = 60


def table(runs, *, first=0):
    """One window a run on a day of its own; NaN is a reply that could not be read."""
    rows = [
        {
            "endpoint": "judge",
            "item": f"q{n}",
            "window": f"d{day}w1",
            "day": day,
            "number": None if np.isnan(x) else x,
            "status": "invalid" if np.isnan(x) else "ok",
            "reason": "unparsed" if np.isnan(x) else None,
        }
        for day, run in enumerate(runs, first + 1)
        for n, x in enumerate(run)
    ]
    return checked(pd.DataFrame(rows))


def watch(n=19, **changes):
    return Watch(calibration=n, reference=2, **changes)


_PLANTED = Path(__file__).parents[2] / "benchmarks" / "planted.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_planted_runs", _PLANTED)
planted = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = planted
_spec.loader.exec_module(planted)


def runs(rng, count, **shape):
    """Scores of `count` runs, mean 50 and SD 3; `shape` as `benchmarks/planted.py` takes it."""
    return 50 + 3 * planted.simulated_runs(rng, count, ITEMS, **shape)


def largest(residuals):
    """The maximum of each run's CUSUM."""
    return cusum(residuals).max(axis=-1)


def test_it_is_the_split_calibrated_alarm(rng):
    """Threshold and maxima as `stats.alarm` gives them for the same residuals."""
    made = runs(rng, 22)
    means = made[:2].mean(axis=0)
    sd = np.sqrt(((made[:2] - means) ** 2).sum() / ITEMS)
    residual = (made[2:] - means) / sd
    limit = calibrate(largest(residual[:19]), 0.05)

    found = monitor(table(made), watch(), "judge")

    assert found.threshold.value == pytest.approx(limit.value)
    assert found.threshold.false_alarm == pytest.approx(0.05)
    assert found.threshold.alarms_per_year() == pytest.approx(18.25)
    assert found.runs[0].largest == pytest.approx(largest(residual[19:])[0])


def test_a_shift_of_one_sd_raises_an_alarm_and_its_delay_is_told(rng):
    """One SD, allowance half: the CUSUM grows by .5 an item from the 21st item on."""
    clean, moved = runs(rng, 101), runs(rng, 1, shift=2.0, start=20)

    found = monitor(table(np.vstack([clean, moved])), watch(99), "judge")

    assert found.outcome is Outcome.FAIL
    assert found.first_alarm[0] == 1
    assert 20 < found.runs[0].step <= ITEMS


def test_equal_sums_in_another_order_are_no_alarm():
    """The run that set the threshold, asked backwards: the same sum but for its last bits."""
    reference = np.array([np.full(ITEMS, 47.0), np.full(ITEMS, 53.0)])
    highest = 56 + np.arange(ITEMS) / 7
    quiet = np.full((18, ITEMS), 50.0)
    made = np.vstack([reference, quiet, highest, highest[::-1]])
    sd = np.sqrt(2) * 3
    forwards, backwards = largest((made[-2:] - 50) / sd)
    assert forwards != backwards
    assert forwards == pytest.approx(backwards, rel=1e-12)

    orders = (made, np.vstack([made[:-2], made[-1], made[-2]]))
    found = [monitor(table(one), watch(), "judge") for one in orders]

    assert [one.outcome for one in found] == [Outcome.PASS, Outcome.PASS]


@pytest.mark.slow
@pytest.mark.parametrize("n", [19, 39])
def test_false_alarms_keep_to_the_registered_alpha_through_the_whole_command(rng, n):
    """Clean AR(.5) runs with ties, 40 calibrations of 5 test runs: about .05 of 200 alarm.

    Alarms within a calibration are dependent; four Monte Carlo errors of 40 draws are .09.
    """
    alarms = []
    for _ in range(40):
        made = runs(rng, 2 + n + 5, ar=0.5, step=1.0)
        found = monitor(table(made), watch(n), "judge")
        alarms += [run.outcome is Outcome.FAIL for run in found.runs]

    assert np.mean(alarms) <= 0.05 + 0.09


def test_before_calibration_is_complete_nothing_can_be_said(rng):
    found = monitor(table(runs(rng, 12)), watch(), "judge")

    assert found.outcome is Outcome.UNDEFINED
    assert found.reason == "12 of 21 reference and calibration runs are sealed"


def test_calibrated_without_a_later_run_is_undefined_and_not_quiet(rng):
    assert monitor(table(runs(rng, 21)), watch(), "judge").outcome is Outcome.UNDEFINED


def test_two_calibration_runs_on_one_day_are_refused(rng):
    made = table(runs(rng, 22))
    made.loc[made["day"].eq(9), "day"] = 8

    assert monitor(made, watch(), "judge").reason == "two calibration runs stand on one day"


def test_a_run_whose_replies_cannot_be_read_is_undefined_and_never_quiet(rng):
    made = runs(rng, 22)
    made[-1, :10] = np.nan

    found = monitor(table(made), watch(), "judge")

    assert found.outcome is Outcome.UNDEFINED
    assert "16.7% of the replies could not be read" in found.runs[0].reason


def test_a_judge_without_noise_alarms_at_any_difference(rng):
    """Every clean run is the same: threshold 0, and one item that differs crosses it."""
    made = np.tile(rng.integers(1, 6, ITEMS).astype(float), (23, 1))
    made[-1, 7] += 1

    found = monitor(table(made), watch(), "judge")

    assert [run.outcome for run in found.runs] == [Outcome.PASS, Outcome.FAIL]
    assert (found.runs[1].item, found.runs[1].step) == ("q7", 8)


def test_verdicts_are_watched_by_how_often_the_usual_answer_comes(rng):
    made = np.where(rng.random((22, ITEMS)) < 0.05, "fail", "pass").astype(object)
    made[-1] = "fail"
    frame = table(np.zeros((22, ITEMS)))
    frame = frame.assign(number=np.nan, category=made.ravel())

    found = monitor(checked(frame), watch(), "judge")

    assert found.outcome is Outcome.FAIL


def test_an_alpha_below_one_in_n_plus_one_is_refused():
    """19 clean runs can promise 1/20 and no less."""
    check_watch(watch(19, alpha=Decimal("0.05")))
    with pytest.raises(InputError, match=r"0.04 is below 1/\(19 \+ 1\); calibrate on >= 24 runs"):
        check_watch(watch(19, alpha=Decimal("0.04")))
