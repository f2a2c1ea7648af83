"""Several claims at once: when to correct, and how.

* "All endpoints pass" is an intersection-union test: each claim at alpha, no
  correction, because the conclusion is wrong only if every false claim passes.
* "Endpoint X fails", "these endpoints carry the effect", "any endpoint improved":
  Holm over the endpoints.
* Several thresholds on one endpoint are nested and need none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgeaudit.errors import InputError


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, float)
    if p.ndim != 1 or not p.size or not np.all((p >= 0) & (p <= 1)):
        raise InputError("p values", "", f"{p_values!r}", "give a vector of numbers in [0, 1]")
    return p


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p values by Holm's step-down rule (Holm 1979), in the order given.

    The i-th smallest of m is multiplied by m - i + 1 and made no smaller than the one
    before; a claim holds at familywise alpha when its adjusted value is <= alpha.

    Parameters
    ----------
    p_values : array, shape (m,)
        P values in [0, 1].

    Returns
    -------
    array, shape (m,), in the same order.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def intersection_union(p_values: ArrayLike) -> float:
    """P value of "every claim holds": the largest one, without correction (Berger 1982).

    Parameters
    ----------
    p_values : array, shape (m,)
        P values in [0, 1].

    Returns
    -------
    float

    References
    ----------
    Berger (1982), Technometrics 24, 295-300.
    """
    return float(_checked(p_values).max())
