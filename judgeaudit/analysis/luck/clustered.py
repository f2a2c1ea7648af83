"""Worlds that belong together: the cluster (a setting, a domain) is the unit.

A registration that speaks of *settings like these* counts settings, not worlds: with effects that
differ by setting, an interval over worlds is too narrow for them. Each cluster gives one number,
the mean of its worlds, and t runs over clusters; the estimate then weighs settings alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEW = 10


def cluster_means(d: Floats, clusters: Sequence[str]) -> Floats:
    """Return the mean of each cluster's worlds that have a value, in order of first appearance."""
    means = by_cluster(d[None], clusters)[0]
    return np.asarray(means[~np.isnan(means)])


def by_cluster(d: Floats, clusters: Sequence[str]) -> Floats:
    """Return endpoints x clusters from endpoints x worlds, nan where a cluster has no value."""
    names = np.asarray(clusters)
    columns = []
    for name in dict.fromkeys(clusters):
        part = d[:, names == name]
        seen = ~np.isnan(part)
        count = seen.sum(axis=1)
        mean = np.nansum(part, axis=1) / np.maximum(count, 1)
        columns.append(np.where(count > 0, mean, np.nan))
    return np.stack(columns, axis=1)
