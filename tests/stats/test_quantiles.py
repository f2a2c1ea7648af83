"""Quantiles and tails against `scipy.special`, over what intervals ask of them and far beyond."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from judgeaudit.analysis.stats.quantiles import (
    beta_quantile,
    f_quantile,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

CHANCES = [1e-8, 0.001, 0.025, 0.05, 0.3, 0.5, 0.7, 0.95, 0.975, 0.999]
DEGREES = [1, 2, 3.5, 9, 29, 499, 4_999, 49_998, 499_999]

chances = st.floats(1e-6, 1 - 1e-6)
sizes = st.floats(0.05, 1e5)


@pytest.mark.parametrize("p", [1e-300, *CHANCES])
def test_normal_quantile(p):
    assert normal_quantile(p) == pytest.approx(float(special.ndtri(p)), rel=1e-12, abs=1e-15)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-10)


def test_the_ends_of_the_normal():
    assert normal_quantile(0) == -math.inf
    assert normal_quantile(1) == math.inf
    assert math.isnan(normal_quantile(1.5))


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("p", CHANCES)
def test_t_quantile(df, p):
    """At df = 1 the quantile is tan(pi (p - 1/2)): an origin that is not scipy's."""
    found = t_quantile(df, p)

    if df == 1:
        assert found == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-8, abs=1e-12)
    assert found == pytest.approx(float(special.stdtrit(df, p)), rel=1e-10, abs=1e-12)
    assert t_cdf(df, found) == pytest.approx(p, rel=1e-10)


@pytest.mark.parametrize("t", [-math.inf, -30.0, -1.5, 0.0, 2.0, 40.0, math.inf])
def test_t_cdf(t):
    assert t_cdf(7, t) == pytest.approx(float(special.stdtr(7, t)), rel=1e-10)


@pytest.mark.parametrize("df1", [1, 4, 99, 4_999, 99_999])
@pytest.mark.parametrize("df2", [1, 9, 450, 95_000])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_f_quantile(df1, df2, p):
    assert f_quantile(df1, df2, p) == pytest.approx(float(special.fdtri(df1, df2, p)), rel=1e-9)


@given(a=sizes, b=sizes, p=chances)
def test_beta_quantile(a, b, p):
    """Held by its tail, which is what coverage rests on, and by scipy's where that is in range."""
    found = beta_quantile(a, b, p)

    if 1e-250 < found < 1 - 1e-9:
        assert float(special.betainc(a, b, found)) == pytest.approx(p, rel=1e-8)


@pytest.mark.parametrize(("a", "b"), [(1, 30), (3, 98), (0.5, 40.5), (7.3, 1_000.2), (5e4, 2e5)])
@pytest.mark.parametrize("p", [0.025, 0.05, 0.975])
def test_clopper_pearson_bounds(a, b, p):
    """For a = 1 the quantile is 1 - (1 - p)^(1/b)."""
    found = beta_quantile(a, b, p)

    if a == 1:
        assert found == pytest.approx(-math.expm1(math.log1p(-p) / b), rel=1e-12)
    assert found == pytest.approx(float(special.betaincinv(a, b, p)), rel=1e-10)
