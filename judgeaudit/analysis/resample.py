"""A bootstrap over clusters for statistics that have no analytic interval, such as quantiles.

Whole clusters are drawn with replacement, each with all its rows; the interval is the percentile
one. Resamples in which the statistic is undefined are left out and counted; above 1 % of them there
is no interval.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Interval, Undefined

Ints = NDArray[np.int64]
RESAMPLES = 2_000
MIN_CLUSTERS = 8
UNDEFINED_ALLOWED = 0.01


def cluster_interval(
    statistic: Callable[[Ints], float],
    clusters: Ints,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    unit: str = "item",
) -> Interval | Undefined:
    """Return the percentile interval of `statistic`, a function of the chosen rows' positions.

    `clusters` holds one code a row. Fewer than 8 clusters get no interval: their percentile
    intervals are known to be too short.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    count = int(codes.max()) + 1 if codes.size else 0
    if count < MIN_CLUSTERS:
        return Undefined(f"fewer than {MIN_CLUSTERS} clusters")
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(count + 1))
    members = [order[starts[c] : starts[c + 1]] for c in range(count)]
    drawn = rng.integers(0, count, (resamples, count))
    values = np.array([statistic(np.concatenate([members[c] for c in row])) for row in drawn])
    defined = values[np.isfinite(values)]
    if defined.size < resamples * (1 - UNDEFINED_ALLOWED):
        return Undefined(f"undefined in {resamples - defined.size} of {resamples} resamples")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, f"{unit} bootstrap, percentile")
