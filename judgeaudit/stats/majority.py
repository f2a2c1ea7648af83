"""A majority of repeats against a single reading: what the flip rate bounds, and what was seen.

For one item whose categories come with chances p_1, p_2, ..., two readings differ with chance
f = 1 - sum p_c^2, and one reading differs from the likeliest category with chance 1 - max p_c.

Rules of this module:

* 1 - max p <= f, with equality where m categories are equally likely.
* 1 - max p >= 1 - (1 + sqrt((q - 1)(q (1 - f) - 1)))/q for q categories: one likely category and
  the others alike. For two categories both are (1 - sqrt(1 - 2 f))/2 to f.
* Both bounds hold for the means over items, since the lower is convex in f and the upper linear.
  With more than two categories nothing stops at one half.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def majority_bounds(flip_rate: float, categories: int) -> tuple[float, float]:
    """Return the least and greatest chance that one reading differs from its item's majority.

    Parameters
    ----------
    flip_rate : float
        Mean chance that two readings of an item differ.
    categories : int
        Number q of declared categories, at least 2.

    Returns
    -------
    (low, high): chances that a reading differs from the majority of very many readings.
    """
    q = categories
    inside = max((q - 1) * (q * (1 - flip_rate) - 1), 0.0)
    return 1 - (1 + math.sqrt(inside)) / q, flip_rate
