"""From a contrast of memory luck to its estimates: each endpoint, both pools, which endpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.cells import NO_MEMORY, Answers
from judgeaudit.analysis.luck.checks import own_noise
from judgeaudit.analysis.luck.claims import Claims, Terms
from judgeaudit.analysis.luck.contrasts import Contrast, Effects, effects_of
from judgeaudit.analysis.luck.pool import TARGETS, Target, pooled, without_each, without_worlds
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.proportions import two_sided

Floats = NDArray[np.float64]

DESCRIPTIVE = "the log does not state independence: a reaction may be reasonable, so descriptive"
COUNTED = "a call without a choice counts as one that did not choose the worse tool"
ALONE = "one endpoint: there is nothing to pool"
CLAIMS = ("present", "large", "negligible")


def estimates_of(
    name: str, answers: Answers, contrast: Contrast, terms: Terms, target: str
) -> list[Estimate]:
    """Return a contrast's estimates, what decides first and under the plain name."""
    effects = effects_of(answers, contrast, terms.counted)
    if isinstance(effects, Undefined):
        places = answers.endpoints if terms.pool == "each" else ("all",)
        return [_none(name, effects.reason, contrast, terms, endpoint=e) for e in places]
    each = each_endpoint(_called(name, "each", terms), answers, effects, terms, target)
    share = endpoints_that(f"{name}_endpoints", each, contrast, terms)
    if len(answers.endpoints) > 1:
        pools = {t: _pool(_called(name, t, terms), answers, effects, terms, t) for t in TARGETS}
    else:
        pools = _nothing_to_pool(name, each, contrast, terms)
    first = each if terms.pool == "each" else [pools.pop(terms.pool)]
    rest = [*pools.values()] if terms.pool == "each" else [*each, *pools.values()]
    return [*first, *rest, share]


def _called(name: str, pool: str, terms: Terms) -> str:
    return name if pool == terms.pool else f"{name}_{pool}"


def _none(name: str, why: str, contrast: Contrast, terms: Terms, **fields: Any) -> Estimate:
    common = {"scope": contrast.scope, "level": terms.level, "cluster": "world"}
    return undefined(name, why, **{**common, **fields})


def _nothing_to_pool(
    name: str, each: list[Estimate], contrast: Contrast, terms: Terms
) -> dict[Target, Estimate]:
    """Return the endpoint itself for these endpoints, nothing for endpoints like it."""
    own = replace(
        each[0], analysis=_called(name, "these", terms), endpoint="all", target=TARGETS["these"]
    ).with_caveats(ALONE)
    like = _none(
        _called(name, "like", terms),
        "needs >= 2 endpoints",
        contrast,
        terms,
        target=TARGETS["like"],
    )
    return {"these": own, "like": like}


def each_endpoint(
    name: str, answers: Answers, effects: Effects, terms: Terms, target: str
) -> list[Estimate]:
    """Return one estimate an endpoint with its claims and their p values, plain and by Holm."""
    low, high = effects.ends(terms.z, terms.base)
    bounds = effects.ends(terms.z_alpha, "newcombe")
    p_values = _p_values(effects, terms)
    noise = own_noise(answers, effects.contrast.cells)
    found = []
    for e, endpoint in enumerate(answers.endpoints):
        common = _common(answers, effects, terms, [e])
        if not effects.n[e]:
            cells = ", ".join(cell.name for cell in effects.contrast.cells)
            why = f"no world has a choice in each of {cells}"
            found.append(_none(name, why, effects.contrast, terms, endpoint=endpoint, **common))
            continue
        details: dict[str, object] = {
            "cells": _shares(effects, e),
            **_claims(float(bounds[0][e]), float(bounds[1][e]), terms),
            **{key: float(p[e]) for key, p in p_values.items()},
            **noise.get(endpoint, {}),
        }
        found.append(
            Estimate(
                name,
                float(effects.value[e]),
                endpoint=endpoint,
                exact=effects.exact(e),
                **_ends(float(low[e]), float(high[e])),
                method=effects.method(e, terms.base),
                target=target,
                details=details,
                missing=float(effects.missing[e]),
                worst=(float(effects.worst[e, 0]), float(effects.worst[e, 1])),
                **{**common, "scope": effects.contrast.scope, "level": terms.level},
            )
        )
    return found


def _shares(effects: Effects, endpoint: int) -> dict[str, float]:
    names = [cell.name for cell in effects.contrast.cells]
    return dict(zip(names, effects.shares(endpoint), strict=True))


def _ends(low: float, high: float) -> dict[str, Any]:
    return {"low": low, "high": high} if np.isfinite([low, high]).all() else {}


def _claims(lower: float, upper: float, terms: Terms) -> dict[str, object]:
    if not np.isfinite([lower, upper]).all():
        return {}
    return {"claims": Claims(lower, upper, terms.margin, terms.alpha).to_dict()}


