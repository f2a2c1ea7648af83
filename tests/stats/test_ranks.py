"""Test-retest Spearman: against scipy, against R, and the contract for degenerate scores."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from judgeaudit.stats import ranks
from judgeaudit.stats.dominance import (
    dense_codes,
    distinct,
    joint_dominance,
    median,
    upper_sums,
)
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.rank_pairs import RankedColumns, influence_values
from judgeaudit.stats.ranks import (
    difference,
    spearman_between,
    spearman_pairs,
    spearman_within,
)

CUTS = {"continuous": None, "five levels": [-1.1, -0.35, 0.35, 1.1], "ceiling": [-1.6, -0.8]}


def scores(rng, n, m, scale="five levels", noise=0.5):
    y = rng.normal(size=(n, 1)) + noise * rng.normal(size=(n, m))
    return y if CUTS[scale] is None else np.digitize(y, CUTS[scale]).astype(float)


def mean_of_scipy(a, b):
    """Mean over pairs of columns of scipy's coefficient on the items that have both."""
    values = []
    for x in a.T:
        for y in b.T:
            both = ~np.isnan(x) & ~np.isnan(y)
            values.append(spearmanr(x[both], y[both]).statistic)
    return np.mean(values)


@pytest.mark.parametrize("scale", CUTS)
def test_value_is_the_mean_over_pairs_of_scipys_coefficient(rng, scale):
    a, b = scores(rng, 50, 3, scale), scores(rng, 50, 2, scale)

    assert spearman_between(a, b).estimate.value == pytest.approx(mean_of_scipy(a, b), abs=1e-12)


def test_within_one_window_the_pairs_are_j_below_k(rng):
    y = scores(rng, 40, 4)
    pairs = [spearmanr(y[:, j], y[:, k]).statistic for j in range(4) for k in range(j + 1, 4)]

    found = spearman_within(y)

    assert found.pairs == 6
    assert found.estimate.value == pytest.approx(np.mean(pairs), abs=1e-12)


def test_delete_one_standard_error_equals_that_of_r(reference):
    """R deletes each of the 24 items in turn (tests/reference/reliability.R)."""
    r = reference("reliability")["ranks"]
    z = np.arctanh(r["deleted"]["spearman"])
    se = np.sqrt(23 / 24 * ((z - z.mean()) ** 2).sum())

    found = spearman_between(np.array(r["x"], float)[:, None], np.array(r["y"], float)[:, None])

    assert found.estimate.value == pytest.approx(r["spearman"], abs=1e-12)
    assert found.estimate.se == pytest.approx(se, abs=1e-10)
    assert found.estimate.df == 22


@pytest.mark.parametrize("scale", CUTS)
def test_jackknife_with_missing_scores_equals_deleting_by_hand(rng, scale):
    a, b = scores(rng, 30, 2, scale, 1.0), scores(rng, 30, 3, scale, 1.0)
    a[3, 1] = b[7, 0] = np.nan
    b[5] = np.nan  # this item has no pair at all
    items = [i for i in range(30) if i != 5]
    z = np.arctanh([mean_of_scipy(np.delete(a, i, 0), np.delete(b, i, 0)) for i in items])

    found = spearman_between(a, b)

    assert (found.items, found.items_per_pair) == (29, 27)
    assert found.estimate.value == pytest.approx(mean_of_scipy(a, b), abs=1e-12)
    assert found.estimate.se == pytest.approx(np.sqrt(28 / 29 * ((z - z.mean()) ** 2).sum()))


@pytest.mark.parametrize("scale", CUTS)
def test_influence_values_are_the_derivative_in_an_items_weight(rng, scale):
    """In 2,000 copies of the sample one more item i moves rho by IF_i / (2,000 n)."""
    y = scores(rng, 20, 2, scale, 1.0)
    copies = 2_000
    ranked = RankedColumns.of(y)
    base = spearmanr(y[:, 0], y[:, 1]).statistic
    influence = influence_values(ranked, [(0, 1)])

    for item in (0, 7, 19):
        more = np.vstack([np.repeat(y, copies, axis=0), y[item]])
        moved = spearmanr(more[:, 0], more[:, 1]).statistic - base
        assert moved * copies * 20 == pytest.approx(influence[item], abs=2e-3)


def test_above_the_limit_the_influence_error_stands_in_and_says_so(rng, monkeypatch):
    y = scores(rng, 600, 3)
    exact = spearman_within(y).estimate

    monkeypatch.setattr(ranks, "JACKKNIFE_UP_TO", 500)
    analytic = spearman_within(y).estimate

    assert (exact.method, analytic.method) == ("jackknife of atanh, t", "influence of atanh, t")
    assert analytic.se == pytest.approx(exact.se, rel=0.02)


