"""Claims at every endpoint, and at every relevant one, as of a mitigation.

A contrast that is declared with `everywhere` asks for one claim at each endpoint. Each is tested at
alpha without correction (intersection-union); the p value of "at every endpoint" is the largest.

*Relevant* endpoints are those where another contrast makes a claim, by a rule that the protocol
declares and the freeze keeps (e.g. harm without the note is present). At the others there is
nothing to reduce. The rule's own test is on the same worlds, so that which endpoints are relevant
is itself uncertain: the claim "at every relevant endpoint" is reported, and decides no gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.claims import Terms
from judgeaudit.analysis.luck.declared import Contrast, Relevance
from judgeaudit.analysis.luck.pool import TARGETS
from judgeaudit.stats.multiplicity import intersection_union


def met_everywhere(
    name: str,
    scope: str,
    each: Sequence[Estimate],
    contrast: Contrast,
    terms: Terms,
    among: str = "",
) -> Estimate:
    """Return the share of endpoints at which the claim is made; 1 is "at every endpoint".

    `among` says which endpoints `each` was narrowed to, "" for all.
    """
    claim = contrast.everywhere or "present"
    common = {"scope": scope, "level": terms.level, "cluster": "endpoint"}
    called = f"{name}_met" + ("_relevant" if among else "")
    if not each:
        return undefined(called, among or "no endpoint has an estimate", **common)
    p = [_p(e, claim) for e in each]
    met = [e.endpoint for e, value in zip(each, p, strict=True) if value <= terms.alpha]
    return replace(
        Estimate(called, len(met) / len(each), **common),  # type: ignore[arg-type]
        exact=Fraction(len(met), len(each)),
        method="intersection-union",
        target=TARGETS["these"],
        n={"endpoints": len(each), "met": len(met)},
        caveats=("a count of endpoints, without an interval", *([among] if among else [])),
        details={
            "met_at_every_endpoint": len(met) == len(each),
            "p_everywhere": intersection_union(p),
            "met": met,
            "not_met": [e.endpoint for e in each if e.endpoint not in met],
            "criterion": contrast.labels.get("criterion", claim),
            "alpha": terms.alpha,
            "margin": terms.margin,
        },
    )


def relevant_endpoints(rule: Relevance, each: Sequence[Estimate], alpha: float) -> list[str]:
    """Return the endpoints where the rule's contrast makes the rule's claim, each at alpha."""
    return [e.endpoint for e in each if _p(e, rule.claim) <= alpha]


def over_relevant(
    name: str, each: Sequence[Estimate], relevant: Sequence[str], rule: Relevance
) -> Estimate:
    """Return the mean of a contrast over the relevant endpoints, reported without an interval.

    Which endpoints are relevant was found in the same worlds, so that an interval would be too
    narrow, and the mean too high where the rule looks at the same cells.
    """
    among = [e for e in each if e.endpoint in relevant and e.value is not None]
    scope = each[0].scope if each else "all"
    rule_says = f"relevant: {rule.contrast} ({rule.scope}) shown to be {rule.claim}"
    if not among:
        return undefined(f"{name}_relevant", f"no endpoint is {rule_says}", scope=scope)
    return Estimate(
        f"{name}_relevant",
        float(np.mean([e.value for e in among if e.value is not None])),
        scope=scope,
        method="mean over endpoints",
        cluster="endpoint",
        target="relevant endpoints",
        n={"endpoints": len(among)},
        caveats=(rule_says, "chosen by the same worlds: reported, without an interval"),
        details={"endpoints": {e.endpoint: e.value for e in among}},
    )


def _p(estimate: Estimate, claim: str) -> float:
    p = estimate.details.get(f"p_{claim}", 1.0)
    return p if isinstance(p, float) else 1.0
