"""Planned looks against published constants; sequences and bets against their promises."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.looks import (
    crossing_probability,
    plan_looks,
    z_at_look,
)


@pytest.mark.parametrize(
    ("looks", "pocock", "obf"),
    [(1, 1.960, 1.960), (2, 2.178, 1.977), (5, 2.413, 2.040), (10, 2.555, 2.087)],
)
def test_constants_are_those_of_jennison_and_turnbull(looks, pocock, obf):
    """Group Sequential Methods (2000), tables 2.1 and 2.3, two-sided alpha .05, equal steps."""
    planned = range(1, looks + 1)

    assert plan_looks(planned, 0.025, "pocock").bounds[-1] == pytest.approx(pocock, abs=6e-4)
    assert plan_looks(planned, 0.025, "obf").bounds[-1] == pytest.approx(obf, abs=6e-4)


def test_crossing_probability_at_two_looks_is_the_bivariate_normal_one():
    """corr(Z1, Z2) = sqrt(t1/t2) = sqrt(1/4)."""
    joint = stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])

    assert crossing_probability([1, 4], [2.0, 1.7]) == pytest.approx(
        1 - joint.cdf([2.0, 1.7]), abs=1e-6
    )


def brownian(rng, items, runs, drift=0.0):
    """Z values at the planned looks, with mean drift sqrt(n)."""
    n = np.asarray(items, float)
    steps = rng.normal(size=(runs, n.size)) * np.sqrt(np.diff(n, prepend=0))
    return (steps.cumsum(axis=1) + drift * n) / np.sqrt(n)


@pytest.mark.parametrize("shape", ["obf", "pocock"])
def test_each_side_errs_with_chance_alpha_over_nineteen_looks(shape):
    """Looks every 20 items from 40 to 400, as in table A15."""
    plan = plan_looks(range(40, 401, 20), 0.05, shape)
    z = brownian(np.random.default_rng(1), plan.items, 20_000)

    assert np.mean((z >= plan.bounds).any(axis=1)) == pytest.approx(0.05, abs=0.005)
    assert np.mean((z <= -np.array(plan.bounds)).any(axis=1)) == pytest.approx(0.05, abs=0.005)


def test_looking_at_the_fixed_bound_each_time_errs_four_times_as_often():
    """Table A15 found .185 for naive peeking at T = .9."""
    z = brownian(np.random.default_rng(2), range(40, 401, 20), 20_000)

    assert np.mean((z >= stats.norm.ppf(0.95)).any(axis=1)) > 0.17


def test_decisions_follow_the_bound_of_their_look():
    plan = plan_looks([100, 200], 0.05, "pocock")
    bound = plan.bounds[0]

    assert plan.decide(0, bound + 0.01) == "pass"
    assert plan.decide(0, -bound - 0.01) == "fail"
    assert plan.decide(0, 0.0) is None
    assert plan.decide(1, 0.0) == "inconclusive"
    assert plan.decide(0, float("nan")) is None
    assert plan.decide(1, float("nan")) == "inconclusive"
    with pytest.raises(InputError, match="planned are 0 to 1"):
        plan.decide(2, 0.0)


def test_z_of_a_look_has_the_tail_of_its_t():
    """(1.2 - .9)/.1 = 3 with 38 df, and far tails keep their digits."""
    z = z_at_look(1.2, 0.1, 0.9, 38)

    assert stats.norm.sf(z) == pytest.approx(stats.t.sf(3, 38))
    assert z_at_look(0.6, 0.1, 0.9, 38) == pytest.approx(-z)
    assert stats.norm.sf(z_at_look(4.9, 0.1, 0.9, 38)) == pytest.approx(stats.t.sf(40, 38))
    assert np.isnan(z_at_look(1.2, float("nan"), 0.9, 38))


@pytest.mark.parametrize("items", [[], [100, 100], [0, 50], [200, 100]])
def test_looks_that_do_not_increase_are_refused(items):
    with pytest.raises(InputError, match="increasing"):
        plan_looks(items)
