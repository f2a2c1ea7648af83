"""How many items, repeats or worlds a claim needs, and how often a plan would reach it.

Each function names the bound it plans for. `alpha` is the error of one side; a claim is
reached when its one-sided bound clears the threshold or margin. Closed forms are exact
or say "normal approximation"; simulated ones take `rng`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]


def upper_quantile(alpha: float) -> float:
    """Z exceeded with chance `alpha`: 1.645 at .05. Raises `InputError` outside (0, 1).

    Parameters
    ----------
    alpha : float
        Chance in (0, 1).

    Returns
    -------
    float
    """
    if not 0 < alpha < 1:
        raise InputError("power", "alpha", f"{alpha!r}", "give a chance between 0 and 1")
    return float(-special.ndtri(alpha))


def icc_power(
    icc: float, threshold: float, items: int, repeats: int, *, alpha: float = 0.05
) -> float:
    """Chance that the lower bound of ICC(1,1) reaches `threshold` (exact for normal scores).

    F = (1 + (k - 1) rho)/(1 - rho); the observed ratio over F has an F distribution with
    n - 1 and n (k - 1) degrees of freedom. Heteroscedastic judges need more.

    Parameters
    ----------
    icc : float
        True ICC(1,1), in (0, 1).
    threshold : float
        Value that the lower bound must reach.
    items, repeats : int
        Items n and scores k an item.
    alpha : float
        One-sided error.

    Returns
    -------
    float in [0, 1].
    """
    if not (items > 1 and repeats > 1 and icc < 1 and threshold < 1):
        raise InputError(
            "power", "ICC", f"{icc!r}, {items} x {repeats}", "give >= 2 items, repeats"
        )
    df1, df2 = items - 1, items * (repeats - 1)
    critical = float(special.fdtri(df1, df2, 1 - alpha))
    ratio = _f_ratio(threshold, repeats) / _f_ratio(icc, repeats)
    return float(special.fdtrc(df1, df2, critical * ratio))


def _f_ratio(icc: float, repeats: int) -> float:
    return (1 + (repeats - 1) * icc) / (1 - icc)


def items_for_icc(
    icc: float,
    threshold: float,
    repeats: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    most: int = 100_000,
) -> int | Undefined:
    """Fewest items at which `icc_power` reaches `power`.

    Parameters
    ----------
    icc, threshold, repeats, alpha : as in `icc_power`.
    power : float
        Chance that is wanted.
    most : int
        Largest number of items that is tried.

    Returns
    -------
    int, or Undefined with the reason.
    """
    if icc <= threshold:
        return Undefined("the true ICC does not exceed the threshold")
    low, high = 2, most
    if icc_power(icc, threshold, high, repeats, alpha=alpha) < power:
        return Undefined(f"needs more than {most} items")
    while low < high:
        middle = (low + high) // 2
        enough = icc_power(icc, threshold, middle, repeats, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def correlated_answers(
    chances: tuple[float, ...],
    worlds: int,
    runs: int,
    *,
    rng: np.random.Generator,
    correlation: float = 0.0,
) -> NDArray[np.bool_]:
    """Simulate answers, runs x worlds x arms, each arm 1 with its own chance.

    `correlation` is that of the latent normal variable which the arms of a world share.

    Parameters
    ----------
    chances : tuple of float, one an arm
        Chance of a 1.
    worlds, runs : int
        Worlds in a study, and number of studies.
    rng : numpy Generator
        Draws the answers.
    correlation : float
        Correlation of the arms of a world, on the latent normal scale.

    Returns
    -------
    array of bool, shape (runs, worlds, arms).
    """
    if not 0 <= correlation <= 1:
        raise InputError("power", "correlation", f"{correlation!r}", "give it in [0, 1]")
    own = rng.standard_normal((runs, worlds, len(chances)))
    shared = rng.standard_normal((runs, worlds, 1))
    latent = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
    return np.asarray(latent < special.ndtri(np.asarray(chances)))


def worlds_for_margin(
    effect: float, margin: float, variance: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | Undefined:
    """Worlds at which the lower bound of an effect clears a margin (normal approximation).

    n = ((z_{1-alpha} + z_{power})/(effect - margin))² v, v the variance of the contrast in
    one world, (b + c)/n - RD² for a paired difference.

    Parameters
    ----------
    effect, margin : float
        True effect, and the margin that its lower bound must clear.
    variance : float
        Variance of the contrast in one world.
    alpha : float
        One-sided error.
    power : float
        Chance that is wanted.

    Returns
    -------
    int, or Undefined if the effect does not exceed the margin.
    """
    if effect <= margin:
        return Undefined("the effect does not exceed the margin")
    z = upper_quantile(alpha) + upper_quantile(1 - power)
    return math.ceil((z / (effect - margin)) ** 2 * variance)
