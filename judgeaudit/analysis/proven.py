"""Whether an estimate's interval was measured to cover as it claims, at this size of data."""

from __future__ import annotations

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.stats.limits import LEAST_MEASURED_ITEMS, is_listed, warn_if_unproven

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

MOSTLY_TOP = 0.5


def unproven(estimate: Estimate, clusters: int | None = None) -> str | None:
    """Return one sentence if the interval is not proven at this size, else None.

    `clusters` counts the tasks where the error is summed by task.
    """
    name = MEASURED_AS.get(estimate.analysis)
    if name is None or estimate.low is None:
        return None
    items, top = estimate.n.get("items", 0), estimate.details.get("top_share")
    # The listed shortfall of an ICC is that of scales with most scores at the top level.
    spread_out = isinstance(top, float) and top < MOSTLY_TOP
    if name == "icc" and spread_out and items >= LEAST_MEASURED_ITEMS and is_listed(name, items):
        return None
    return warn_if_unproven(name, items, clusters)
