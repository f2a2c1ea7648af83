"""Items x runs: mean squares, REML with empty cells, and means over the same items.

Numbers by hand, from Shrout & Fleiss (1979), and from lme4 (tests/reference/facets.R).
"""

import json
from pathlib import Path

import numpy as np
import pytest

from judgeaudit.stats.facets import mean_squares, run_means, run_model
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.reml import fit_reml

LME4 = json.loads((Path(__file__).parents[1] / "reference" / "facets.json").read_text())["runs"]
# Shrout & Fleiss (1979), table 2: six targets, four judges.
TARGETS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def lme4_table(*, gaps):
    n, k = LME4["shape"]
    y = np.array(LME4["y"]).reshape(k, n).T
    kept = np.array(LME4["kept"]).reshape(k, n).T
    return np.where(kept, y, np.nan) if gaps else y


def test_the_published_mean_squares():
    """Shrout & Fleiss print 11.24, 32.49 and 1.02."""
    assert [round(float(v), 2) for v in mean_squares(TARGETS)] == [11.24, 32.49, 1.02]


def test_variances_by_hand():
    """Rows (0, 1), (2, 3), (4, 5): run means 2 and 3, MSR 2 * 4 = 8, MSC 3 * .5 = 1.5, MSE 0."""
    model = run_model(np.array([[0.0, 1], [2, 3], [4, 5]]))

    assert (model.msr, model.msc, model.mse) == pytest.approx((8, 1.5, 0))
    assert (model.item, model.run, model.residual) == pytest.approx((4, 0.5, 0))
    assert model.means.tolist() == [2, 3]
    assert model.residual_df == 2


def test_a_negative_variance_is_kept():
    """Runs with equal means: MSC = 0, so the run variance is -MSE/n = -1/3 * 3 / 3."""
    model = run_model(np.array([[0.0, 1], [2, 2], [5, 4]]))

    assert model.run == pytest.approx(-model.mse / 3)
    assert model.mse == pytest.approx(0.5)


@pytest.mark.parametrize("gaps", [False, True])
def test_variances_equal_those_of_lme4(gaps):
    model = run_model(lme4_table(gaps=gaps))
    known = LME4["gaps" if gaps else "full"]

    found = {"item": model.item, "run": model.run, "Residual": model.residual}
    assert found == pytest.approx(known, abs=1e-5)
    assert model.method == ("REML" if gaps else "mean squares")


def test_reml_without_empty_cells_is_the_analysis_of_variance():
    y = lme4_table(gaps=False)
    model = run_model(y)

    assert fit_reml(y) == pytest.approx((model.item, model.run, model.residual), rel=1e-5)


def test_an_item_that_left_early_is_no_shift():
    """Items differ by 10 and runs by 0; the high items miss the last run, whose raw mean falls."""
    y = np.repeat(np.arange(6.0)[:, None] * 10, 3, axis=1)
    y[3:, 2] = np.nan

    assert run_means(y) == pytest.approx(np.full(3, run_means(y)[0]))
    assert np.nanmean(y[:, 2]) == 10


def test_runs_are_counted_with_their_gaps():
    y = np.arange(12.0).reshape(4, 3) + np.eye(4, 3)
    y[0, 1] = np.nan
    model = run_model(y)

    assert (model.items, model.runs, model.empty) == (4, 3, 1)
    assert model.counts.tolist() == [4, 3, 4]
    # Harmonic means: 4/(1/2 + 3/3) and 3/(2/4 + 1/3).
    assert (model.per_item, model.per_run) == pytest.approx((4 / 1.5, 3 / (2 / 4 + 1 / 3)))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[1.0], [2], [3]], "one run"),
        ([[1.0, 2], [2, 3]], "fewer than 3 items"),
        ([[1.0, 1], [1, 1], [1, 1]], "constant"),
        ([[1.0, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 4]], "residual"),
        (
            [[1.0, 2, np.nan, np.nan]] * 3 + [[np.nan, np.nan, 2.0, 4]] * 3,
            "some runs share no items",
        ),
    ],
)
def test_what_cannot_be_fitted_says_why(table, why):
    found = run_model(np.array(table))

    assert isinstance(found, Undefined)
    assert why in found.reason