def test_pair_uses_one_repeat_of_each_side_and_mean_score_ranks_the_means(rng):
    a, b = scores(rng, 80, 4), scores(rng, 80, 4)
    a[0, 0] = np.nan
    means = spearmanr(np.nanmean(a, axis=1), b.mean(axis=1)).statistic

    pair, averaged = (spearman_between(a, b, version=v) for v in ("pair", "mean-score"))

    assert pair.estimate.value == pytest.approx(spearmanr(a[1:, 0], b[1:, 0]).statistic)
    assert averaged.estimate.value == pytest.approx(means)
    assert (pair.unit, averaged.unit) == ("single", "mean of 4")


def test_named_pairs_of_columns_are_the_mean_of_just_those(rng):
    """Across windows (0, 1) and (2, 3): the pairs 0-2 and 1-3 alone."""
    y = scores(rng, 40, 4)
    pairs = [(0, 2), (1, 3)]

    found = spearman_pairs(y, pairs)

    assert found.estimate.value == pytest.approx(
        np.mean([spearmanr(y[:, j], y[:, k]).statistic for j, k in pairs]), abs=1e-12
    )


def test_a_constant_column_is_undefined(rng):
    y = scores(rng, 20, 2)
    y[:, 1] = 3

    assert spearman_within(y) == Undefined("constant")


def test_perfect_agreement_is_one_with_a_bound_on_disagreement_and_no_interval(rng):
    """59 items without disagreement put its rate below 5 %: 1 - .05^(1/59) = .0495."""
    y = np.repeat(rng.permutation(59)[:, None] * 1.0, 3, axis=1)

    found = spearman_within(y)

    assert found.estimate.value == 1
    assert found.estimate.interval() == Undefined("perfect agreement")
    assert found.agreement_bound.high == pytest.approx(0.049508, abs=1e-6)


def test_fewer_than_ten_items_give_an_estimate_and_no_interval(rng):
    found = spearman_within(scores(rng, 9, 2, "continuous"))

    assert found.estimate.interval() == Undefined("fewer than 10 items")


def test_a_coefficient_that_rests_on_one_item_has_no_interval():
    """Without the one odd item the first column is constant."""
    x = np.zeros((20, 1))
    x[4] = 1
    y = np.arange(20.0)[:, None]

    assert spearman_between(x, y).estimate.interval() == Undefined(
        "constant once a single item is left out"
    )


def test_one_repeat_is_undefined():
    assert spearman_within(np.arange(12.0)[:, None]) == Undefined("needs >= 2 repeats")


def test_one_sided_p_agrees_with_the_one_sided_bound(rng):
    """The lower end of the 90 % interval is the threshold at which p is exactly 5 %."""
    estimate = spearman_within(scores(rng, 60, 3)).estimate
    found = estimate.interval(0.90)

    assert estimate.p_below(found.low) == pytest.approx(0.05)
    assert estimate.p_above(found.high) == pytest.approx(0.05)


def test_difference_of_dependent_reliabilities_is_narrower_than_of_independent_ones(rng):
    y = scores(rng, 200, 4)
    first, second = spearman_within(y[:, :2]), spearman_within(y[:, 2:])

    found = difference(first, second)
    apart = np.hypot(*(e.influence.std() / np.sqrt(200) for e in (first.estimate, second.estimate)))

    assert found.value == pytest.approx(first.estimate.value - second.estimate.value)
    assert found.se < 0.95 * apart


def test_clusters_of_copies_count_once(rng):
    """Each item three times over: with copies as clusters the error is about that of one copy."""
    y = scores(rng, 100, 2)
    once = spearman_within(y).estimate
    copied = np.repeat(y, 3, axis=0)

    clustered = spearman_within(copied, clusters=np.repeat(np.arange(100), 3)).estimate

    assert clustered.n == 100
    assert clustered.se == pytest.approx(once.se, rel=0.06)
    assert spearman_within(copied).estimate.se < 0.65 * clustered.se


@pytest.mark.parametrize("kind", ["few", "many", "mixed"])
def test_dominance_sums_equal_counting_each_pair(rng, kind):
    n = 257
    draw = {
        "few": lambda: rng.integers(0, 4, n) * 1.0,
        "many": lambda: rng.normal(size=n),
        "mixed": lambda: np.where(rng.random(n) < 0.4, 0, rng.normal(size=n)),
    }[kind]
    x, y = dense_codes(draw()), dense_codes(draw())
    h = [(v[None, :] > v[:, None]) + 0.5 * (v[None, :] == v[:, None]) for v in (x, y)]

    np.testing.assert_allclose(joint_dominance(x, y), (h[0] * h[1]).sum(axis=1))
    np.testing.assert_allclose(upper_sums(x, y * 1.0), h[0] @ y)


@pytest.mark.slow
def test_five_thousand_items_by_twenty_repeats_take_less_than_a_second(rng):
    for scale in ("five levels", "continuous"):
        y = scores(rng, 5_000, 20, scale)
        start = time.process_time()
        spearman_within(y)
        assert time.process_time() - start < 1.0


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=40))
def test_distinct_and_median_are_numpys(values):
    column = np.array(values, dtype=float)

    assert distinct(column).tolist() == np.unique(column).tolist()
    assert median(column) == np.median(column)
