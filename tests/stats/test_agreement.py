"""Agreement of verdicts, by hand and against the krippendorff package."""

import krippendorff
import numpy as np
import pytest
from scipy.stats import beta

from judgeaudit.stats.agreement import (
    effective_proportion,
    flip_rate,
    gwet_ac1,
    item_disagreement,
    krippendorff_alpha,
)
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.weighted import weighted_kappa

AAB, AA = [0, 0, 1], [0, 0, -1]


def verdicts(rng, n=120, m=5, q=4, agree=0.7):
    base = rng.integers(0, q, n)[:, None]
    found = np.where(rng.random((n, m)) < agree, base, rng.integers(0, q, (n, m)))
    return np.where(rng.random((n, m)) < 0.1, -1, found)


def test_flip_rate_is_the_mean_share_of_unlike_pairs():
    """AAB has 2 unlike pairs of 3, AA none of 1, so (2/3 + 0)/2; a lone verdict is left out."""
    found = flip_rate(np.array([AAB, AA, [1, -1, -1]]), 2)

    assert found.value == pytest.approx(1 / 3)
    assert (found.items, found.single, found.pairs) == (2, 1, 4)


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1, 0], [1, 1, 0]])
def test_neither_order_nor_label_matters(order):
    assert item_disagreement(np.array([order]), 2)[0] == pytest.approx(2 / 3)


def test_interval_is_clopper_pearson_at_the_effective_n():
    """d = (1, 0, 0, 0) twice: p = 1/4, var of the mean = (3/16)/7, so n_eff = 7, below 8 items.

    It is clipped to 8; the beta quantiles are those of 2 in 8.
    """
    v = np.array([[0, 1], [0, 0], [0, 0], [0, 0]] * 2)
    found = flip_rate(v, 2)

    assert found.effective_n == 8
    assert found.interval().low == pytest.approx(beta.ppf(0.025, 2, 7))
    assert found.interval().high == pytest.approx(beta.ppf(0.975, 3, 6))


def test_a_judge_that_never_flips_has_an_upper_bound_and_no_zero_width():
    """0 in 50 items: the upper end is 1 - .025^(1/50)."""
    found = flip_rate(np.zeros((50, 3), int), 2).interval()

    assert found.low == 0
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 50))


def test_clusters_that_answer_alike_count_as_one(rng):
    flips = np.repeat((rng.random(20) < 0.3) * 1.0, 10)
    tasks = np.repeat(np.arange(20), 10)
    alone, clustered = effective_proportion(flips), effective_proportion(flips, clusters=tasks)

    assert clustered.effective_n == 20
    assert alone.effective_n == pytest.approx(200)
    assert clustered.interval().high > alone.interval().high


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_equals_the_krippendorff_package(rng, metric):
    v = verdicts(rng)
    table = np.where(v < 0, np.nan, v).T
    theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=metric)

    assert krippendorff_alpha(v, 4, metric) == pytest.approx(theirs, abs=1e-12)


def test_ac1_by_hand():
    """Two repeats of 10 items, nine alike in A, one A then B: pa = .9, pi = (.95, .05).

    pe = 2 x .95 x .05 = .095, AC1 = .805/.905.
    """
    v = np.array([[0, 0]] * 9 + [[0, 1]])

    assert gwet_ac1(v, 2).value == pytest.approx(0.805 / 0.905)


def test_ac1_counts_declared_categories_that_never_occur():
    """With a third, unused category pe halves: .0475."""
    v = np.array([[0, 0]] * 9 + [[0, 1]])

    assert gwet_ac1(v, 3).value == pytest.approx((0.9 - 0.0475) / (1 - 0.0475))


def test_ac1_has_an_interval_from_100_items_by_deleting_each(rng):
    v = verdicts(rng, n=150)
    v[:, 0] = np.abs(v[:, 0])
    v[:, 1] = np.abs(v[:, 1])
    logs = np.log([1 - gwet_ac1(np.delete(v, i, 0), 4).value for i in range(150)])

    found = gwet_ac1(v, 4)

    assert found.se == pytest.approx(np.sqrt(149 / 150 * ((logs - logs.mean()) ** 2).sum()))
    assert found.interval().low < found.value < found.interval().high
    assert gwet_ac1(v[:99], 4).interval() == Undefined("fewer than 100 items")


def test_prevalence_makes_alpha_collapse_while_flips_are_rare():
    """98 items AA, one AB, one BA: 2 % flips, AC1 .98, yet alpha is below zero."""
    v = np.array([[0, 0]] * 98 + [[0, 1], [1, 0]])

    assert flip_rate(v, 2).value == pytest.approx(0.02)
    assert gwet_ac1(v, 2).value > 0.97
    assert krippendorff_alpha(v, 2) < 0


def test_kappa_by_hand():
    """Table 20 5 / 10 15: po = .7, pe = .5, kappa = .4 (a textbook's example)."""
    first = np.repeat([0, 0, 1, 1, 0], [20, 5, 10, 15, 1])
    second = np.repeat([0, 1, 0, 1, -1], [20, 5, 10, 15, 1])

    assert weighted_kappa(first, second, 2).value == pytest.approx(0.4)


def test_one_verdict_everywhere_is_undefined_for_chance_corrected_measures():
    same = np.zeros((20, 2), int)

    assert krippendorff_alpha(same, 2) == Undefined("constant")
    assert weighted_kappa(same[:, 0], same[:, 1], 2) == Undefined("constant")
    assert gwet_ac1(same, 2).interval() == Undefined("perfect agreement")
    assert flip_rate(same[:, :1], 2) == Undefined("needs >= 2 repeats")
