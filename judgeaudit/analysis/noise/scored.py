"""What a table of scores or probabilities tells: order, noise, gaps, decisions at risk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.measures import agreement_of, icc_of, noise_of, spearman_estimate
from judgeaudit.readings.sheet import Sheet
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.clustered import jackknife
from judgeaudit.stats.dominance import distinct, median
from judgeaudit.stats.facets import run_means, run_model
from judgeaudit.stats.icc import icc
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.noise import (
    detectable_change,
    quantisation_floor,
    repeats_for_gap,
)
from judgeaudit.stats.pass_marks import at_mark, mark_curve
from judgeaudit.stats.ranks import spearman_between, spearman_within
from judgeaudit.stats.scaled import LOG
from judgeaudit.stats.shifts import by_level
from judgeaudit.stats.ties import settle
from judgeaudit.stats.weighted import alpha_estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW_LEVELS = 20
"""Up to this many different scores they are taken as ordered categories too."""

MOST_LEVELS = 200
"""Up to this many different scores a step of the scale is looked for."""


def perfect(sheet: Sheet) -> bool:
    """Return whether every item has one value over all its runs, and at least two of them."""
    scores = sheet.scores()
    counts = (~np.isnan(scores)).sum(axis=1)
    twice = scores[counts >= 2]
    if not twice.size:
        return False
    return bool((np.nanmax(twice, axis=1) == np.nanmin(twice, axis=1)).all())


def estimates(
    sheet: Sheet, said: Context, gap: float | None, pass_at: float | None
) -> tuple[list[Estimate], dict[str, Any]]:
    """Return the estimates of one part and the facts that follow from them."""
    scores = settle(sheet.scores())
    clusters = sheet.per_item(sheet.long.task)
    said = replace(said, details=scale_use(scores.ravel()))
    if clusters is not None:
        said = replace(said, question=replace(said.question, cluster="task"))
    found = [
        spearman_estimate(
            _named(said, "spearman"), spearman_within(scores, clusters=clusters), scores
        ),
        icc_of(_named(said, "icc_one_way"), scores, "one-way", clusters),
        agreement_of(_named(said, "icc_agreement"), scores, clusters),
        noise_of(_named(said, "noise"), _without_order(sheet, scores), clusters),
    ]
    found += _residual(said, scores, clusters)
    found += _order(sheet, said, scores, clusters)
    found += _ordinal(said, scores, clusters)
    found += _windows(sheet, said, scores, clusters)
    found += _gold(sheet, said, scores, clusters)
    found += _filter(said, scores, pass_at, clusters)
    found += _picks(sheet, said, scores)
    return found, _facts(found, scores, gap) | _advantages(sheet, scores)


def _named(said: Context, name: str) -> Context:
    return replace(said, analysis=name)


def _without_order(sheet: Sheet, scores: Floats) -> Floats:
    """Return the scores with the orders' means made equal: an order is no noise."""
    orders = distinct(sheet.orders)
    if orders.size < 2:
        return scores
    means = by_level(scores, sheet.orders)
    kept = ~np.isnan(means).all(axis=1)
    if np.isnan(means[kept]).all(axis=0).any():
        return scores
    effects = run_means(means[kept])
    return np.asarray(scores - (effects - effects.mean())[np.searchsorted(orders, sheet.orders)])


def _residual(said: Context, scores: Floats, clusters: Ints | None) -> list[Estimate]:
    """Return the noise of a reading with the shifts of whole columns taken out."""
    if scores.shape[1] < 2:
        return []
    named = _named(said, "noise_without_shifts")
    model = run_model(scores)
    if isinstance(model, Undefined):
        return [named.none(model.reason)]
    if not model.residual > 0:
        return [named.plain(0.0, "no interval: no reading differs but by its run's shift")]
    present = ~np.isnan(scores)
    kept, columns = present.any(axis=1), present.any(axis=0)
    left = scores[np.ix_(kept, columns)] - model.means
    counts = present[kept].sum(axis=1)
    squares = np.nansum((left - np.nanmean(left, axis=1, keepdims=True)) ** 2, axis=1)
    # Taking out the runs' means costs degrees of freedom, evenly over the items.
    freedom = (counts - 1) * (model.residual_df / (counts - 1).sum())

    def sd(chosen: NDArray[np.bool_]) -> float:
        return float(np.sqrt(squares[chosen].sum() / freedom[chosen].sum()))

    tasks = None if clusters is None else clusters[kept]
    found = jackknife(sd, int(kept.sum()), tasks, scale=LOG)
    fields = {"cluster": "task"} if clusters is not None else {}
    return [named.of(found, n={**said.n, "items": int(kept.sum())}, **fields)]


