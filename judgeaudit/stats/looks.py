"""Planned looks: a gate on a statistic that is no mean may stop early.

For the hypotheses "at most T" and "at least T", with error alpha per side:
z = (atanh r - atanh T)/SE behaves like Brownian motion at the planned information times, and
bounds of O'Brien & Fleming (1979) or Pocock (1977) hold the chance of ever crossing at alpha.
Looks are registered, not chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from judgeaudit.errors import InputError

Floats = NDArray[np.float64]
Shape = Literal["obf", "pocock"]

NODES = 200  # quadrature nodes a look; the constants are then exact to about 1e-8
FLOOR = 9.0  # a standard normal below -9 has no mass that matters


def crossing_probability(times: ArrayLike, bounds: ArrayLike) -> float:
    """Chance that Brownian z values ever exceed their bounds at the given times.

    `times` are increasing information fractions, `bounds` the limits of z there; the
    density of the walk that has not crossed is carried from look to look by
    Gauss-Legendre quadrature (Armitage, McPherson & Rowe 1969).

    Parameters
    ----------
    times : array, shape (looks,)
        Increasing positive information times; the last one counts as 1.
    bounds : array, shape (looks,)
        Limit of z at each look.

    Returns
    -------
    float in [0, 1].

    References
    ----------
    Armitage, McPherson & Rowe (1969), JRSS A 132, 235-244.
    """
    t, limit = _checked_times(times), np.asarray(bounds, float)
    x, w = _quadrature()
    inside = np.ones(1)  # probability carried by each node of the look before
    position, before = np.zeros(1), 0.0
    crossed = 0.0
    for now, z in zip(t, limit, strict=True):
        top, step = z * math.sqrt(now), math.sqrt(now - before)
        crossed += float(inside @ special.ndtr((position - top) / step))
        bottom = -FLOOR * math.sqrt(now)
        nodes = (top - bottom) / 2 * x + (top + bottom) / 2
        weights = (top - bottom) / 2 * w
        jump = (nodes - position[:, None]) / step
        density = np.exp(-0.5 * jump**2) / (step * math.sqrt(2 * math.pi))
        inside, position, before = (inside @ density) * weights, nodes, float(now)
    return crossed


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    x, w = np.polynomial.legendre.leggauss(NODES)
    return np.asarray(x, float), np.asarray(w, float)


def _checked_times(times: ArrayLike) -> Floats:
    t = np.asarray(times, float)
    if t.ndim != 1 or not t.size or t[0] <= 0 or np.any(np.diff(t) <= 0):
        raise InputError("looks", "times", f"{times!r}", "give increasing positive times")
    return np.asarray(t / t[-1])


@lru_cache(maxsize=128)
def _constant(times: tuple[float, ...], alpha: float, shape: Shape) -> float:
    scale = _shape(np.asarray(times), shape)

    def excess(c: float) -> float:
        return crossing_probability(times, c * scale) - alpha

    return float(optimize.brentq(excess, 0.01, 8.0, xtol=1e-10))


def _shape(times: Floats, shape: Shape) -> Floats:
    """Bound at each look in units of the constant: 1/sqrt(t) for OBF, 1 for Pocock."""
    if shape == "obf":
        return np.asarray(1.0 / np.sqrt(times))
    if shape == "pocock":
        return np.ones_like(times)
    raise InputError("looks", "bound", f"{shape!r}", "use obf or pocock")


@dataclass(frozen=True, slots=True)
class PlannedLooks:
    """Looks at registered numbers of items with bounds on |z|, `alpha` per side."""

    items: tuple[int, ...]
    bounds: tuple[float, ...]
    alpha: float
    shape: Shape

    def decide(self, look: int, z: float) -> Literal["pass", "fail", "inconclusive"] | None:
        """Decide at `look` (0, 1, ...) from z; None is "go on", a NaN z decides nothing.

        z = (atanh r - atanh T)/SE. At the last look what has not crossed is inconclusive.
        """
        if not 0 <= look < len(self.items):
            raise InputError("looks", "look", f"{look}", f"planned are 0 to {len(self.items) - 1}")
        if z >= self.bounds[look]:
            return "pass"
        if z <= -self.bounds[look]:
            return "fail"
        return "inconclusive" if look == len(self.items) - 1 else None


def plan_looks(items: ArrayLike, alpha: float = 0.05, shape: Shape = "obf") -> PlannedLooks:
    """Plan looks after the given increasing numbers of items, error `alpha` per side.

    Each side's bound holds by itself; stopping at the other side only lowers the error.

    Parameters
    ----------
    items : array of int, shape (looks,)
        Increasing numbers of items after which the gate looks.
    alpha : float
        Chance of a wrong decision on each side, in (0, 1/2).
    shape : "obf" or "pocock"
        Bounds of O'Brien & Fleming (1979) or of Pocock (1977).

    Returns
    -------
    PlannedLooks

    References
    ----------
    O'Brien & Fleming (1979), Biometrics 35, 549-556; Pocock (1977), Biometrika 64, 191-199.
    """
    planned = np.asarray(items, float)
    t = _checked_times(planned)
    if not 0 < alpha < 0.5:
        raise InputError("looks", "alpha", f"{alpha!r}", "give an alpha between 0 and .5")
    bounds = _constant(tuple(float(v) for v in t), alpha, shape) * _shape(t, shape)
    return PlannedLooks(
        tuple(int(n) for n in planned), tuple(float(b) for b in bounds), alpha, shape
    )


def z_at_look(value: float, se: float, threshold: float, df: float) -> float:
    """Z statistic of a look: (value - threshold)/se as a t with `df`, mapped to the normal.

    Value, standard error and threshold on one scale, atanh for Spearman. NaN without a
    standard error, which decides nothing.

    Parameters
    ----------
    value, se, threshold : float
        Estimate, its standard error and the threshold, on one scale.
    df : float
        Degrees of freedom of the standard error.

    Returns
    -------
    float; nan without a standard error.
    """
    if not se > 0:
        return math.nan
    t = (value - threshold) / se
    # The nearer tail keeps its digits; 1 - 1e-20 would not.
    tail = float(special.ndtri(special.stdtr(df, -abs(t))))
    return math.copysign(tail, t)