def _p_values(effects: Effects, terms: Terms) -> Mapping[str, Floats]:
    """Return p of each claim at each endpoint and Holm's; 1 where there are no data."""
    plain = {
        "present": effects.p(0.0, "above"),
        "large": effects.p(terms.margin, "above"),
        "negligible": effects.p(terms.margin, "below"),
    }
    found = {f"p_{claim}": np.nan_to_num(p, nan=1.0) for claim, p in plain.items()}
    return {**found, **{f"{key}_holm": holm(p) for key, p in found.items()}}


def _common(
    answers: Answers, effects: Effects, terms: Terms, endpoints: Sequence[int]
) -> dict[str, Any]:
    """Return counts, exclusions and caveats of a contrast at some endpoints."""
    cells = list(dict.fromkeys(effects.contrast.cells))
    places = [at for cell in cells if (at := answers.index(cell)) is not None]
    reasons: dict[str, int] = {}
    for e in endpoints:
        for reason, count in answers.kinds(e, places).items():
            reasons[reason] = reasons.get(reason, 0) + count
    planned = answers.planned[np.ix_(endpoints, places)]
    n = {
        "items": int((~np.isnan(effects.d[list(endpoints)])).any(axis=0).sum()),
        "contrasts": int(effects.n[list(endpoints)].sum()),
        "worlds": int((planned.sum(axis=(0, 1)) > 0).sum()),
        "calls": int(planned.sum()),
        "endpoints": len(endpoints),
    }
    return {
        "n": n,
        "excluded": reasons,
        "cluster": "world",
        "unit": "single" if effects.single else "mean of several calls",
        "caveats": _caveats(effects.contrast, terms, reasons.get(NO_MEMORY, 0)),
    }


def _caveats(contrast: Contrast, terms: Terms, no_memory: int) -> tuple[str, ...]:
    said = []
    if any(cell.stratum.dependent for cell in contrast.cells):
        said.append(DESCRIPTIVE)
    if contrast.note:
        said.append(contrast.note)
    if no_memory:
        said.append(f"{no_memory} calls had no memory to ask with; their worlds are left out")
    return tuple([*said, COUNTED] if terms.counted else said)


def _pool(name: str, answers: Answers, effects: Effects, terms: Terms, target: Target) -> Estimate:
    d, contrast = effects.d, effects.contrast
    common = _common(answers, effects, terms, range(len(answers.endpoints)))
    fields = {**common, "target": TARGETS[target]}
    found = pooled(d, target, terms.level)
    bounds = pooled(d, target, two_sided(terms.alpha))
    if isinstance(found, Undefined) or isinstance(bounds, Undefined):
        why = found.reason if isinstance(found, Undefined) else str(bounds)
        return _none(name, why, contrast, terms, **fields)
    gaps = int(np.isnan(d).any(axis=0).sum())
    if target == "like" and gaps:
        fields["caveats"] += (f"{gaps} worlds lack a choice at some endpoint and are left out",)
    details: dict[str, object] = {
        "tau": found.tau,
        **_claims(bounds.interval.low, bounds.interval.high, terms),
        "without_endpoint": without_each(d, answers.endpoints, target, terms.level),
        "without_a_world": without_worlds(d),
    }
    return Estimate(
        name,
        found.value,
        low=found.interval.low,
        high=found.interval.high,
        method=found.interval.method,
        details=details,
        missing=float(effects.missing.mean()),
        worst=(float(effects.worst[:, 0].mean()), float(effects.worst[:, 1].mean())),
        **{**fields, "scope": contrast.scope, "level": terms.level},
    )


def endpoints_that(
    name: str, each: Sequence[Estimate], contrast: Contrast, terms: Terms
) -> Estimate:
    """Return the share of endpoints whose effect is present after Holm, and which hold what."""
    which: dict[str, object] = {
        claim: [e.endpoint for e in each if _held(e, claim, terms.alpha)] for claim in CLAIMS
    }
    carried = sum(_held(e, "present", terms.alpha) for e in each)
    return Estimate(
        name,
        carried / len(each),
        scope=contrast.scope,
        exact=Fraction(carried, len(each)),
        level=terms.level,
        method="Holm over endpoints",
        cluster="endpoint",
        target=TARGETS["these"],
        n={"endpoints": len(each), "present": carried},
        caveats=("a count of claims made, without an interval: others may carry luck unseen",),
        details={**which, "alpha": terms.alpha, "margin": terms.margin},
    )


def _held(estimate: Estimate, claim: str, alpha: float) -> bool:
    p = estimate.details.get(f"p_{claim}_holm", 1.0)
    return isinstance(p, float) and p <= alpha
