"""Quantiles against closed forms and against the distribution functions that they invert."""

import math

import pytest
from scipy import special

from judgeaudit.analysis.stats.quantiles import (
    beta_quantile,
    f_quantile,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

CHANCES = [0.001, 0.025, 0.3, 0.5, 0.975]


def test_the_ends_of_the_normal():
    assert normal_quantile(0) == -math.inf
    assert normal_quantile(1) == math.inf
    assert math.isnan(normal_quantile(1.5))


@pytest.mark.parametrize("p", CHANCES)
def test_one_degree_of_freedom_is_the_cauchy(p):
    """Its quantile is tan(pi (p - 1/2))."""
    assert t_quantile(1, p) == pytest.approx(math.tan(math.pi * (p - 0.5)), abs=1e-9)


@pytest.mark.parametrize("p", CHANCES)
def test_quantiles_invert_their_distributions(p):
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p)
    assert t_cdf(7.5, t_quantile(7.5, p)) == pytest.approx(p)
    assert special.fdtr(4, 450, f_quantile(4, 450, p)) == pytest.approx(p)
    assert special.betainc(2, 9, beta_quantile(2, 9, p)) == pytest.approx(p)


@pytest.mark.parametrize("p", CHANCES)
def test_a_beta_with_one_parameter_one_is_a_power(p):
    """I_x(a, 1) = x^a, so the quantile is p^(1/a), however small: the bound for no flips."""
    for a in (0.05, 1.0, 59.0):
        assert beta_quantile(a, 1, p) == pytest.approx(p ** (1 / a), rel=1e-9)
