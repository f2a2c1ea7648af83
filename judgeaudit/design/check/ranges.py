"""Whether a threshold lies where a statistic's estimate can fall on both sides of it.

A statistic takes values from `low` to `high`, ends included, either of which may be infinite. A
gate decides nothing

* if no value of the statistic fails it: every value meets the threshold;
* if no value passes it: none meets the threshold, or, decided by the bound, only the value at the
  statistic's own end does. The bound of an estimate lies beyond the estimate, so that an end of the
  range cannot be shown: `category_exact` at least 1, `flip_rate` at most 0.

By the point, an end can be met: `category_exact` at least 1 by the point asks for no flip at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.design.criteria import Gate
from judgeaudit.errors import Problem

Bounds = tuple[float, float]


def range_problems(key: str, gate: Gate, bounds: Bounds) -> Iterator[Problem]:
    """Yield why a gate on a statistic with values in `bounds` can never fail, or never pass."""
    for branch, can in zip(("pass", "fail"), reachable(gate, bounds), strict=True):
        if not can:
            yield Problem(
                key,
                f"gate {gate.id!r} can never {branch}: {gate.statistic} lies between "
                f"{bounds[0]:g} and {bounds[1]:g}, asked by the {gate.decide} is {_asks(gate)}",
                "a threshold inside that range",
            )


def reachable(gate: Gate, bounds: Bounds) -> tuple[bool, bool]:
    """Return whether values of the statistic can pass the gate, and fail it."""
    bottom, top = bounds
    low, high = _accepted(gate)
    if gate.decide == "bound":
        passes = low < top and high > bottom
    else:
        passes = low <= top and high >= bottom
    return passes, low > bottom or high < top


def _accepted(gate: Gate) -> Bounds:
    """Return the least and the greatest value that meets the threshold."""
    if gate.band is not None:
        return float(gate.band[0]), float(gate.band[1])
    if gate.at_least is not None:
        return float(gate.at_least), float("inf")
    assert gate.at_most is not None
    return float("-inf"), float(gate.at_most)


def _asks(gate: Gate) -> str:
    if gate.band is not None:
        return f"between {gate.band[0]} and {gate.band[1]}"
    return f"at least {gate.at_least}" if gate.at_least is not None else f"at most {gate.at_most}"
