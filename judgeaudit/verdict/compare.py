"""Numbers against thresholds, compared as the decimals that people wrote.

* A threshold is a decimal and becomes a rational without loss.
* A count ratio or rank statistic is a rational already: Spearman of 1234 and 1243 is 4/5 and meets
  .8, though floats make it .7999999999999999.
* Any other float is rounded to 12 digits first: .83 - .80 is .03 and not .030000000000000027.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from judgeaudit.design.criteria import Band, Gate

DIGITS = 12


def rational(value: float | Fraction | Decimal) -> Fraction:
    """Return the rational that is compared for `value`."""
    if isinstance(value, float):
        return Fraction(Decimal(repr(round(value, DIGITS))))
    return Fraction(value)


def meets(value: float | Fraction, gate: Gate) -> bool:
    """Return whether `value` itself meets the gate's threshold; a band includes its ends."""
    found = rational(value)
    if gate.at_least is not None:
        return found >= Fraction(gate.at_least)
    if gate.at_most is not None:
        return found <= Fraction(gate.at_most)
    assert gate.band is not None
    return Fraction(gate.band[0]) <= found <= Fraction(gate.band[1])


def clears(low: float, high: float, gate: Gate) -> bool:
    """Return whether the whole interval meets the gate's threshold."""
    return meets(low, gate) and meets(high, gate)


def misses(low: float, high: float, gate: Gate) -> bool:
    """Return whether no point of the interval meets the gate's threshold."""
    if gate.band is None:
        return not meets(low, gate) and not meets(high, gate)
    bottom, top = (Fraction(end) for end in gate.band)
    return rational(high) < bottom or rational(low) > top


def inside(value: float | Fraction, band: Band) -> bool:
    """Return whether `value` (or its magnitude) lies in a rule's band."""
    found = abs(rational(value)) if band.absolute else rational(value)
    return (
        (band.at_least is None or found >= Fraction(band.at_least))
        and (band.below is None or found < Fraction(band.below))
        and (band.above is None or found > Fraction(band.above))
    )


def threshold_text(gate: Gate) -> str:
    """Return what the gate asks for, in words."""
    if gate.at_least is not None:
        return f"at least {gate.at_least}"
    if gate.at_most is not None:
        return f"at most {gate.at_most}"
    assert gate.band is not None
    return f"between {gate.band[0]} and {gate.band[1]}"
