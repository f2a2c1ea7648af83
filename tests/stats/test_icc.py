"""Intraclass correlations, against Shrout & Fleiss's table, psych in R, and pingouin."""

import warnings

import numpy as np
import pandas as pd
import pytest

from judgeaudit.stats.icc import icc
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import log_f

FORMS = {"one-way": 0, "agreement": 1, "consistency": 2}


def noisy(rng, n=25, k=4, shift=0.4):
    return rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, k)) + shift * rng.normal(size=k)


@pytest.mark.parametrize(("form", "row"), FORMS.items())
def test_table_2_of_shrout_and_fleiss(reference, form, row):
    """Published .17 .29 .71 and .44 .62 .91; psych gives more digits and the F intervals."""
    r = reference("reliability")["shrout_fleiss"]
    found = icc(np.array(r["scores"], float), form)
    interval = found.normal_theory()

    assert found.single.value == pytest.approx(r["icc"][row], abs=1e-10)
    assert found.mean_of_k.value == pytest.approx(r["icc"][row + 3], abs=1e-10)
    assert (interval.low, interval.high) == pytest.approx((r["low"][row], r["high"][row]), abs=1e-9)


@pytest.mark.parametrize(("form", "row"), FORMS.items())
def test_values_equal_pingouins(rng, form, row):
    y = noisy(rng)
    table = pd.DataFrame(
        [(i, j, y[i, j]) for i in range(25) for j in range(4)], columns=list("irs")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pingouin's own deprecations
        import pingouin

        theirs = pingouin.intraclass_corr(table, targets="i", raters="r", ratings="s")["ICC"]

    found = icc(y, form)

    assert found.single.value == pytest.approx(theirs.iloc[row], abs=1e-10)
    assert found.mean_of_k.value == pytest.approx(theirs.iloc[row + 3], abs=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_jackknife_equals_deleting_each_item_by_hand(rng, form):
    y = noisy(rng)
    scaled = log_f(4).to(np.array([icc(np.delete(y, i, 0), form).single.value for i in range(25)]))

    found = icc(y, form).single

    assert found.se == pytest.approx(np.sqrt(24 / 25 * ((scaled - scaled.mean()) ** 2).sum()))
    assert found.df == 24


def test_interval_of_the_mean_of_k_is_the_spearman_brown_image_of_the_single_one(rng):
    found = icc(noisy(rng), "one-way")
    single, averaged = found.single.interval(), found.mean_of_k.interval()

    assert averaged.low == pytest.approx(4 * single.low / (1 + 3 * single.low))
    assert averaged.high == pytest.approx(4 * single.high / (1 + 3 * single.high))


def test_one_way_takes_unequal_repeats_by_hand():
    """Items (1, 3), (5), (6, 8): k0 = (5 - 9/5)/2 = 1.6; MSW = 4/2, MSB = 25.2/2.

    Means 2, 5, 7 around 4.6 give 2(2.6^2) + .4^2 + 2(2.4^2) = 25.2, so the ICC is
    (12.6 - 2)/(12.6 + .6 * 2) = 10.6/13.8.
    """
    found = icc(np.array([[1.0, 3], [5, np.nan], [6, 8]]))

    assert found.k == pytest.approx(1.6)
    assert found.single.value == pytest.approx(10.6 / 13.8)


def test_two_way_forms_leave_out_and_count_incomplete_items(rng):
    y = noisy(rng)
    y[3, 2] = np.nan

    found = icc(y, "agreement")

    assert (found.items, found.incomplete) == (24, 1)
    assert found.single.value == pytest.approx(icc(np.delete(y, 3, 0), "agreement").single.value)


def test_a_shift_of_a_column_lowers_agreement_and_not_consistency(rng):
    y = noisy(rng, shift=0)
    moved = y + np.array([0, 0, 0, 3.0])

    assert icc(moved, "agreement").single.value < icc(y, "agreement").single.value - 0.2
    assert icc(moved, "consistency").single.value == pytest.approx(
        icc(y, "consistency").single.value
    )


def test_degenerate_scores():
    same = np.repeat(np.arange(12.0)[:, None], 3, axis=1)

    assert icc(np.ones((12, 3))) == Undefined("constant")
    assert icc(np.arange(12.0)[:, None]) == Undefined("needs >= 2 repeats")
    assert icc(same).single.value == 1
    assert icc(same).single.interval() == Undefined("perfect agreement")
    assert icc(same).normal_theory() == Undefined("perfect agreement")


def test_a_negative_value_is_kept():
    """Two repeats that always mirror each other: MSB = 0, hence -1/(k - 1) = -1."""
    half = np.linspace(1, 2, 12)

    assert icc(np.column_stack([half, -half])).single.value == pytest.approx(-1)
