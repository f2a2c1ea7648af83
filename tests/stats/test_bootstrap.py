"""The bootstrap that moves weights, against ranking every resample again."""

import time

import numpy as np
import pytest
from scipy.stats import spearmanr

from judgeaudit.stats import bootstrap
from judgeaudit.stats.bootstrap import bootstrap_spearman
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.ranks import spearman_within


def scores(rng, n, m, discrete):
    y = rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, m))
    return np.digitize(y, [-1.1, -0.35, 0.35, 1.1]).astype(float) if discrete else y


@pytest.mark.parametrize("discrete", [True, False])
def test_each_draw_equals_ranking_the_resample_again(rng, monkeypatch, discrete):
    """The weights are recorded on the way; scipy then ranks the items repeated that often."""
    a, b = scores(rng, 60, 2, discrete), scores(rng, 60, 3, discrete)
    seen = []
    draw = bootstrap._weights
    monkeypatch.setattr(bootstrap, "_weights", lambda *args: seen.append(draw(*args)) or seen[-1])

    found = bootstrap_spearman(a, b, rng=rng, resamples=40)

    weights = np.hstack(seen).astype(int)
    for column in range(40):
        rows = np.repeat(np.arange(60), weights[:, column])
        again = [spearmanr(x[rows], y[rows]).statistic for x in a.T for y in b.T]
        assert found.draws[column] == pytest.approx(np.mean(again), abs=1e-12)


def test_few_cells_give_the_same_distribution_as_items(rng, monkeypatch):
    y = scores(rng, 400, 2, True)
    by_cells = bootstrap_spearman(y, rng=rng, resamples=4_000)
    monkeypatch.setattr(bootstrap.np, "unique", _no_cells(np.unique))
    by_items = bootstrap_spearman(y, rng=rng, resamples=4_000)

    assert by_cells.value == pytest.approx(by_items.value, abs=1e-12)
    assert by_cells.draws.mean() == pytest.approx(by_items.draws.mean(), abs=0.003)
    assert by_cells.draws.std() == pytest.approx(by_items.draws.std(), rel=0.06)


def _no_cells(unique):
    """Pretend that every row is its own cell."""

    def every_row(values, *args, axis=None, return_counts=False, **options):
        if axis == 0 and return_counts:
            return values, np.ones(len(values), int)
        return unique(values, *args, axis=axis, return_counts=return_counts, **options)

    return every_row


def test_its_error_on_the_atanh_scale_agrees_with_the_jackknife(rng):
    y = scores(rng, 150, 3, True)
    jackknife = spearman_within(y).estimate.interval()

    found = bootstrap_spearman(y, rng=rng).standard_error_on_z()

    assert (found.low, found.high) == pytest.approx((jackknife.low, jackknife.high), abs=0.01)


def test_whole_clusters_are_drawn(rng):
    """Ten copies of each item as clusters spread as the single items do."""
    y = scores(rng, 60, 2, True)
    once = bootstrap_spearman(y, rng=rng, resamples=3_000)
    copies = np.repeat(y, 10, axis=0)

    found = bootstrap_spearman(
        copies, rng=rng, resamples=3_000, clusters=np.repeat(np.arange(60), 10)
    )

    assert found.units == 60
    assert found.draws.std() == pytest.approx(once.draws.std(), rel=0.08)


def test_constant_resamples_are_counted_and_above_one_percent_forbid_an_interval(rng):
    """One odd item among 20 is missed by (1 - 1/20)^20 = 36 % of resamples."""
    y = np.column_stack([np.arange(20.0), np.eye(20)[3]])

    found = bootstrap_spearman(y, rng=rng, resamples=1_000)

    assert found.undefined == pytest.approx(358, abs=60)
    assert isinstance(found.percentile(), Undefined)


def test_perfect_agreement_has_no_interval(rng):
    y = np.repeat(np.arange(30.0)[:, None], 2, axis=1)

    assert bootstrap_spearman(y, rng=rng).percentile() == Undefined("perfect agreement")


@pytest.mark.slow
def test_thirty_times_faster_than_a_loop_over_scipy_at_25_pairs(rng):
    """2,000 resamples of 2,000 items, 5 x 5 repeats; the loop is timed on 3 resamples."""
    y = scores(rng, 2_000, 10, False)
    start = time.process_time()
    bootstrap_spearman(y[:, :5], y[:, 5:], rng=rng, resamples=2_000)
    ours = time.process_time() - start

    start = time.process_time()
    for _ in range(3):
        rows = rng.integers(0, 2_000, 2_000)
        for j in range(5):
            for k in range(5, 10):
                spearmanr(y[rows, j], y[rows, k])
    loop = (time.process_time() - start) / 3 * 2_000

    assert loop / ours > 30
