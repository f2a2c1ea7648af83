"""Intervals by leaving out whole tasks (or items, or groups of items) in turn.

Any statistic of a set of items can be computed again without one task. How much it changes tells
its standard error when tasks, not items, are independent.

Rules of this module:

* The units left out are tasks where the caller names them, else items. More than 300 units are
  dealt at random (fixed seed) into 200 groups, so that the cost is 200 evaluations at most.
* The standard error is on the statistic's scale; t has units - 1 degrees of freedom, over tasks
  those of `scaled.cluster_freedom`. Fewer than six tasks: no interval (`scaled.too_few`).
* A statistic that is undefined, or at the end of its scale, without one unit rests on that unit:
  no interval.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import (
    IDENTITY,
    MIN_ITEMS,
    Estimated,
    Scale,
    cluster_freedom,
    too_few,
    without_interval,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]
MOST_UNITS, GROUPS = 300, 200


def deletion_units(n: int, tasks: Codes | None) -> Codes:
    """Return for each item the number of the unit it is left out with, from 0.

    Parameters
    ----------
    n : int
        Number of items.
    tasks : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    array of int, shape (n,)
    """
    codes = np.arange(n) if tasks is None else np.unique(tasks, return_inverse=True)[1]
    units = int(codes.max()) + 1 if n else 0
    if units > MOST_UNITS:
        dealt = np.random.default_rng(0).permutation(units) % GROUPS
        codes = dealt[codes]
    return np.asarray(codes, dtype=np.int64)


def jackknife(
    statistic: Callable[[Bools], float],
    n: int,
    tasks: Codes | None = None,
    *,
    scale: Scale = IDENTITY,
) -> Estimated | Undefined:
    """Return a statistic with an interval from leaving out tasks or items.

    Parameters
    ----------
    statistic : callable
        From a mask of items, shape (n,), to the value over those items; nan where undefined.
    n : int
        Number of items.
    tasks : array of int, shape (n,), optional
        The task of each item; whole tasks are then left out.
    scale : Scale
        Where the statistic's error is nearly normal.

    Returns
    -------
    Estimated (without an interval where there is no honest one), or Undefined.

    References
    ----------
    Cameron & Miller (2015), Journal of Human Resources 50, 317-372.
    """
    value = statistic(np.ones(n, dtype=bool))
    if math.isnan(value):
        return Undefined("no value")
    codes = deletion_units(n, tasks)
    units = int(np.unique(tasks).size) if tasks is not None else n
    if why := too_few(units, tasks):
        return without_interval(value, units, why)
    if tasks is None and units < MIN_ITEMS:
        return without_interval(value, units, f"fewer than {MIN_ITEMS} items")
    groups = int(codes.max()) + 1
    deleted = np.array([statistic(codes != g) for g in range(groups)])
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = scale.to(deleted)
        centre = float(scale.to(np.asarray(value)))
    if not (np.isfinite(scaled).all() and math.isfinite(centre)):
        what = "task" if tasks is not None else "item"
        return without_interval(value, units, f"no disagreement, or no value, without one {what}")
    change = scaled - scaled.mean()
    se = math.sqrt((groups - 1) / groups * float((change**2).sum()))
    if se == 0:
        return without_interval(value, units, "every item adds the same")
    method = f"jackknife over {'tasks' if tasks is not None else 'items'} on {scale.name}, t"
    freedom = groups - 1 if tasks is None else cluster_freedom(change)
    return Estimated(value, se, freedom, units, method, scale, clustered=tasks is not None)
