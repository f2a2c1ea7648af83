"""Variance components, against lme4's REML and on planted truth."""

import numpy as np
import pytest

from judgeaudit.stats.components import (
    design_study,
    variance_components,
)
from judgeaudit.stats.interval import Undefined

NAMES = ("items", "windows", "items_by_window", "repeats")
TRUTH = (1.0, 0.05, 0.1, 0.3)


def study(rng, n=30, w=4, r=3, truth=TRUTH):
    sd = np.sqrt(truth)
    return (
        sd[0] * rng.normal(size=(n, 1, 1))
        + sd[1] * rng.normal(size=(1, w, 1))
        + sd[2] * rng.normal(size=(n, w, 1))
        + sd[3] * rng.normal(size=(n, w, r))
    )


def values(found):
    return [getattr(found, name).value for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_balanced_components_equal_lme4s_reml(reference, name):
    r = reference("reliability")["components"]
    found = variance_components(np.array(r["y"]).reshape(r["shape"]))

    assert found.balanced
    assert getattr(found, name).value == pytest.approx(r["reml"][name], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_with_a_fifth_missing_they_stay_near_lme4s_reml(reference, name):
    """Another estimator, so near and not equal: within 10 % here."""
    r = reference("reliability")["components"]
    y = np.where(np.array(r["kept"]), r["y"], np.nan).reshape(r["shape"])
    found = variance_components(y)

    assert not found.balanced
    assert getattr(found, name).value == pytest.approx(r["reml_missing"][name], rel=0.10)


@pytest.mark.slow
def test_planted_components_are_recovered_without_bias_when_replies_are_missing(rng):
    """400 studies, a quarter of the replies and a third of one window gone; 4 standard errors."""
    found = []
    for _ in range(400):
        y = study(rng)
        y[rng.random(y.shape) < 0.25] = np.nan
        y[:10, 2] = np.nan
        found.append(values(variance_components(y)))
    found = np.array(found)

    assert np.all(np.abs(found.mean(axis=0) - TRUTH) < 4 * found.std(axis=0) / 20)


def test_jackknife_deletes_whole_items(rng):
    y = study(rng)
    y[rng.random(y.shape) < 0.2] = np.nan
    logs = np.log([variance_components(np.delete(y, i, 0)).repeats.value for i in range(30)])

    found = variance_components(y).repeats

    assert found.se == pytest.approx(np.sqrt(29 / 30 * ((logs - logs.mean()) ** 2).sum()))


def test_windows_get_no_interval_and_below_five_a_flag(rng):
    few, enough = variance_components(study(rng, w=4)), variance_components(study(rng, w=5))

    assert isinstance(few.windows.interval(), Undefined)
    assert (few.window_estimable, enough.window_estimable) == (False, True)


def test_one_reply_a_cell_merges_item_by_window_with_repeats(rng):
    found = variance_components(study(rng, n=400, w=6, r=1))

    assert found.confounded
    assert found.repeats.value == pytest.approx(0.4, abs=0.05)
    assert isinstance(found.items_by_window.interval(), Undefined)


def test_coefficients_by_hand(rng):
    """Components 1, .05, .1, .3 at W = 2, R = 3: G = 1/(1 + .05 + .05), Phi adds .025."""
    found = variance_components(study(rng))
    planted = [
        type(e)(v, e.se, e.df, e.n, e.method, e.scale, e.no_interval)
        for e, v in zip((getattr(found, n) for n in NAMES), TRUTH, strict=True)
    ]
    exact = type(found)(*planted, 30, 4, True, False, False, 0)

    assert exact.relative(2, 3) == pytest.approx(1 / 1.1)
    assert exact.absolute(2, 3) == pytest.approx(1 / 1.125)
    best = design_study(exact, 6)[0]
    assert (best.windows, best.repeats, best.calls) == (6, 1, 6)
    assert best.relative == pytest.approx(1 / (1 + 0.1 / 6 + 0.3 / 6))


def test_what_cannot_be_told_is_undefined(rng):
    y = study(rng, n=12, w=2)
    apart = y.copy()
    apart[:6, 0] = apart[6:, 1] = np.nan

    assert variance_components(y[:, :1]) == Undefined("needs >= 2 windows")
    assert variance_components(np.ones((12, 2, 2))) == Undefined("constant")
    assert variance_components(apart) == Undefined("some windows share no items")
