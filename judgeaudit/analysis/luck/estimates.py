"""From a contrast of memory luck to its estimates: each endpoint, both pools, which endpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.answers import NO_MEMORY, Answers
from judgeaudit.analysis.luck.attrition import (
    bounds_of,
    loss_sentence,
    losses,
    unequal_by_side,
    warnings_of,
)
from judgeaudit.analysis.luck.checks import own_noise
from judgeaudit.analysis.luck.claims import Claims, Terms
from judgeaudit.analysis.luck.clustered import by_cluster
from judgeaudit.analysis.luck.declared import CLAIMS, Contrast, Design
from judgeaudit.analysis.luck.effects import Effects, effects_of
from judgeaudit.analysis.luck.pool import TARGETS, Target, pooled, without_each, without_worlds
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.proportions import two_sided

Floats = NDArray[np.float64]

CONTRAST = "luck_contrast"
COUNTED = "a call without a choice counts as one that did not choose the worse tool"
ALONE = "one endpoint: there is nothing to pool"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a contrast's estimates are made from: answers, design, terms and target."""

    name: str
    answers: Answers
    design: Design
    contrast: Contrast
    terms: Terms
    target: str

    @property
    def scope(self) -> str:
        """The contrast's scope; with its name where the statistic's name does not say it."""
        named = f"{self.contrast.name}, " if self.name == CONTRAST else ""
        return named + self.contrast.full_scope

    @property
    def of_worlds(self) -> str:
        """What is independent."""
        return self.terms.cluster or "world"

    def called(self, pool: str) -> str:
        """Return the name of the estimates of a pool: the plain one where it decides."""
        return self.name if pool == self.terms.pool else f"{self.name}_{pool}"

    def none(self, name: str, why: str, **fields: Any) -> Estimate:
        """Return an estimate that says why it has no value."""
        common = {
            "scope": self.scope,
            "level": self.terms.level,
            "cluster": self.of_worlds,
        }
        return undefined(name, why, **{**common, **fields})


def estimates_of(asked: Asked) -> list[Estimate]:
    """Return a contrast's estimates, what decides first and under the plain name."""
    answers, terms = asked.answers, asked.terms
    effects = effects_of(answers, asked.contrast, terms.counted, asked.design.losses)
    if isinstance(effects, Undefined):
        places = answers.endpoints if terms.pool == "each" else ("all",)
        return [asked.none(asked.name, effects.reason, endpoint=e) for e in places]
    each = _each_endpoint(asked, effects)
    share = _endpoints_that(asked, each)
    if len(answers.endpoints) > 1:
        pools = {t: _pool(asked, effects, t) for t in TARGETS}
    else:
        pools = _nothing_to_pool(asked, each)
    first = each if terms.pool == "each" else [pools.pop(terms.pool)]
    rest = [*pools.values()] if terms.pool == "each" else [*each, *pools.values()]
    return [*first, *rest, share]


def _nothing_to_pool(asked: Asked, each: list[Estimate]) -> dict[Target, Estimate]:
    """Return the endpoint itself for these endpoints, nothing for endpoints like it."""
    own = replace(
        each[0], analysis=asked.called("these"), endpoint="all", target=TARGETS["these"]
    ).with_caveats(ALONE)
    like = asked.none(asked.called("like"), "needs >= 2 endpoints", target=TARGETS["like"])
    return {"these": own, "like": like}


def _each_endpoint(asked: Asked, effects: Effects) -> list[Estimate]:
    """Return one estimate an endpoint with its claims and their p values, plain and by Holm."""
    name, terms, answers = asked.called("each"), asked.terms, asked.answers
    low, high = effects.ends(terms.z, terms.base)
    bounds = effects.ends(terms.z_alpha, "newcombe")
    p_values = _p_values(effects, terms)
    noise = own_noise(answers, effects.contrast.cells)
    beside = _other(asked)
    found = []
    for e, endpoint in enumerate(answers.endpoints):
        common = _common(asked, effects, [e])
        if not effects.n[e]:
            why = f"no world has a choice in each of {', '.join(effects.contrast.cells)}"
            found.append(asked.none(name, why, endpoint=endpoint, **common))
            continue
        details: dict[str, object] = {
            **_about(asked),
            "cells": dict(zip(effects.contrast.cells, effects.shares(e), strict=True)),
            **_claims(float(bounds[0][e]), float(bounds[1][e]), asked),
            **{key: float(p[e]) for key, p in p_values.items()},
            **noise.get(endpoint, {}),
            **_lost(asked, effects, e),
            **_beside(beside, e),
        }
        common["caveats"] += tuple(warnings_of(effects, e))
        found.append(
            Estimate(
                name,
                float(effects.value[e]),
                endpoint=endpoint,
                exact=effects.exact(e),
                **_ends(float(low[e]), float(high[e])),
                method=effects.method(e, terms.base),
                target=asked.target,
                details=details,
                missing=float(effects.missing[e]),
                worst=(float(effects.worst[e, 0]), float(effects.worst[e, 1])),
                **{**common, "scope": asked.scope, "level": terms.level},
            )
        )
    return found


