"""Correction for attenuation: what two judges would correlate without their own noise.

Rules of this module:

* r_true = r_xy / sqrt(rel_x rel_y) (Spearman 1904), with all three at one averaging unit.
* The interval is on the log scale, from the influence values of the three on the same items.
* A value above 1 is printed as it is, with `above_one` set; it is not clipped.
* Not valid, hence undefined: x and y from one window (their errors correlate), or a reliability
  below .2 (the correction multiplies noise).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import LOG, Estimated, spread, too_few, without_interval

LEAST_RELIABILITY = 0.2


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected correlation; `above_one` says that it is no possible correlation."""

    estimate: Estimated
    above_one: bool


def correct_attenuation(
    r_xy: Estimated,
    rel_x: Estimated,
    rel_y: Estimated,
    *,
    same_window: bool,
    clusters: NDArray[np.int_] | None = None,
) -> Corrected | Undefined:
    """Return r_xy / sqrt(rel_x rel_y) for estimates on the same items, rows in the same order.

    `same_window` says whether x and y were asked in one window.

    Parameters
    ----------
    r_xy : Estimated
        Correlation of two judges, with influence values, shape (n,).
    rel_x, rel_y : Estimated
        Their reliabilities at the same averaging unit, on the same items.
    same_window : bool
        Whether both were asked in one window.
    clusters : array of int, shape (n,), optional
        The task of each item.

    Returns
    -------
    Corrected, or Undefined with the reason.

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101.
    """
    if same_window:
        return Undefined("x and y share a window: their errors correlate")
    if min(rel_x.value, rel_y.value) < LEAST_RELIABILITY:
        return Undefined(f"a reliability is below {LEAST_RELIABILITY}")
    value = r_xy.value / float(np.sqrt(rel_x.value * rel_y.value))
    parts = [e.influence for e in (r_xy, rel_x, rel_y)]
    xy, x, y = parts
    if xy is None or x is None or y is None or not xy.size == x.size == y.size:
        return Undefined("the three estimates are not on the same items")
    if r_xy.value <= 0 or r_xy.no_interval:
        reason = r_xy.no_interval or "the correlation is not above zero"
        return Corrected(without_interval(value, r_xy.n, reason), value > 1)
    on_log = xy / r_xy.value - x / (2 * rel_x.value) - y / (2 * rel_y.value)
    se, units, freedom = spread(on_log, clusters)
    if why := too_few(units, clusters):
        return Corrected(without_interval(value, units, why), value > 1)
    clustered = clusters is not None
    freedom = freedom if clustered else units - 2
    method = "joint influence on log, t" + (", clustered" if clustered else "")
    influence = value * on_log
    found = Estimated(
        value, se, freedom, units, method, LOG, influence=influence, clustered=clustered
    )
    return Corrected(found, value > 1)
