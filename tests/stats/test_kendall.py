"""Kendall's tau-b, against scipy and R."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.kendall import concordance_counts, kendall_between, kendall_within


def test_delete_one_standard_error_equals_that_of_r(reference):
    r = reference("reliability")["ranks"]
    z = np.arctanh(r["deleted"]["kendall"])

    found = kendall_between(np.array(r["x"], float)[:, None], np.array(r["y"], float)[:, None])

    assert found.value == pytest.approx(r["kendall"], abs=1e-12)
    assert found.se == pytest.approx(np.sqrt(23 / 24 * ((z - z.mean()) ** 2).sum()), abs=1e-10)


def test_value_is_the_mean_over_pairs_of_scipys_tau(rng):
    y = rng.normal(size=(70, 1)) + rng.normal(size=(70, 3))
    y[:, 2] = np.round(y[:, 2])
    pairs = [kendalltau(y[:, j], y[:, k]).statistic for j, k in ((0, 1), (0, 2), (1, 2))]

    assert kendall_within(y).value == pytest.approx(np.mean(pairs), abs=1e-12)


def test_concordance_counts_by_hand():
    """x = 1 2 3, y = 1 3 3: item 1 agrees with both, items 2 and 3 tie in y with each other."""
    signs, untied_x, untied_y = concordance_counts(np.array([1.0, 2, 3]), np.array([1.0, 3, 3]))

    assert signs.tolist() == [2, 1, 1]
    assert untied_x.tolist() == [2, 2, 2]
    assert untied_y.tolist() == [2, 1, 1]


def test_constant_and_perfect_columns_follow_the_contract():
    order = np.arange(15.0)[:, None]

    assert kendall_between(order, np.ones((15, 1))) == Undefined("constant")
    assert kendall_between(order, order).interval() == Undefined("perfect agreement")