def _order(sheet: Sheet, said: Context, scores: Floats, clusters: Ints | None) -> list[Estimate]:
    """Return how far the second order's scores lie from the first's, where there are two."""
    names = distinct(sheet.orders)
    if names.size != 2:
        return []
    from judgeaudit.stats.drift import mean_shift

    first, second = (scores[:, sheet.orders == order] for order in names)
    return [_named(said, "order_effect").of(mean_shift(first, second, clusters))]


def _ordinal(said: Context, scores: Floats, clusters: Ints | None) -> list[Estimate]:
    """Return Krippendorff's ordinal alpha where the scale has few levels; for display."""
    levels = distinct(scores[~np.isnan(scores)])
    if levels.size > FEW_LEVELS:
        return []
    codes = np.where(np.isnan(scores), -1, np.searchsorted(levels, scores)).astype(np.int64)
    found = alpha_estimate(codes, max(1, levels.size), "ordinal", tasks=clusters)
    return [_named(said, "ordinal_alpha").of(found)]


def _windows(sheet: Sheet, said: Context, scores: Floats, clusters: Ints | None) -> list[Estimate]:
    """Return order and mean shift between the first and the last window, where there are two."""
    names = distinct(sheet.windows)
    if names.size < 2:
        return []
    from judgeaudit.stats.drift import mean_shift

    first, last = (scores[:, sheet.windows == w] for w in (names[0], names[-1]))
    across = spearman_between(first, last, clusters=clusters)
    return [
        spearman_estimate(_named(said, "spearman_across_windows"), across, scores),
        _named(said, "window_shift").of(mean_shift(first, last, clusters)),
        *_over_windows(sheet, said, scores, clusters),
    ]


def _over_windows(
    sheet: Sheet, said: Context, scores: Floats, clusters: Ints | None
) -> list[Estimate]:
    """Return the trend over four windows or more, and the change of reliability, first to last."""
    from judgeaudit.stats.drift import LEAST_WINDOWS, reliability_change, trend

    names = distinct(sheet.windows)
    first, last = (scores[:, sheet.windows == w] for w in (names[0], names[-1]))
    found = []
    if min(first.shape[1], last.shape[1]) >= 2:
        change = reliability_change(first, last, clusters)
        found.append(_named(said, "reliability_change").of(change))
    if names.size >= LEAST_WINDOWS:
        slope = trend(by_level(scores, sheet.windows), np.arange(names.size, dtype=np.float64))
        ours = slope if isinstance(slope, Undefined) else slope.windows_like_these
        n = {**said.n, "windows": int(names.size)}
        found.append(_named(said, "window_trend").of(ours, n=n, cluster="window"))
    return found


def _gold(sheet: Sheet, said: Context, scores: Floats, clusters: Ints | None) -> list[Estimate]:
    """Return Spearman of single readings with numeric gold; undefined where gold is no number."""
    column = sheet.long.gold
    codes = sheet.per_item(column)
    if column is None or codes is None:
        return []
    named = _named(said, "gold_spearman")
    try:
        labels = np.array([*(float(label) for label in column.labels), np.nan])
    except (TypeError, ValueError):
        return [named.none("gold holds text, the readings are numbers")]
    gold = labels[codes]
    found = spearman_between(scores, gold[:, None], clusters=clusters)
    return [spearman_estimate(named, found, scores)]


