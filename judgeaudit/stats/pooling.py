"""Effects of several endpoints on the same worlds, made one.

Two questions with two answers, both of which a report prints:

* **These endpoints**: the mean over exactly the endpoints that were run. Endpoints
  are fixed, worlds are drawn; t over worlds.
* **Endpoints like these**: the mean over a population of endpoints. Endpoints and
  worlds are both drawn; t with (endpoints - 1) degrees of freedom, so few endpoints
  give a wide interval.

The effects are weighted alike in both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.proportions import check_level

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pooled:
    """A pooled effect, its standard error and interval; `tau` is the SD between endpoints."""

    value: float
    se: float
    interval: Interval
    tau: float


def _table(effects: ArrayLike) -> Floats:
    table = np.asarray(effects, float)
    if table.ndim != 2:
        raise InputError("pooling", "", f"shape {table.shape}", "give worlds x endpoints")
    return table


def t_interval(value: float, se: float, df: float, level: float, method: str) -> Interval:
    """Return value -+ t_df se.

    Parameters
    ----------
    value, se, df : float
        Estimate, its standard error and degrees of freedom.
    level : float
        Confidence level.
    method : str
        Name of the method, for the report.

    Returns
    -------
    Interval
    """
    check_level(level)
    reach = float(special.stdtrit(df, 0.5 + level / 2)) * se
    return Interval(value - reach, value + reach, level, method)


def these_endpoints(effects: ArrayLike, level: float = 0.95) -> Pooled | Undefined:
    """Mean effect over the endpoints that were run, with t over worlds.

    `effects` is worlds x endpoints, one contrast a cell, NaN where it is missing. The
    value is the unweighted mean of the endpoints' means. Its variance sums, by world,
    the deviations that the world contributes to it: W/(W - 1) sum_w u_w² with
    u_w = sum_e (D_we - mean_e)/(n_e E). Without gaps that is the t interval of the
    worlds' means.

    Parameters
    ----------
    effects : array, shape (W worlds, E endpoints)
        One contrast a cell, nan for missing.
    level : float
        Confidence level.

    Returns
    -------
    Pooled, or Undefined with the reason.
    """
    table = _table(effects)
    seen = ~np.isnan(table)
    counts = seen.sum(axis=0)
    worlds, endpoints = int(seen.any(axis=1).sum()), table.shape[1]
    if worlds < 2 or endpoints < 1 or not counts.all():
        return Undefined("needs >= 2 worlds and an effect at each endpoint")
    means = np.nanmean(table, axis=0)
    shares = np.where(seen, table - means, 0.0) / (counts * endpoints)
    variance = worlds / (worlds - 1) * float((shares.sum(axis=1) ** 2).sum())
    value, se = float(means.mean()), math.sqrt(variance)
    tau = float(means.std(ddof=1)) if endpoints > 1 else 0.0
    return Pooled(value, se, t_interval(value, se, worlds - 1, level, "t over worlds"), tau)


def endpoints_like_these(effects: ArrayLike, level: float = 0.95) -> Pooled | Undefined:
    """Mean effect over endpoints like those run, with t on endpoints - 1.

    `effects` is worlds x endpoints without gaps. Var(mean) = Var_endpoint + Var_world
    - Var_cell, from the two-way mean squares (MS_e + MS_w - MS_we)/(W E); subtracting
    the cell noise removes what both others count. Never less than the larger of the two.

    Parameters
    ----------
    effects : array, shape (W worlds, E endpoints)
        One contrast a cell, no nan.
    level : float
        Confidence level.

    Returns
    -------
    Pooled, or Undefined with the reason.
    """
    table = _table(effects)
    worlds, endpoints = table.shape
    if worlds < 2 or endpoints < 2:
        return Undefined("needs >= 2 worlds and >= 2 endpoints")
    if np.isnan(table).any():
        return Undefined("needs an effect in every world at every endpoint")
    value = float(table.mean())
    by_endpoint, by_world = table.mean(axis=0), table.mean(axis=1)
    residual = table - by_endpoint - by_world[:, None] + value
    cell = float((residual**2).sum()) / ((worlds - 1) * (endpoints - 1)) / table.size
    over_endpoints = float(by_endpoint.var(ddof=1)) / endpoints
    over_worlds = float(by_world.var(ddof=1)) / worlds
    variance = max(over_endpoints + over_worlds - cell, over_endpoints, over_worlds)
    se, tau = math.sqrt(variance), math.sqrt(max(over_endpoints - cell, 0.0) * endpoints)
    found = t_interval(value, se, endpoints - 1, level, "two-way endpoint and world, t(E - 1)")
    return Pooled(value, se, found, tau)
