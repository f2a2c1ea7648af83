"""One tolerance for "the same score", used before any statistic looks at scores.

.3 and .1 + .2 are two numbers in floating point and one score to everybody else. If ranks take them
as equal and agreement does not, one table gives Spearman 1.000 beside alpha .610.

Rule: sorted scores closer than 1e-9 of the largest absolute score (and of 1e-300) to their
neighbour are one score, and all get the smallest value of their group. Nothing else is changed.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TOLERANCE = 1e-9


def settle(scores: Floats) -> Floats:
    """Return `scores` with values that differ by rounding alone made equal.

    Parameters
    ----------
    scores : array of any shape
        Scores in scale units; nan stays nan.

    Returns
    -------
    array of the same shape; `scores` itself where nothing had to be changed.
    """
    values = np.unique(scores[~np.isnan(scores)])
    if values.size < 2:
        return scores
    same = np.diff(values) <= TOLERANCE * float(np.abs(values).max())
    if not same.any():
        return scores
    group = np.concatenate([[0], np.cumsum(~same)])
    first = values[np.concatenate([[True], ~same])]
    found = scores.copy()
    there = ~np.isnan(scores)
    found[there] = first[group[np.searchsorted(values, scores[there])]]
    return found
