"""Estimates from a matrix of items x readings, shared by registered and exploratory analyses."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.stats.icc import Form, icc
from judgeaudit.stats.icc_runs import agreement_icc
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import RankReliability

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def spearman_estimate(
    said: Context,
    found: RankReliability | Undefined,
    scores: Floats,
    names: pd.Series,
    planned: NDArray[np.bool_] | None = None,
    pairs: list[tuple[int, int]] | None = None,
) -> Estimate:
    """Return the estimate of a rank reliability with its counts, levels and bound if perfect."""
    details = {**said.details, **scale_use(scores.ravel())}
    missing = _missing_pairs(scores, planned, pairs)
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details, missing=missing)
    if found.agreement_bound is not None:
        details["disagreement_at_most"] = found.agreement_bound.high
    n = {
        **said.n,
        "pairs": found.pairs,
        "items": min(found.items, _items(names, ~np.isnan(scores).all(axis=1))),
        "items_per_pair": found.items_per_pair,
    }
    return said.of(found.estimate, n=n, details=details, unit=found.unit, missing=missing)


def _missing_pairs(
    scores: Floats,
    planned: NDArray[np.bool_] | None,
    pairs: list[tuple[int, int]] | None,
) -> float | None:
    if pairs is None or planned is None:
        return None
    wanted = sum(int((planned[:, a] & planned[:, b]).sum()) for a, b in pairs)
    seen = ~np.isnan(scores)
    return (
        1 - sum(int((seen[:, a] & seen[:, b]).sum()) for a, b in pairs) / wanted if wanted else None
    )


def _items(names: pd.Series, rows: object) -> int:
    """Return how many items the rows are: an item asked in two orders has two."""
    return int(names[np.asarray(rows, dtype=bool)].nunique())


def agreement_of(
    said: Context, scores: Floats, names: pd.Series, tasks: Ints | None = None
) -> Estimate:
    """Return ICC(A,1) of items x runs, with an interval that knows how few runs there are.

    As its authors define it, a two-way form needs every run: incomplete items are left out and
    counted (McGraw & Wong 1996).
    """
    rng = np.random.default_rng(said.question.seed)
    details = {**said.details, **scale_use(scores.ravel())}
    whole = ~np.isnan(scores).any(axis=1)
    there = int((~np.isnan(scores).all(axis=1)).sum())
    scores, tasks = scores[whole], None if tasks is None else tasks[whole]
    found = agreement_icc(scores, tasks, rng=rng, level=said.question.level)
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details)
    details |= {"mean_of_k": found.mean_of_k, "k": found.model.runs, "run_shift": found.shift}
    n = {**said.n, "items": _items(names, whole)}
    if tasks is not None and said.question.cluster != "item":
        n["tasks"] = int(np.unique(tasks).size)
    caveats = (found.warning,) if found.warning else ()
    left_out = there - int(whole.sum())
    excluded = {**said.excluded, **({"incomplete_item": left_out} if left_out else {})}
    given = {"n": n, "details": details, "caveats": caveats}
    given["excluded"] = excluded
    return said.bounded(found.single, found.single_interval, **given)


def icc_of(
    said: Context, scores: Floats, names: pd.Series, form: Form, tasks: Ints | None = None
) -> Estimate:
    """Return the ICC of `scores` (items x readings) with its k form and normal-theory interval."""
    found = icc(scores, form, tasks)
    details = {**said.details, **scale_use(scores.ravel())}
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details)
    theory = found.normal_theory(said.question.level)
    details["mean_of_k"] = found.mean_of_k.value
    details["k"] = found.k
    if not isinstance(theory, Undefined):
        details["normal_theory"] = [theory.low, theory.high]
    there = ~np.isnan(scores)
    used = there.any(axis=1) if form == "one-way" else there.all(axis=1)
    n = {**said.n, "items": _items(names, used)}
    excluded = {**said.excluded}
    if found.incomplete:
        excluded["incomplete_item"] = found.incomplete
    caveats = (found.warning,) if found.warning else ()
    return said.of(found.single, n=n, excluded=excluded, details=details, caveats=caveats)


def noise_of(
    said: Context, scores: Floats, names: pd.Series, clusters: Ints | None = None
) -> Estimate:
    """Return the within-item SD of `scores`; where nothing varied, the bound on disagreement."""
    found = noise(scores, clusters)
    details = {**said.details, **scale_use(scores.ravel())}
    if isinstance(found, Undefined):
        return said.none(found.reason, details=details)
    details["repeatability_coefficient"] = found.repeatability
    if found.agreement_bound is not None:
        details["disagreement_at_most"] = found.agreement_bound.high
    excluded = {**said.excluded, **({"single_reading": found.single} if found.single else {})}
    n = {**said.n, "items": _items(names, (~np.isnan(scores)).sum(axis=1) >= 2)}
    return said.of(found.sd, n=n, excluded=excluded, details=details)