def _other(asked: Asked) -> Effects | None:
    """Return the effects of the contrast that is told beside this one, None without one."""
    other = asked.design.beside(asked.contrast)
    if other is None:
        return None
    found = effects_of(asked.answers, other, asked.terms.counted, asked.design.losses)
    return None if isinstance(found, Undefined) else found


def _beside(other: Effects | None, endpoint: int | None) -> dict[str, object]:
    """Return name and value of the contrast beside, at one endpoint or over all (None)."""
    if other is None:
        return {}
    values = other.value if endpoint is None else other.value[endpoint : endpoint + 1]
    if np.isnan(values).all():
        return {}
    return {"beside": {other.contrast.name: float(np.nanmean(values))}}


def _about(asked: Asked) -> dict[str, object]:
    contrast = asked.contrast
    told: dict[str, object] = {"contrast": contrast.name, "is": contrast.formula}
    return told | ({"of": contrast.of} if contrast.of else {})


def _lost(asked: Asked, effects: Effects, endpoint: int) -> dict[str, object]:
    """Return losses by cell, and where there are any the worst cases and the test."""
    told: dict[str, object] = {"lost": losses(asked.answers, effects.contrast.cells, [endpoint])}
    if not effects.missing[endpoint]:
        return told
    lowest, highest = effects.lowest[endpoint], effects.highest[endpoint]
    found = bounds_of(lowest, highest, asked.terms.level)
    if not isinstance(found, Undefined):
        told["bounds"] = found.to_dict()
    told["p_lost_unequally"] = unequal_by_side(asked.answers, effects, endpoint)
    return told | {"loss": loss_sentence(effects, [endpoint])}


def _ends(low: float, high: float) -> dict[str, Any]:
    return {"low": low, "high": high} if np.isfinite([low, high]).all() else {}


def _claims(lower: float, upper: float, asked: Asked) -> dict[str, object]:
    if not np.isfinite([lower, upper]).all():
        return {}
    terms = asked.terms
    made = Claims(lower, upper, terms.margin, terms.alpha, asked.contrast.claims)
    return {"claims": made.to_dict()}


def _p_values(effects: Effects, terms: Terms) -> Mapping[str, Floats]:
    """Return p of each claim at each endpoint and Holm's; 1 where there are no data."""
    plain = {
        "present": effects.p(0.0, "above"),
        "large": effects.p(terms.margin, "above"),
        "negligible": effects.p(terms.margin, "below"),
    }
    found = {f"p_{claim}": np.nan_to_num(p, nan=1.0) for claim, p in plain.items()}
    return {**found, **{f"{key}_holm": holm(p) for key, p in found.items()}}


def _common(asked: Asked, effects: Effects, endpoints: Sequence[int]) -> dict[str, Any]:
    """Return counts, exclusions and caveats of a contrast at some endpoints."""
    answers = asked.answers
    places = answers.places(list(dict.fromkeys(effects.contrast.cells)))
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
        "cluster": asked.of_worlds,
        "unit": "single" if effects.single else "mean of several calls",
        "caveats": _caveats(asked, reasons.get(NO_MEMORY, 0)),
    }


