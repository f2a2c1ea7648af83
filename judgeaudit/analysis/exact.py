"""Rank statistics as rationals, so that a threshold decides as the decimal that was written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Number = Fraction | float

MOST_FOR_LISTING = 7
"""Up to this many candidates the attainable values of Spearman are listed."""


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> Number | None:
    """Return mid-rank Spearman: a rational where it is one, None where a side is constant.

    With u, v the doubled centred mid-ranks, whole numbers, it is S / sqrt(Du Dv), S = sum u v,
    Du = sum u^2; rational where Du Dv is a square, as without ties.
    """
    u, v = _doubled_ranks(x), _doubled_ranks(y)
    product = int((u * u).sum()) * int((v * v).sum())
    if product == 0:
        return None
    dot, root = int((u * v).sum()), math.isqrt(product)
    return Fraction(dot, root) if root * root == product else dot / math.sqrt(product)


def _doubled_ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1 - (values.size + 1))[codes], dtype=np.int64)


def median(values: Sequence[Number]) -> Number:
    """Return the median, a rational where the one or two middle values are rationals."""
    ordered = sorted(values)
    size = len(ordered)
    low, high = ordered[(size - 1) // 2], ordered[size // 2]
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        return (low + high) / 2
    return (float(low) + float(high)) / 2


def as_exact(value: Number | None) -> Fraction | None:
    """Return `value` if it is a rational."""
    return value if isinstance(value, Fraction) else None


@lru_cache
def attainable_spearman(candidates: int) -> tuple[Fraction, ...]:
    """Return the values that Spearman can take between two untied orders of `candidates`.

    With 4 candidates these are 0, +-.2, ... +-1, so a threshold of .90 asks for the same order.
    Empty above 7 candidates, where the grid no longer matters.
    """
    if not 2 <= candidates <= MOST_FOR_LISTING:
        return ()
    base = range(candidates)
    scale = candidates * (candidates**2 - 1)
    sums = {
        sum((a - b) ** 2 for a, b in zip(base, other, strict=True)) for other in permutations(base)
    }
    return tuple(sorted(1 - Fraction(6 * total, scale) for total in sums))


def exact_mean(numerators: NDArray[np.int64], denominators: NDArray[np.int64]) -> Fraction | None:
    """Return the mean over rows of numerator / denominator, rows with denominator 0 left out."""
    used = denominators > 0
    if not used.any():
        return None
    total = Fraction(0)
    for denominator in np.unique(denominators[used]):
        rows = denominators == denominator
        total += Fraction(int(numerators[rows].sum()), int(denominator))
    return total / int(used.sum())
