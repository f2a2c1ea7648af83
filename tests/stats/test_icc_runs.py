"""ICC(A,1) over runs: the value of pingouin, an interval that knows the runs, and its warnings."""

import numpy as np
import pandas as pd
import pingouin
import pytest

from judgeaudit.stats.icc_runs import agreement_icc
from judgeaudit.stats.interval import Undefined


def table(rng, n=60, k=4, sd=0.2, noise=0.5):
    return rng.normal(size=(n, 1)) + sd * rng.normal(size=(1, k)) + noise * rng.normal(size=(n, k))


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*inplace keyword")
def test_values_are_those_of_pingouin(rng):
    y = table(rng)
    long = pd.DataFrame(y).stack().rename("y").rename_axis(["item", "run"]).reset_index()
    known = pingouin.intraclass_corr(long, "item", "run", "y").set_index("Type")["ICC"]
    found = agreement_icc(y, rng=rng)

    assert found.single == pytest.approx(known.filter(regex=r"^ICC\(?(2|A,1)\)?$").iloc[0])
    assert found.mean_of_k == pytest.approx(known.filter(regex=r"^ICC\(?(2k|A,k)\)?$").iloc[0])


def test_a_run_shift_widens_the_interval_that_an_item_jackknife_would_not(rng):
    """Two runs .5 apart: the truth may be anything from near 0 up, and the interval says so."""
    y = table(rng, n=200, k=2, sd=0.0, noise=0.2)
    y[:, 1] += 0.5
    found = agreement_icc(y, rng=rng)

    assert found.single_interval.low < 0.2
    assert found.single_interval.high > 0.9


def test_with_many_runs_and_no_shift_it_is_near_the_f_interval(rng):
    """60 x 10 normal scores: McGraw & Wong's F interval holds there, and both are close."""
    from judgeaudit.stats.icc import icc

    y = table(rng, k=10, sd=0.0)
    known = icc(y, "agreement").normal_theory()
    found = agreement_icc(y, rng=rng).single_interval

    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.03)


def test_the_shift_is_told_in_item_sds():
    """Rows 0, 2, 4, ... with the second run 1 higher: vr from MSR, vc = 1/2 over item SD."""
    y = 2.0 * np.arange(30)[:, None] + np.array([0.0, 1.0])
    y[0, 0] += 0.1
    found = agreement_icc(y, rng=np.random.default_rng(1))

    item_sd = np.std(2.0 * np.arange(30), ddof=1)
    assert found.shift == pytest.approx(np.sqrt(0.5) / item_sd, rel=0.01)
    # One degree of freedom: the upper 99 % limit is 1/.0001571 times the mean square.
    assert found.shift_limit == pytest.approx(found.shift / np.sqrt(0.00015709), rel=0.01)


def test_few_levels_are_warned_unless_the_runs_show_no_shift(rng):
    """Five levels, ten runs: a shift of .5 is told; without one its limit is below .2 item SDs.

    Three runs exclude no shift, and are told always.
    """
    quiet, loud = (np.clip(np.round(2 + table(rng, 200, 10, sd)), 0, 4) for sd in (0.0, 0.5))

    assert agreement_icc(quiet, rng=rng).warning == ""
    assert "levels" in agreement_icc(loud, rng=rng).warning
    assert "3 runs do not exclude" in agreement_icc(quiet[:, :3], rng=rng).warning
    assert agreement_icc(table(rng, 200, 3, 0.5), rng=rng).warning == ""


def test_a_mirrored_scale_is_warned_alike(rng):
    y = np.clip(np.round(table(rng, 100, 3, 0.4)), 0, 4)
    one, other = (agreement_icc(v, rng=np.random.default_rng(1)) for v in (y, 4 - y))

    assert one.warning == other.warning != ""
    assert one.single == pytest.approx(other.single)


def test_items_of_a_task_are_one_unit(rng):
    """Ten tasks of ten items that share most of their score: far wider than over 100 items."""
    tasks = np.repeat(np.arange(10), 10)
    y = (
        rng.normal(size=(10, 1))[tasks]
        + 0.3 * rng.normal(size=(100, 1))
        + 0.5 * rng.normal(size=(100, 4))
    )
    over_tasks, over_items = (
        agreement_icc(y, t, rng=np.random.default_rng(1)) for t in (tasks, None)
    )

    assert over_tasks.units == 10
    width = [f.single_interval.high - f.single_interval.low for f in (over_tasks, over_items)]
    assert width[0] > 1.5 * width[1]


def test_too_few_tasks_get_no_interval(rng):
    found = agreement_icc(table(rng), np.arange(60) % 5, rng=rng)

    assert found.single_interval == Undefined("fewer than 6 tasks")


def test_empty_cells_change_little_when_they_are_few(rng):
    y = table(rng, n=200)
    z = y.copy()
    z[rng.random(z.shape) < 0.02] = np.nan
    whole, gaps = (agreement_icc(v, rng=np.random.default_rng(1)) for v in (y, z))

    assert gaps.single == pytest.approx(whole.single, abs=0.02)
    assert gaps.single_interval.low == pytest.approx(whole.single_interval.low, abs=0.04)


def test_a_common_shift_alone_has_no_interval():
    y = np.arange(30.0)[:, None] + np.array([0.0, 1.0])

    found = agreement_icc(y, rng=np.random.default_rng(1))
    assert found.single_interval == Undefined("no disagreement between runs but a common shift")