def _caveats(asked: Asked, no_memory: int) -> tuple[str, ...]:
    contrast = asked.contrast
    said = [text for text in (contrast.descriptive, contrast.note) if text]
    if no_memory:
        said.append(f"{no_memory} calls had no memory to ask with; their worlds are left out")
    settings = asked.answers.settings
    if asked.terms.cluster is None and settings > 1:
        said.append(
            f"speaks of worlds in these {settings} settings; for settings like these register "
            'cluster = "domain"'
        )
    return tuple([*said, COUNTED] if asked.terms.counted else said)


def _pool(asked: Asked, effects: Effects, target: Target) -> Estimate:
    name, terms, endpoints = asked.called(target), asked.terms, asked.answers.endpoints
    fields = {
        **_common(asked, effects, range(len(endpoints))),
        "target": TARGETS[target],
    }
    d, kept, empty = effects.d, endpoints, []
    if asked.design.losses == "planned":
        # One endpoint that never answered takes no other with it: it is named.
        empty = [e for e, n in zip(endpoints, effects.n, strict=True) if not n]
        kept = tuple(e for e in endpoints if e not in empty)
        d = d[effects.n > 0]
    if effects.clusters and len(kept):
        d = by_cluster(d, effects.clusters)
    if empty:
        said = f"without {', '.join(empty)}, which made no valid choice: of {len(kept)} endpoints"
        fields["caveats"] += (said,)
    if not kept:
        return asked.none(name, "no endpoint has a choice in each cell", **fields)
    found = pooled(d, target, terms.level)
    bounds = pooled(d, target, two_sided(terms.alpha))
    if isinstance(found, Undefined) or isinstance(bounds, Undefined):
        why = found.reason if isinstance(found, Undefined) else str(bounds)
        return asked.none(name, why, **fields)
    gaps = int(np.isnan(d).any(axis=0).sum())
    if target == "like" and gaps:
        fields["caveats"] += (f"{gaps} worlds lack a choice at some endpoint and are left out",)
    details: dict[str, object] = {
        **_about(asked),
        "tau": found.tau,
        **_claims(bounds.interval.low, bounds.interval.high, asked),
        "without_endpoint": without_each(d, kept, target, terms.level),
        "without_a_world": without_worlds(d),
        **_lost_together(asked, effects, target),
        **_beside(_other(asked), None),
    }
    if empty:
        details["without_choices"] = empty
    return Estimate(
        name,
        found.value,
        low=found.interval.low,
        high=found.interval.high,
        method=found.interval.method,
        details=details,
        missing=float(effects.missing.mean()),
        worst=(float(effects.worst[:, 0].mean()), float(effects.worst[:, 1].mean())),
        **{**fields, "scope": asked.scope, "level": terms.level},
    )


def _lost_together(asked: Asked, effects: Effects, target: Target) -> dict[str, object]:
    """Return losses of a pool, its worst cases over worlds, and which endpoints they come from."""
    every = list(range(len(effects.endpoints)))
    told: dict[str, object] = {"lost": losses(asked.answers, effects.contrast.cells, every)}
    if not effects.missing.any():
        return told
    told["loss"] = loss_sentence(effects, every)
    if target == "these":
        lowest, highest = (part.mean(axis=0) for part in (effects.lowest, effects.highest))
        found = bounds_of(lowest, highest, asked.terms.level)
        if not isinstance(found, Undefined):
            told["bounds"] = found.to_dict()
    return told


def _endpoints_that(asked: Asked, each: Sequence[Estimate]) -> Estimate:
    """Return the share of endpoints whose effect is present after Holm, and which hold what."""
    terms = asked.terms
    which: dict[str, object] = {
        claim: [e.endpoint for e in each if _held(e, claim, terms.alpha)] for claim in CLAIMS
    }
    carried = sum(_held(e, "present", terms.alpha) for e in each)
    return Estimate(
        f"{asked.name}_endpoints",
        carried / len(each),
        scope=asked.scope,
        exact=Fraction(carried, len(each)),
        level=terms.level,
        method="Holm over endpoints",
        cluster="endpoint",
        target=TARGETS["these"],
        n={"endpoints": len(each), "present": carried},
        caveats=("a count of claims made, without an interval: others may carry luck unseen",),
        details={**_about(asked), **which, "alpha": terms.alpha, "margin": terms.margin},
    )


def _held(estimate: Estimate, claim: str, alpha: float) -> bool:
    p = estimate.details.get(f"p_{claim}_holm", 1.0)
    return isinstance(p, float) and p <= alpha
