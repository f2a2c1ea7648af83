"""Shifts of a facet: F, Friedman, permutations, and which levels are named."""

import itertools

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.shifts import (
    by_level,
    category_shift,
    change_point,
    friedman,
    level_shift,
)


def table(rng, n=60, k=6, shifts=(), noise=0.2):
    y = rng.normal(size=(n, 1)) + noise * rng.normal(size=(n, k))
    for run, shift in shifts:
        y[:, run] += shift
    return y


def test_f_is_that_of_the_two_way_analysis_of_variance():
    """Rows (1, 2, 4), (2, 2, 3), (3, 5, 5), (4, 4, 6): MSC 49/12, MSE 5/12, F = 49/5."""
    found = level_shift(
        np.array([[1.0, 2, 4], [2, 2, 3], [3, 5, 5], [4, 4, 6]]), rng=np.random.default_rng(0)
    )

    assert found.f == pytest.approx(49 / 5)
    assert found.f_p == pytest.approx(stats.f.sf(49 / 5, 2, 6))
    assert (found.df1, found.df2) == (2, 6)


def test_two_lowered_runs_of_six_are_named_and_the_others_are_not(rng):
    found = level_shift(table(rng, shifts=[(4, -1.0), (5, -1.0)]), rng=rng)

    assert found.named == (4, 5)
    assert found.p < 1e-6
    assert found.deviations[4].value == pytest.approx(-1.0, abs=0.15)


def test_the_middle_window_of_three_is_found(rng):
    found = level_shift(table(rng, k=3, shifts=[(1, 1.0)]), rng=rng)

    assert found.named == (1,)


def test_two_runs_that_differ_are_told_and_neither_is_named(rng):
    found = level_shift(table(rng, k=2, shifts=[(1, 0.5)]), rng=rng)

    assert found.p < 0.001
    assert (found.named, found.deviations) == ((), ())


def test_friedman_is_scipys_with_ties(rng):
    y = np.round(table(rng, n=30, k=4, noise=1.0))

    assert friedman(y) == pytest.approx(stats.friedmanchisquare(*y.T).pvalue)
    assert np.isnan(friedman(np.where(np.eye(30, 4) > 0, np.nan, y)))
    assert friedman(np.ones((5, 3))) == 1


def test_few_levels_take_permutations_within_items():
    """Three items, runs (1, 2) each: of 8 relabellings 2 are as far apart, so p is near 1/4."""
    y = np.array([[1.0, 2], [2, 3], [3, 4]])
    found = level_shift(y, rng=np.random.default_rng(1), permutations=9_999)

    assert found.test == "permutation"
    assert found.p == pytest.approx(0.25, abs=0.02)


def test_whole_tasks_are_permuted():
    """Twenty items in four tasks that move together: 2 of 16 relabellings are as far apart."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=(20, 1)) + np.array([0.0, 1.0]) + 0.001 * rng.normal(size=(20, 2))
    found = level_shift(y, np.repeat(np.arange(4), 5), rng=rng, permutations=9_999)

    assert found.f_p < 1e-6
    assert found.p == pytest.approx(2 / 16, abs=0.02)


def test_the_shift_test_keeps_its_level(rng):
    """400 tables without a shift: .05 within 3.5 errors, with tasks that move together too."""
    tasks = np.repeat(np.arange(15), 4)
    plain = clustered = named = 0
    for _ in range(400):
        y = table(rng, k=3)
        found = level_shift(y, rng=rng)
        plain += found.p <= 0.05
        named += bool(found.named)
        y += 0.3 * rng.normal(size=(15, 3))[tasks]
        clustered += level_shift(y, tasks, rng=rng, permutations=99).p <= 0.05

    assert max(plain, clustered) / 400 <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 400)
    assert named <= plain


def test_columns_of_one_level_are_averaged():
    y = np.array([[1.0, 3, 5, np.nan], [2, np.nan, 4, 6]])

    assert by_level(y, np.array([0, 0, 1, 1])).tolist() == [[2, 5], [2, 5]]


def test_category_shares_are_compared_by_permutation():
    """Items answer A in run 0 and B in run 1, eight of eight: 2 of 256 relabellings, p = 1/128."""
    codes = np.tile([0, 1], (8, 1))
    found = category_shift(codes, 2, rng=np.random.default_rng(3), permutations=9_999)
    exact = sum(abs(sum(signs)) >= 8 for signs in itertools.product((1, -1), repeat=8)) / 2**8

    assert found.p == pytest.approx(exact, abs=0.005)
    assert found.shares.tolist() == [[1, 0], [0, 1]]
    assert category_shift(codes[:, :1], 2, rng=np.random.default_rng(3)).reason.startswith("one")


def test_categories_of_a_steady_judge_do_not_shift(rng):
    codes = rng.integers(0, 3, size=(40, 1)) + np.zeros((40, 4), int)
    codes[:5, 2] = -1
    found = category_shift(codes, 3, rng=rng, permutations=99)

    assert found.p == 1
    assert found.items == 35


def test_the_change_lies_where_it_was_planted(rng):
    y = table(rng, n=50, k=6)
    y[:, 3:] += 0.5
    found = change_point(y, rng=rng, permutations=199)

    assert found.change_after == 2
    assert found.change == pytest.approx(0.5, abs=0.1)
    assert found.change_p == 1 / 200
    assert found.steps[2].low > 0
    assert found.steps[0].low < 0 < found.steps[0].high


def test_steps_are_paired_t_at_bonferronis_level(rng):
    y = table(rng, n=30, k=3)
    step = change_point(y, rng=rng, permutations=9).steps[0]
    known = stats.ttest_rel(y[:, 1], y[:, 0]).confidence_interval(1 - 0.05 / 2)

    assert (step.low, step.high) == pytest.approx((known.low, known.high))


def test_a_single_window_has_nothing_to_compare(rng):
    assert isinstance(change_point(np.ones((5, 1)), rng=rng), Undefined)
    assert isinstance(level_shift(np.ones((5, 1)), rng=rng), Undefined)
