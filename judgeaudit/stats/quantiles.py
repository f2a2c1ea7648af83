"""Quantiles and tails of the normal, t, F and beta distributions, for one interval at a time.

`scipy.special` has them all, and takes a third of a second of CPU to import: half of what reading
and analysing a table of 100,000 scores takes. For the arguments that intervals have (`_ordinary`)
they are computed here, to ten digits and more; a test compares with SciPy over that whole range.
Any other argument goes to SciPy, and so do arrays, elsewhere.

Rules of this module:

* All but the normal rest on the regularised incomplete beta function I_x(a, b), by its continued
  fraction (DLMF 8.17.22, evaluated as Lentz does), with x^a y^b / B(a, b) by Loader's saddle-point
  expansion (2000), which loses no digits for large a and b.
* It is inverted on the logit of x, where x and y = 1 - x keep their digits at both ends, by Newton
  steps on the log of the smaller tail inside a bracket. The derivative of I in the logit is
  x^a y^b / B(a, b) itself. The bracket stays where exp neither overflows nor gives 0.
"""

import math
from functools import lru_cache

_STEPS, _TERMS, _REACH = 200, 200_000, 700.0
_LEAST, _MOST, _TAIL = 0.25, 2e6, 1e-12
_SMALLEST = 1e-300


def normal_cdf(x: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile; -inf and inf at 0 and 1, nan outside.

    Abramowitz & Stegun 26.2.23 (error below 4.5e-4), then Halley's steps on `erfc`.
    """
    if not 1e-290 < p < 1:
        from scipy.special import ndtri

        return float(ndtri(p))
    if p > 0.5:
        return -normal_quantile(1 - p)
    t = math.sqrt(-2 * math.log(p))
    x = (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    ) - t
    for _ in range(3):
        step = (normal_cdf(x) - p) * math.sqrt(2 * math.pi) * math.exp(x * x / 2)
        x -= step / (1 + x * step / 2)
    return x


def t_cdf(df: float, t: float) -> float:
    """Return P(T <= t) of Student's t with `df` degrees of freedom."""
    if not (_ordinary(df / 2, 0.5, 0.5) and 1e-100 < abs(t) < 1e100):
        from scipy.special import stdtr

        return float(stdtr(df, t))
    whole = df + t * t
    x, y = df / whole, t * t / whole
    tail = _beta_tails(df / 2, 0.5, x, y, _power_terms(df / 2, 0.5, x, y))[0] / 2
    return 1 - tail if t > 0 else tail


def _ordinary(a: float, b: float, p: float) -> bool:
    """Return whether I_x(a, b) = p is inverted here: what an interval can ask, and no corner."""
    return _LEAST <= a <= _MOST and _LEAST <= b <= _MOST and _TAIL <= p <= 1 - _TAIL


@lru_cache(maxsize=4096)
def t_quantile(df: float, p: float) -> float:
    """Return the quantile of Student's t with `df` degrees of freedom, 0 < p < 1."""
    if not _ordinary(df / 2, 0.5, p) or abs(p - 0.5) < _TAIL:
        from scipy.special import stdtrit

        return float(stdtrit(df, p))
    tail, centre = (p, 1 - 2 * p) if p < 0.5 else (1 - p, 2 * p - 1)
    logit = _beta_logit(df / 2, 0.5, 2 * tail, centre)  # of df / (df + t^2)
    return math.copysign(math.sqrt(df) * math.exp(-logit / 2), p - 0.5)


@lru_cache(maxsize=4096)
def f_quantile(df1: float, df2: float, p: float) -> float:
    """Return the quantile of F with `df1` and `df2` degrees of freedom, 0 < p < 1."""
    if not _ordinary(df1 / 2, df2 / 2, p):
        from scipy.special import fdtri

        return float(fdtri(df1, df2, p))
    return df2 / df1 * math.exp(_beta_logit(df1 / 2, df2 / 2, p, 1 - p))


@lru_cache(maxsize=4096)
def beta_quantile(a: float, b: float, p: float) -> float:
    """Return the quantile of the beta distribution with parameters a, b > 0, 0 < p < 1."""
    if not _ordinary(a, b, p):
        from scipy.special import betaincinv

        return float(betaincinv(a, b, p))
    return 1 / (1 + math.exp(-_beta_logit(a, b, p, 1 - p)))


def _beta_logit(a: float, b: float, lower: float, upper: float) -> float:
    """Return log(x / y) at which I_x(a, b) is `lower`, given with `upper` = 1 - lower."""
    low, high = -_REACH, _REACH
    logit = min(max(math.log(a / b), low), high)
    for _ in range(_STEPS):
        x, y = 1 / (1 + math.exp(-logit)), 1 / (1 + math.exp(logit))
        power = _power_terms(a, b, x, y)
        below, above = _beta_tails(a, b, x, y, power)
        # Compared where digits are: one less a tail of 1e-12 has four of them.
        is_left = below < lower if lower <= upper else above > upper
        low, high = (logit, high) if is_left else (low, logit)
        slope = max(power, _SMALLEST)
        if lower <= upper:
            step = -below / slope * math.log(max(below, _SMALLEST) / lower)
        else:
            step = above / slope * math.log(max(above, _SMALLEST) / upper)
        after = logit + step
        if not low < after < high or min(below, above) < _SMALLEST:
            after = (low + high) / 2
        if abs(after - logit) <= 4e-16 * max(1.0, abs(logit)):
            return after
        logit = after
    return logit


def _beta_tails(a: float, b: float, x: float, y: float, power: float) -> tuple[float, float]:
    """Return I_x(a, b) and 1 - I_x(a, b), the smaller with its digits.

    y = 1 - x, and `power` is x^a y^b / B(a, b).
    """
    if x * (a + b + 2) < a + 1:
        lower = power * _fraction(a, b, x) / a
        return lower, 1 - lower
    upper = power * _fraction(b, a, y) / b
    return 1 - upper, upper


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of a B(a, b) I_x(a, b) / (x^a y^b)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / (1 + even * d), 1 + even / c
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + odd * d), 1 + odd / c
        found *= d * c
        if abs(d * c - 1) < 3e-16:
            break
    return found


def _power_terms(a: float, b: float, x: float, y: float) -> float:
    """Return x^a y^b / B(a, b) (Loader 2000: binomial probabilities by saddle point)."""
    if x <= 0 or y <= 0:
        return 0.0
    n = a + b
    error = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent = error - _deviance(a, n * x) - _deviance(b, n * y)
    return math.exp(max(exponent, -_REACH)) * math.sqrt(a * b / (2 * math.pi * n))


def _stirling_error(z: float) -> float:
    """Return log gamma(z + 1) - [(z + 1/2) log z - z + log(2 pi)/2]."""
    if z <= 15:
        return math.lgamma(z + 1) - (z + 0.5) * math.log(z) + z - 0.5 * math.log(2 * math.pi)
    square = z * z
    series = 1 / 1680 - (1 / 1188) / square
    series = 1 / 1260 - series / square
    return (1 / 12 - (1 / 360 - series / square) / square) / z


def _deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x, without cancellation where they are near."""
    distance = x - mean
    if abs(distance) > 0.1 * (x + mean):
        return x * math.log(x / mean) - distance
    ratio = distance / (x + mean)
    total, term = distance * ratio, 2 * x * ratio
    for j in range(3, 200, 2):
        term *= ratio * ratio
        before, total = total, total + term / j
        if total == before:
            break
    return total
