"""What an estimate is worth: the number of independent draws that its interval stands for."""

from __future__ import annotations

from scipy import optimize

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.stats.proportions import clopper_pearson


def is_share(estimate: Estimate) -> bool:
    """Return whether an estimate is a mean of shares in [0, 1]."""
    found = NAMES.get(estimate.analysis)
    return found is not None and found.kind == "share"


def effective_draws(estimate: Estimate) -> float | None:
    """Return the number of draws whose Clopper-Pearson interval is as wide as the estimate's.

    None without an interval, or for a value that no interval of this kind fits.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    p, width = estimate.value, estimate.high - estimate.low
    if not 0 <= p <= 1:
        return None

    def excess(n: float) -> float:
        found = clopper_pearson(p * n, n, estimate.level)
        return found.high - found.low - width

    if excess(1.0) <= 0:
        return 1.0
    return float(optimize.brentq(excess, 1.0, 1e9, xtol=1e-3)) if excess(1e9) < 0 else None
