"""Array routines written by hand against numpy, scipy, krippendorff and pingouin.

Random input of even and odd sizes, with and without gaps; the oracle gives the number.
"""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats as scipy_stats

from judgeaudit.analysis import exact
from judgeaudit.analysis.noise.rescue import _spearman
from judgeaudit.analysis.time.daysplit import _median
from judgeaudit.stats.agreement import krippendorff_alpha
from judgeaudit.stats.icc import icc
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import spearman_between
from judgeaudit.stats.ties import settle
from judgeaudit.stats.weighted import weighted_kappa

SHAPES = [(rows, columns) for rows in (20, 21) for columns in (2, 3, 4, 5)]
GAPS = [0.0, 0.2]


def scores(rows: int, columns: int, gaps: float, levels: int = 6) -> np.ndarray:
    rng = np.random.default_rng((rows, columns, int(gaps * 10), levels))
    found = rng.integers(0, levels, (rows, 1)) + rng.integers(0, 3, (rows, columns))
    found = found.astype(float)
    found[rng.random(found.shape) < gaps] = np.nan
    found[:, 0] = np.where(np.isnan(found).all(axis=1), 1.0, found[:, 0])
    return found


def test_the_median_of_an_even_row_is_between_its_two_middle_values():
    """Case S11: 0 to 19 has 9.5."""
    assert _median(np.arange(20.0)[None]).tolist() == [9.5]


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_medians_of_windows_are_numpys(shape, gaps):
    """Case S11: over the last axis, gaps left out."""
    values = scores(*shape, gaps)

    assert _median(values) == pytest.approx(np.nanmedian(values, axis=-1))


@pytest.mark.parametrize("size", [1, 2, 7, 8])
def test_exact_medians_are_numpys(size):
    values = np.random.default_rng(size).normal(size=size).tolist()

    assert float(exact.median(values)) == pytest.approx(np.median(values))


@pytest.mark.parametrize("size", [5, 6, 31])
def test_exact_and_simulated_spearman_are_scipys(size):
    rng = np.random.default_rng(size)
    x, y = rng.integers(0, 4, size), rng.integers(0, 4, size)
    wanted = scipy_stats.spearmanr(x, y).statistic

    assert float(exact.spearman(x.astype(float), y.astype(float))) == pytest.approx(wanted)
    assert _spearman(x[None], y[None])[0] == pytest.approx(wanted)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("shape", [(40, 2), (41, 3)])
def test_spearman_between_windows_is_the_mean_over_scipys_pairs(shape, gaps):
    """Items with both readings of a pair count in that pair."""
    first, second = scores(*shape, gaps), scores(shape[0], shape[1], gaps, levels=5)
    pairs = []
    for a in first.T:
        for b in second.T:
            both = ~np.isnan(a) & ~np.isnan(b)
            pairs.append(scipy_stats.spearmanr(a[both], b[both]).statistic)

    assert spearman_between(first, second).estimate.value == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_alpha_is_krippendorffs_with_gaps_and_without(shape, gaps, metric):
    """Case T8: the author's convention on missing data, as his package's."""
    values = scores(*shape, gaps)
    levels = np.unique(values[~np.isnan(values)])
    codes = np.where(np.isnan(values), -1, np.searchsorted(levels, values)).astype(np.int64)
    wanted = krippendorff.alpha(values.T, level_of_measurement=metric)

    assert krippendorff_alpha(codes, levels.size, metric, levels) == pytest.approx(wanted)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("rows", [20, 21])
def test_cohens_kappa_is_that_of_the_items_with_both_readings(rows, gaps):
    """(po - pe) / (1 - pe) of a cross table of pandas."""
    values = scores(rows, 2, gaps)
    both = values[~np.isnan(values).any(axis=1)].astype(int)
    q = int(both.max()) + 1
    table = np.zeros((q, q))
    np.add.at(table, (both[:, 0], both[:, 1]), 1 / len(both))
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    codes = np.where(np.isnan(values), -1, values).astype(np.int64)

    wanted = (np.trace(table) - expected) / (1 - expected)
    assert weighted_kappa(codes[:, 0], codes[:, 1], q).value == pytest.approx(wanted)


FORMS = {"one-way": ("ICC1", "ICC(1,1)"), "agreement": ("ICC2", "ICC(A,1)")}
FORMS |= {"consistency": ("ICC3", "ICC(C,1)")}
"""Our forms, and what pingouin's releases call them."""


@pytest.mark.filterwarnings("ignore:The inplace keyword:Warning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("shape", [(20, 3), (21, 4)])
def test_icc_is_pingouins_on_complete_items(shape, gaps, form):
    """Its convention: an item with a missing reading is left out whole (one-way: see below)."""
    values = scores(*shape, gaps if form != "one-way" else 0.0)
    long = pd.DataFrame(values).rename_axis("item").reset_index().melt("item", var_name="run")
    found = pingouin.intraclass_corr(long, "item", "run", "value", nan_policy="omit")
    wanted = found.set_index("Type")["ICC"]
    assert icc(values, form).single.value == pytest.approx(
        wanted[wanted.index.isin(FORMS[form])].item()
    )


@pytest.mark.parametrize("shape", [(20, 3), (21, 4)])
def test_one_way_icc_with_gaps_is_that_of_scipys_analysis_of_variance(shape):
    """Donner (1986): (F - 1) / (F - 1 + k0), k0 = (N - sum k^2 / N) / (n - 1)."""
    values = scores(*shape, 0.2)
    groups = [row[~np.isnan(row)] for row in values if not np.isnan(row).all()]
    f = scipy_stats.f_oneway(*groups).statistic
    sizes = np.array([group.size for group in groups])
    k0 = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (sizes.size - 1)

    assert icc(values, "one-way").single.value == pytest.approx((f - 1) / (f - 1 + k0))


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_is_the_root_mean_variance_of_numpy(shape, gaps):
    """Over items with two readings or more."""
    values = scores(*shape, gaps)
    twice = values[(~np.isnan(values)).sum(axis=1) >= 2]

    wanted = np.sqrt(np.nanvar(twice, axis=1, ddof=1).mean())
    assert noise(values).sd.value == pytest.approx(wanted)


def test_scores_that_differ_by_rounding_are_one():
    """Case S9."""
    assert settle(np.array([0.3, 0.1 + 0.2, 0.4])).tolist() == [0.3, 0.3, 0.4]
