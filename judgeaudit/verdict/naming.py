"""The name that a rule gives to a value: the first band that holds, `unnamed` where none does."""

from __future__ import annotations

from collections.abc import Sequence

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Rule
from judgeaudit.verdict.compare import inside

UNNAMED, UNDEFINED = "unnamed", "undefined"


def heads_of(statistic: str, estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    """Return the first estimate of each endpoint, which decides."""
    heads: dict[str, Estimate] = {}
    for estimate in estimates:
        if estimate.analysis == statistic:
            heads.setdefault(estimate.endpoint, estimate)
    return heads


def name_of(rule: Rule, estimate: Estimate) -> str:
    """Return what a rule names for an estimate."""
    if estimate.value is None:
        return UNDEFINED
    value = estimate.value if estimate.exact is None else estimate.exact
    return next((band.name for band in rule.bands if inside(value, band)), UNNAMED)


def by_point(rule: Rule, name: str, estimate: Estimate) -> str:
    """Return that the point decided, where no interval or one over several bands stands; or ""."""
    if estimate.value is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"The point alone named {name}: there is no interval."
    ends = [
        next((b.name for b in rule.bands if inside(end, b)), UNNAMED)
        for end in (estimate.low, estimate.high)
    ]
    # A band of |x| may lie between two ends that are both outside of it.
    crossed = [b.name for b in rule.bands if b.absolute and inside(0.0, b)]
    between = crossed if estimate.low < 0 < estimate.high else []
    others = [other for other in dict.fromkeys([*ends, *between]) if other != name]
    if not others:
        return ""
    return (
        f"The point named {name}: its {estimate.level:.0%} interval also reaches "
        f"{' and '.join(others)}."
    )