def _filter(
    said: Context, scores: Floats, pass_at: float | None, clusters: Ints | None
) -> list[Estimate]:
    """Return how often an item's pass or fail changes on the next reading.

    The mark is the given one; without one, the worst of all marks that the scores tell apart.
    """
    named = _named(said, "pass_fail_flip")
    if pass_at is not None:
        given = at_mark(scores, pass_at, clusters)
        if isinstance(given, Undefined):
            return [named.none(given.reason)]
        details = {**said.details, "mark": given.mark, "mark_is": "given"}
        return [named.of(given.flips, details=details)]
    found = mark_curve(scores, clusters, said.question.level)
    if isinstance(found, Undefined):
        return [named.none(found.reason)]
    details = {
        **said.details,
        "mark": found.worst.mark,
        "mark_is": f"worst of {len(found.marks)}",
        "curve": [[m.mark, m.flips, m.passing] for m in found.marks],
    }
    return [named.bounded(found.worst.flips.value, found.worst_interval, details=details)]


def _picks(sheet: Sheet, said: Context, scores: Floats) -> list[Estimate]:
    """Return how often best of n picks another candidate, groups of equal size with all scores."""
    groups = sheet.per_item(sheet.long.group)
    if groups is None:
        return []
    from judgeaudit.stats.decisions import best_of_n

    named = _named(said, "best_of_n_change")
    complete = ~np.isnan(scores).any(axis=1)
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    whole = np.bincount(codes, weights=~complete) == 0
    common = int(np.bincount(sizes[whole]).argmax()) if whole.any() else 0
    chosen = whole & (sizes == common)
    if common < 2:
        return [named.none("no group has two items with all readings")]
    rows = np.argsort(codes, kind="stable")
    rows = rows[chosen[codes[rows]]]
    found = best_of_n(scores[rows].reshape(int(chosen.sum()), common, scores.shape[1]))
    if isinstance(found, Undefined):
        return [named.none(found.reason)]
    pairs = scores.shape[1] * (scores.shape[1] - 1) / 2
    share = effective_proportion(found.by_prompt, np.full(found.by_prompt.size, pairs))
    details = {**said.details, "n": common, "regret": [found.regret_low, found.regret_high]}
    excluded = {**said.excluded, **_left(int((~chosen).sum()))}
    n = {**said.n, "groups": int(chosen.sum())}
    return [named.of(share, details=details, excluded=excluded, n=n, cluster="group")]


def _left(groups: int) -> dict[str, int]:
    return {"incomplete_or_unequal_group": groups} if groups else {}


def _facts(found: list[Estimate], scores: Floats, gap: float | None) -> dict[str, Any]:
    """Return what follows from the noise: changes and gaps that it hides, repeats for a gap."""
    noise = next(e for e in found if e.analysis == "noise")
    step = scale_step(scores)
    facts: dict[str, Any] = {"step": step}
    if noise.value is None:
        return facts
    sd = noise.value
    repeats = max(1, int(median((~np.isnan(scores)).sum(axis=1))))
    facts |= {
        "repeatability": detectable_change(sd),
        "repeatability_of_mean": detectable_change(sd, repeats),
        "repeats_had": repeats,
        "quantisation_floor": quantisation_floor(sd, step) if step else 0.0,
    }
    if gap is not None:
        needed = repeats_for_gap(sd, gap)
        facts["gap"] = gap
        facts["repeats_for_gap"] = None if isinstance(needed, Undefined) else needed
        facts["gap_unresolvable"] = needed.reason if isinstance(needed, Undefined) else ""
    return facts


def _advantages(sheet: Sheet, scores: Floats) -> dict[str, Any]:
    """Return the reliability of group-centred scores, and how often their sign changes.

    The reliability is that within groups: items of other groups add nothing to an advantage.
    """
    groups = sheet.per_item(sheet.long.group)
    if groups is None or np.isnan(scores).any():
        return {}
    from judgeaudit.stats.decisions import advantage_sign_flip

    _, codes = np.unique(groups, return_inverse=True)
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, weights=column) / sizes for column in scores.T], axis=1)
    found = icc(scores - means[codes], "one-way")
    if isinstance(found, Undefined) or not 0 <= found.single.value <= 1:
        return {}
    rho = found.single.value
    return {"advantage_sign_flip": advantage_sign_flip(rho), "shrinkage_weight": rho}


def scale_step(scores: Floats) -> float | None:
    """Return the smallest distance between two different scores; None where there are many."""
    levels = distinct(scores[~np.isnan(scores)])
    if not 2 <= levels.size <= MOST_LEVELS:
        return None
    return float(np.round(np.diff(levels).min(), 12))
