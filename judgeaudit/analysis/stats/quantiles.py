"""Quantiles and tails of the normal, t, F and beta distributions, for one interval at a time.

All are `scipy.special`'s; it is imported on the first use, since it takes a third of a second and
a command that needs no interval should not pay for it. Arrays of them come from there directly.
"""

from functools import lru_cache


@lru_cache(maxsize=4096)
def normal_cdf(x: float) -> float:
    """Return the standard normal distribution function."""
    from scipy.special import ndtr

    return float(ndtr(x))


@lru_cache(maxsize=4096)
def normal_quantile(p: float) -> float:
    """Return the standard normal quantile; -inf and inf at 0 and 1, nan outside."""
    from scipy.special import ndtri

    return float(ndtri(p))


@lru_cache(maxsize=4096)
def t_cdf(df: float, t: float) -> float:
    """Return P(T <= t) of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtr

    return float(stdtr(df, t))


@lru_cache(maxsize=4096)
def t_quantile(df: float, p: float) -> float:
    """Return the quantile of Student's t with `df` degrees of freedom, 0 < p < 1."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


@lru_cache(maxsize=4096)
def f_quantile(df1: float, df2: float, p: float) -> float:
    """Return the quantile of F with `df1` and `df2` degrees of freedom, 0 < p < 1."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, p))


@lru_cache(maxsize=4096)
def beta_quantile(a: float, b: float, p: float) -> float:
    """Return the quantile of the beta distribution with parameters a, b > 0, 0 < p < 1."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))
