"""Whether an estimate's interval was measured to cover as it claims, at this size of data.

Which measurement speaks of a statistic, its record says (`covered`). A shortfall that is listed for
other data than the estimate's is none of its own: the functions below tell such data.
"""

from __future__ import annotations

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.statistic import Coverage
from judgeaudit.stats.limits import LEAST_MEASURED_ITEMS, is_listed, warn_if_unproven

MOSTLY_TOP, ENOUGH_REPEATS = 0.5, 3


def unproven(
    covered: Coverage | None, estimate: Estimate, clusters: int | None = None
) -> str | None:
    """Return one sentence if the interval is not proven at this size, else None.

    `covered` is the record's; None, where coverage was never measured, is told by the methods page
    and by no estimate. `clusters` counts the tasks where the error is summed by task.
    """
    if covered is None or estimate.low is None:
        return None
    items = estimate.n.get("items", 0)
    listed = items >= LEAST_MEASURED_ITEMS and is_listed(covered.name, items)
    if listed and covered.spared(estimate):
        return None
    return warn_if_unproven(covered.name, items, clusters)


def never(estimate: Estimate) -> bool:
    """Return False: a listed shortfall speaks of every estimate of the statistic."""
    return False


def mostly_below_top(estimate: Estimate) -> bool:
    """Return whether less than half of the scores are at one end of the scale, top or bottom."""
    top = estimate.details.get("top_share")
    bottom = estimate.details.get("bottom_share", 0.0)
    return isinstance(top, float) and max(top, float(str(bottom))) < MOSTLY_TOP


def three_repeats(estimate: Estimate) -> bool:
    """Return whether items have three readings on average, or more."""
    return estimate.n.get("observations", 0) >= ENOUGH_REPEATS * estimate.n.get("items", 0)
