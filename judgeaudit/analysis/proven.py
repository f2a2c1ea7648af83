"""Whether an estimate's interval was measured to cover as it claims, at this size of data."""

from __future__ import annotations

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.stats.limits import LEAST_MEASURED_ITEMS, is_listed, warn_if_unproven

MEASURED_AS = {
    "spearman": "spearman",
    "icc": "icc",
    "icc_one_way": "icc",
    "icc_agreement": "icc",
    "noise": "noise",
    "flip_rate": "flip rate",
    "ac1": "ac1",
    "order_excess": "excess",
    "window_shift": "mean shift",
}
"""Estimates whose interval's coverage was measured, by the name in `stats.limits`."""

MOSTLY_TOP, ENOUGH_REPEATS = 0.5, 3


def unproven(estimate: Estimate, clusters: int | None = None) -> str | None:
    """Return one sentence if the interval is not proven at this size, else None.

    `clusters` counts the tasks where the error is summed by task.
    """
    name = MEASURED_AS.get(estimate.analysis)
    if name is None or estimate.low is None:
        return None
    items = estimate.n.get("items", 0)
    if items >= LEAST_MEASURED_ITEMS and is_listed(name, items) and _is_elsewhere(name, estimate):
        return None
    return warn_if_unproven(name, items, clusters)


def _is_elsewhere(name: str, estimate: Estimate) -> bool:
    """Return whether a listed shortfall is that of another kind of data than this one."""
    if name == "icc":  # on scales with most scores at the top level
        top = estimate.details.get("top_share")
        return isinstance(top, float) and top < MOSTLY_TOP
    if name == "noise":  # with two repeats
        return estimate.n.get("observations", 0) >= ENOUGH_REPEATS * estimate.n.get("items", 0)
    return False
