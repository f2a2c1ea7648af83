"""A contrast of several endpoints on the same worlds made one, also where events are rare.

Two targets, "these endpoints" and "endpoints like these", as in `stats.pooling`. Where fewer than
ten worlds have a contrast unlike 0 at any endpoint, two pseudo-worlds at +1 and -1 enter the
variance as they do at one endpoint: a row of zeros claims no certainty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.luck.skew import skewness, widen
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.pooling import (
    Pooled,
    endpoints_like_these,
    t_interval,
    these_endpoints,
)

Floats = NDArray[np.float64]
Target = Literal["these", "like"]
RARE = 10

TARGETS: Mapping[Target, str] = {"these": "these endpoints", "like": "endpoints like these"}


def pooled(d: Floats, target: Target, level: float = 0.95) -> Pooled | Undefined:
    """Return the mean effect over endpoints; `d` is endpoints x worlds, nan where missing.

    "these": t over worlds, widened for skew. "like": two-way variance of endpoints and worlds,
    t(E - 1), over the worlds that have a value at each endpoint.
    """
    if target == "these":
        found = these_endpoints(d.T, level)
        if isinstance(found, Undefined):
            return found
        found, worlds = _with_rare(found, d, level, None), d[:, ~np.isnan(d).all(axis=0)]
        gamma = skewness(by_world(worlds))
        return replace(found, interval=widen(found.interval, found.se, gamma, worlds.shape[1]))
    whole = d[:, ~np.isnan(d).any(axis=0)]
    found = endpoints_like_these(whole.T, level)
    return found if isinstance(found, Undefined) else _with_rare(found, whole, level, d.shape[0])


def by_world(d: Floats) -> Floats:
    """Return what each world contributes to the mean over endpoints; without gaps its own mean."""
    seen = ~np.isnan(d)
    means = np.nanmean(d, axis=1, keepdims=True)
    shares = np.where(seen, d - means, 0.0) / seen.sum(axis=1, keepdims=True)
    return np.asarray(means.mean() + shares.mean(axis=0) * d.shape[1], dtype=np.float64)


def _with_rare(found: Pooled, d: Floats, level: float, endpoints: int | None) -> Pooled:
    """Widen an interval that rests on fewer than ten worlds with an event.

    t has as many degrees of freedom as endpoints, where they are drawn, or worlds, less one.
    """
    seen = ~np.isnan(d).all(axis=0)
    eventful = int((np.nan_to_num(d) != 0).any(axis=0).sum())
    if eventful >= RARE:
        return found
    worlds = int(seen.sum())
    centre, se = with_pseudo_worlds(found.value, found.se, worlds)
    # Over a population of endpoints the endpoints' own spread may be the larger.
    se = max(se, found.se)
    method = f"{found.interval.method}, two pseudo-worlds"
    interval = t_interval(centre, se, (endpoints or worlds) - 1, level, method)
    return replace(found, se=se, interval=interval)


def with_pseudo_worlds(value: float, se: float, worlds: int) -> tuple[float, float]:
    """Return centre and standard error after two worlds at +1 and -1 joined `worlds` others.

    From the mean and its standard error alone: sum of squares (W - 1) W se² + W value² + 2.
    """
    n = worlds + 2
    centre = worlds * value / n
    squares = (worlds - 1) * worlds * se**2 + worlds * value**2 + 2
    return centre, math.sqrt((squares - n * centre**2) / (n - 1) / n)


def without_each(d: Floats, endpoints: tuple[str, ...], target: Target, level: float) -> object:
    """Return the pool without each endpoint: {endpoint: [value, low, high]}, where there is one."""
    found: dict[str, list[float]] = {}
    for e, name in enumerate(endpoints):
        rest = pooled(np.delete(d, e, axis=0), target, level)
        if isinstance(rest, Pooled):
            found[name] = [rest.value, rest.interval.low, rest.interval.high]
    return found


def without_worlds(d: Floats) -> list[float]:
    """Return the least and the greatest pooled value that leaving one world out would give."""
    seen = ~np.isnan(d)
    counts, sums = seen.sum(axis=1, keepdims=True), np.nansum(d, axis=1, keepdims=True)
    left = (sums - np.nan_to_num(d)) / np.maximum(counts - seen, 1)
    means = left.mean(axis=0)
    return [float(means.min()), float(means.max())]
