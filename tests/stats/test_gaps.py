"""Empty cells: where they cluster."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.stats.gaps import gaps


def present(n=60, k=5):
    return np.ones((n, k), dtype=bool)


def test_shares_and_the_chi_square_of_the_runs():
    """Ten of 60 cells empty in one run of five: the chi-square of the 2 x 5 table."""
    there = present()
    there[:10, 3] = False
    found = gaps(there, np.arange(60.0), rng=np.random.default_rng(1))
    table = np.array([[0, 0, 0, 10, 0], [60, 60, 60, 50, 60]])

    assert (found.empty, found.cells, found.items_touched) == (10, 300, 10)
    assert found.by_run.tolist() == [0, 0, 0, 10 / 60, 0]
    assert found.run_p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert "runs" in found.where


def test_gaps_in_the_same_items_are_found():
    """Six items miss four of five readings: spread at random they would hardly meet."""
    there = present()
    there[::10, :4] = False
    found = gaps(there, np.random.default_rng(2).normal(size=60), rng=np.random.default_rng(1))

    assert found.item_p == 1 / 1000
    assert found.where == ("items",)


def test_gaps_in_low_items_are_found_with_their_difference():
    """Items 0..59 in order; the ten lowest have a gap each, in turn over the runs."""
    there = present()
    there[np.arange(10), np.arange(10) % 5] = False
    values = np.arange(60.0)
    found = gaps(there, values, rng=np.random.default_rng(1))

    assert found.kind_difference == pytest.approx((4.5 - 34.5) / values.std(ddof=1))
    assert found.where == ("kind of item",)


def test_categories_count_one_by_one():
    """Every item of category 1 has a gap: its share differs by 1 between the two kinds."""
    there = present(40, 4)
    there[:8, 0] = False
    shares = np.zeros((40, 3))
    shares[:8, 1], shares[8:, 0] = 1, 1
    found = gaps(there, shares, rng=np.random.default_rng(1))

    assert abs(found.kind_difference) == pytest.approx(1 / shares[:, 1].std(ddof=1))
    assert "kind of item" in found.where


def test_gaps_at_random_cluster_nowhere():
    """200 tables: each of three adjusted tests together errs at most .05."""
    rng = np.random.default_rng(3)
    named = sum(
        bool(gaps(rng.random((40, 5)) > 0.15, rng.normal(size=40), rng=rng, permutations=99).where)
        for _ in range(200)
    )

    assert named / 200 <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 200)


def test_a_full_table_has_nothing_to_test():
    found = gaps(present(), np.arange(60.0), rng=np.random.default_rng(1))

    assert found.where == ()
    assert np.isnan([found.run_p, found.item_p, found.kind_p]).all()


def test_large_tables_give_what_permutations_give():
    """30,000 cells by the normal approximations against 999 permutations of the same table."""
    rng = np.random.default_rng(4)
    there = rng.random((6_000, 5)) > 0.05
    there[:60, :3] = False
    values = rng.normal(size=6_000)
    large = gaps(there, values, rng=rng)

    assert large.item_p < 1e-6
    quiet = gaps(rng.random((6_000, 5)) > 0.05, values, rng=rng)
    assert quiet.item_p > 0.001
    assert quiet.kind_p > 0.001


def test_overlap_is_hypergeometric():
    """Two runs of 10,001 items, 300 and 400 gaps: shared ones have mean 12 and SD 3.35."""
    there = np.ones((10_001, 2), dtype=bool)
    there[:300, 0] = False
    there[280:680, 1] = False
    n, a, b = 10_001, 300, 400
    mean = a * b / n
    sd = np.sqrt(mean * (n - a) * (n - b) / (n * (n - 1)))
    found = gaps(there, np.zeros(n), rng=np.random.default_rng(1))

    assert found.item_p == pytest.approx(stats.norm.sf((20 - mean) / sd))
