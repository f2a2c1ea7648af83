"""Controls held against what was registered: known answers that came out wrong.

* A gold control has an answer that nobody disputes. More wrong ones than `controls.allowed_wrong`
  (a share of its valid readings) show that the instrument does not work, whatever repeats.
* Twins are two items that read the same. `controls.allowed_unlike`, where registered, is the share
  of pairs of twins that may be read differently.
* A control that was asked and has no valid reading shows nothing of what it was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.document import Controls

GOLD, TWINS = "readings right", "twins read alike"


def control_faults(
    found: Sequence[Estimate], registered: Controls
) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, endpoint, sentence) for each control that shows nothing, or the wrong thing.

    The kind is `missing_control` where no reading of it is valid, and `wrong_control` where it came
    out worse than is allowed. `found` are the estimates of the family `controls`.
    """
    limits = {GOLD: registered.allowed_wrong, TWINS: registered.allowed_unlike}
    for one in found:
        counted = str(one.details.get("counted", ""))
        limit = limits.get(counted)
        if limit is None:
            continue
        name = one.scope.removeprefix("control=")
        if one.value is None:
            yield "missing_control", one.endpoint, f"control {name}: {one.undefined}"
            continue
        hits, of = one.n["hits"], one.n["of"]
        if Fraction(of - hits, of) > Fraction(limit):
            what = "wrong" if counted == GOLD else "read unlike"
            yield (
                "wrong_control",
                one.endpoint,
                f"control {name}: {of - hits} of {of} {what}, {limit} is allowed; what is known "
                "beforehand comes out wrong, so the other answers are no evidence",
            )
