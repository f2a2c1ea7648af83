"""Quantiles against closed forms, against what they invert, and against SciPy over their range."""

import math
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

from judgeaudit.stats.quantiles import (
    beta_quantile,
    f_quantile,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

CHANCES = [1e-11, 0.001, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999, 1 - 1e-11]
DEGREES = [0.5, 1, 2, 3.5, 9, 29, 499, 4_999, 49_998, 499_999, 1e8]


@pytest.mark.parametrize("p", [0.0, 1e-310, 1e-300, 1e-200, *CHANCES, 1.0])
def test_normal_quantile(p):
    assert normal_quantile(p) == pytest.approx(float(special.ndtri(p)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("x", [-40.0, -8.0, -1.96, 0.0, 1.0, 9.0])
def test_normal_cdf(x):
    assert normal_cdf(x) == pytest.approx(float(special.ndtr(x)), rel=1e-12)


def test_no_chance_has_no_normal_quantile():
    assert math.isnan(normal_quantile(1.5))
    assert math.isnan(normal_quantile(-0.1))


@pytest.mark.parametrize("p", CHANCES)
def test_one_degree_of_freedom_is_the_cauchy(p):
    """Its quantile is tan(pi (p - 1/2)) = -1/tan(pi p)."""
    exact = -1 / math.tan(math.pi * p) if p < 0.5 else 1 / math.tan(math.pi * (1 - p))

    assert t_quantile(1, p) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("p", CHANCES)
def test_t_quantile_and_its_distribution(df, p):
    found = t_quantile(df, p)

    assert found == pytest.approx(float(special.stdtrit(df, p)), rel=1e-9, abs=1e-12)
    assert t_cdf(df, found) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("t", [-math.inf, -1e200, -30.0, -1.5, 0.0, 1e-200, 2.0, 40.0, math.inf])
def test_t_cdf(t):
    assert t_cdf(7, t) == pytest.approx(float(special.stdtr(7, t)), rel=1e-10)


@pytest.mark.parametrize("df1", [0.1, 1, 4, 99, 4_999, 99_999])
@pytest.mark.parametrize("df2", [0.1, 1, 9, 450, 95_000])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_f_quantile(df1, df2, p):
    assert f_quantile(df1, df2, p) == pytest.approx(float(special.fdtri(df1, df2, p)), rel=1e-9)


@settings(max_examples=300)
@given(
    a=st.floats(-3, 8).map(lambda e: 10**e),
    b=st.floats(-3, 8).map(lambda e: 10**e),
    tail=st.floats(-12, -0.302).map(lambda e: 10**e),
    upper=st.booleans(),
)
@example(a=1.549, b=67_968.9, tail=2.37e-12, upper=True)
@example(a=0.25, b=1e8, tail=1e-12, upper=False)
@example(a=1e8, b=0.25, tail=1e-12, upper=True)
@example(a=0.001, b=0.001, tail=0.49, upper=False)
def test_beta_quantile_over_its_range(a, b, tail, upper):
    """By SciPy's own quantile, or by the tail that it leaves, where SciPy's inverse is the worse.

    Within 1e-8 of 1 the quantile's own digits end, and only that it lies there is held.
    """
    p = 1 - tail if upper else tail
    found, expected = beta_quantile(a, b, p), float(special.betaincinv(a, b, p))

    if expected > 1 - 1e-8 or found > 1 - 1e-8:
        assert min(found, expected) > 1 - 1e-7
        return
    left = special.betaincc(a, b, found) if upper else special.betainc(a, b, found)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-300) or left == pytest.approx(
        1 - p if upper else p, rel=1e-6
    )


@pytest.mark.parametrize("p", CHANCES)
def test_a_beta_with_one_parameter_one_is_a_power(p):
    """I_x(a, 1) = x^a, so the quantile is p^(1/a), however small: the bound for no flips."""
    for a in (0.05, 1.0, 59.0):
        assert beta_quantile(a, 1, p) == pytest.approx(p ** (1 / a), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1, 30), (3, 98), (0.5, 40.5), (7.3, 1_000.2), (5e4, 2e5)])
@pytest.mark.parametrize("p", [0.025, 0.05, 0.975])
def test_clopper_pearson_bounds(a, b, p):
    assert beta_quantile(a, b, p) == pytest.approx(float(special.betaincinv(a, b, p)), rel=1e-10)


def test_what_an_interval_asks_does_not_import_scipy():
    code = (
        "import sys; from judgeaudit.stats.quantiles import *; "
        "normal_quantile(.975), t_quantile(29, .975), t_cdf(29, 2.), f_quantile(29, 60, .025), "
        "beta_quantile(.4, 30, .025); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout.strip() == "False", done.stderr
