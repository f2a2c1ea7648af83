"""What an estimator in this folder gives back: an interval, or the reason why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval from `low` to `high`.

    `level` is the two-sided confidence level in (0, 1); `method` names the
    construction in words that a report can print, e.g. "jackknife of atanh, t".
    A one-sided bound at `alpha` is an end of the interval of level 1 - 2 alpha.
    """

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Undefined:
    """A value that says: the data support no estimate, and why.

    `reason` is a short phrase such as "constant" or "needs >= 2 repeats". It is
    a value and no exception, because "cannot be told" is a finding that must
    reach the report and its counts.
    """

    reason: str

    def __str__(self) -> str:
        return f"undefined: {self.reason}"
