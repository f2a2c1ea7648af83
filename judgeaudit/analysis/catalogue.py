"""The names that a registration may use, each with what computes it and what it needs.

`compute` is the one way in: it narrows the table (`where`), leaves controls out, splits by endpoint
(endpoints are never pooled) and, where asked (`params.by`), by a column, and stamps each estimate
with its endpoint and scope. Families that ask about several endpoints at once (`OF_ALL_ENDPOINTS`)
get the whole table and do that themselves. A new analysis is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from judgeaudit.analysis import identity
from judgeaudit.analysis.agreement import groups, labels, orders, providers, repeatability, replay
from judgeaudit.analysis.decisions import consumers
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck import analyses as luck
from judgeaudit.analysis.luck import checks as luck_checks
from judgeaudit.analysis.luck import lessons as luck_lessons
from judgeaudit.analysis.luck import mitigation as luck_mitigation
from judgeaudit.analysis.noise import informative, measurand, rescue, sizing, spread
from judgeaudit.analysis.proven import unproven
from judgeaudit.analysis.question import Over, Question
from judgeaudit.analysis.time import days
from judgeaudit.analysis.truth import constructed, controls, funnel, gold
from judgeaudit.errors import InputError
from judgeaudit.readings.table import META, probes, select

Compute = Callable[[pd.DataFrame, Question], list[Estimate]]

PAIRS: tuple[Over, ...] = (
    "same_window",
    "windows_same_day",
    "next_day",
    "other_day",
    "conditions",
    "all",
)
ORDERS: tuple[Over, ...] = ("orders",)
WHOLE: tuple[Over, ...] = ("all", "same_window")
CELLS: tuple[Over, ...] = ("all",)


@dataclass(frozen=True, slots=True)
class Family:
    """One statistic: what computes it, from which value, for which claims, over which pairs.

    `reads` is the column of the table that it needs; `claims` the granularities it speaks to;
    `needs` facets of the plan ("repeats", "windows", "days", "arms", "groups", "gold",
    "candidates"); `better` whether more of it is better ("high"), less ("low") or neither ("");
    `gate` False keeps it out of gates, `why_no_gate` says why.
    """

    compute: Compute
    about: str
    reads: str
    claims: frozenset[str]
    over: tuple[Over, ...]
    needs: frozenset[str] = frozenset()
    better: str = "high"
    gate: bool = True
    why_no_gate: str = ""


def _family(
    compute: Compute,
    reads: str,
    claims: str,
    over: tuple[Over, ...],
    needs: str = "",
    better: str = "high",
    why_no_gate: str = "",
) -> Family:
    about = " ".join((compute.__doc__ or "").split("\n")[0].split()).removeprefix("Return ")
    return Family(
        compute,
        about,
        reads,
        frozenset(claims.split()),
        over,
        frozenset(needs.split()),
        better,
        not why_no_gate,
        why_no_gate,
    )


SCORES = "score probability"
VERDICTS = "verdict choice"
DAYS = "ranking top1 pairwise verdict choice score"
BY_RULES = "lessons are coded by rules on their wording: exploratory"
DESIGNS = "it describes or sizes a design and is no property to pass or fail"
RECORDED = "what a reply says of itself is evidence of identity, not of measurement"
CHANCE = "no interval of it can be trusted when flips are rare"

NAMES: Mapping[str, Family] = {
    "label_coverage": _family(labels.label_coverage, "number", "probability", WHOLE),
    "pair_completeness": _family(labels.pair_completeness, "number", "probability", WHOLE, "arms"),
    "label_mass_median": _family(labels.label_mass_median, "mass", "probability", WHOLE),
    "label_mass_p01": _family(labels.label_mass_p01, "mass", "probability", WHOLE),
    "median_abs_delta_r": _family(
        labels.median_abs_delta_r, "number", "probability", PAIRS, "repeats", "low"
    ),
    "b_map": _family(labels.b_map, "number", "probability", WHOLE, "arms", ""),
    "group_rank_spearman_median": _family(
        groups.group_rank_spearman_median,
        "number",
        "ranking probability score",
        PAIRS,
        "repeats groups",
    ),
    "group_concordance": _family(
        groups.group_concordance, "number", "pairwise probability score", PAIRS, "repeats groups"
    ),
    "informative_concordance": _family(
        informative.informative_concordance,
        "number",
        "ranking pairwise probability score",
        PAIRS,
        "repeats groups",
    ),
    "ranking_exact": _family(
        replay.ranking_exact, "ranking", "ranking", (*PAIRS, *ORDERS), "repeats"
    ),
    "ranking_top1": _family(replay.ranking_top1, "ranking", "top1", (*PAIRS, *ORDERS), "repeats"),
    "ranking_pairwise": _family(
        replay.ranking_pairwise, "ranking", "pairwise", (*PAIRS, *ORDERS), "repeats"
    ),
    "category_exact": _family(
        repeatability.category_exact, "category", VERDICTS, (*PAIRS, *ORDERS), "repeats"
    ),
    "flip_rate": _family(
        repeatability.flip_rate, "category", VERDICTS, (*PAIRS, *ORDERS), "repeats", "low"
    ),
    "number_exact": _family(repeatability.number_exact, "number", SCORES, PAIRS, "repeats"),
    "text_exact": _family(repeatability.text_exact, "text", "", PAIRS, "repeats"),
    "spearman": _family(repeatability.spearman, "number", SCORES, PAIRS, "repeats"),
    "icc": _family(repeatability.icc_estimate, "number", SCORES, WHOLE, "repeats"),
    "noise": _family(repeatability.noise_estimate, "number", SCORES, WHOLE, "repeats", "low"),
    "repeatability_coefficient": _family(
        repeatability.repeatability_coefficient, "number", SCORES, WHOLE, "repeats", "low"
    ),
    "alpha": _family(
        repeatability.alpha, "category", VERDICTS, WHOLE, "repeats", why_no_gate=CHANCE
    ),
    "ac1": _family(repeatability.ac1, "category", VERDICTS, WHOLE, "repeats", why_no_gate=CHANCE),
    "order_flip": _family(
        orders.order_flip, "category", VERDICTS, (*ORDERS, *WHOLE), "arms", "low"
    ),
    "order_excess": _family(
        orders.order_excess, "category", VERDICTS, (*ORDERS, *WHOLE), "arms repeats", "low"
    ),
    "order_position": _family(
        orders.order_position, "category", VERDICTS, (*ORDERS, *WHOLE), "arms", ""
    ),
    "gold_agreement": _family(
        gold.gold_agreement,
        "category",
        "verdict choice ranking top1 probability",
        ("gold", *WHOLE),
        "gold",
    ),
    "day_difference": _family(days.day_difference, "any", DAYS, WHOLE, "windows days", ""),
    "day_within": _family(days.day_within, "any", DAYS, WHOLE, "windows"),
    "day_between": _family(days.day_between, "any", DAYS, WHOLE, "windows days"),
    "day_spread": _family(days.day_spread, "any", DAYS, WHOLE, "windows days", "low"),
    "luck_carry": _family(luck.luck_carry, "category", "choice", CELLS, "arms", "low"),
    "luck_lesson_effect": _family(
        luck.luck_lesson_effect, "category", "choice", CELLS, "arms", "low"
    ),
    "luck_outcome_effect": _family(
        luck.luck_outcome_effect, "category", "choice", CELLS, "arms", "low"
    ),
    "luck_total": _family(luck.luck_total, "category", "choice", CELLS, "arms", "low"),
    "luck_harm": _family(luck.luck_harm, "category", "choice", CELLS, "arms", "low"),
    "luck_protection": _family(luck.luck_protection, "category", "choice", CELLS, "arms", ""),
    "luck_mitigation": _family(
        luck_mitigation.luck_mitigation, "category", "choice", CELLS, "arms", ""
    ),
    "luck_p": _family(luck_checks.luck_p, "category", "choice", CELLS, "arms", "low"),
    "luck_again": _family(luck_checks.luck_again, "category", "choice", CELLS, "arms", "low"),
    "luck_comprehension": _family(
        luck_checks.luck_comprehension, "category", "choice", CELLS, "arms"
    ),
    "luck_lessons": _family(
        luck_lessons.luck_lessons, "text", "", CELLS, "arms", "", why_no_gate=BY_RULES
    ),
    "max_same_day_median": _family(
        providers.max_same_day_median, "any", DAYS, WHOLE, "windows", ""
    ),
    "fingerprint_difference": _family(
        providers.fingerprint_difference, "any", DAYS, WHOLE, "windows", ""
    ),
    "separation": _family(
        constructed.separation, "ranking", "ranking top1 pairwise", WHOLE, "candidates"
    ),
    "detection_limit": _family(
        constructed.detection_limit, "ranking", "ranking top1 pairwise", WHOLE, "candidates", "low"
    ),
    "gap_delta": _family(measurand.gap_delta, "number", SCORES, PAIRS, "repeats groups", "low"),
    "gap_adjacent": _family(measurand.gap_adjacent, "number", SCORES, WHOLE, "groups"),
    "group_range": _family(measurand.group_range, "number", SCORES, WHOLE, "groups"),
    "mixed_correctness": _family(measurand.mixed_correctness, "number", SCORES, WHOLE, "groups"),
    "pass_fail_flip": _family(consumers.pass_fail_flip, "number", SCORES, WHOLE, "repeats", "low"),
    "best_of_n_change": _family(
        consumers.best_of_n_change,
        "number",
        "score probability top1",
        WHOLE,
        "repeats groups",
        "low",
    ),
    "advantage_sign_flip": _family(
        consumers.advantage_sign_flip, "number", SCORES, WHOLE, "repeats groups", "low"
    ),
    "shrinkage_weight": _family(
        consumers.shrinkage_weight, "number", SCORES, WHOLE, "repeats groups"
    ),
    "leaderboard_top_change": _family(
        consumers.leaderboard_top_change, "number", SCORES, WHOLE, "repeats", "low"
    ),
    "window_shift": _family(spread.window_shift, "number", SCORES, WHOLE, "windows", ""),
    "component": _family(
        spread.component, "number", SCORES, WHOLE, "windows", "", why_no_gate=DESIGNS
    ),
    "design_reliability": _family(
        spread.design_reliability, "number", SCORES, WHOLE, "windows", why_no_gate=DESIGNS
    ),
    "sampling_rescue": _family(
        rescue.sampling_rescue, "number", SCORES, WHOLE, "groups", why_no_gate=DESIGNS
    ),
    "aggregation_agreement": _family(
        sizing.aggregation_agreement,
        "ranking",
        "ranking top1",
        PAIRS,
        "repeats",
        why_no_gate=DESIGNS,
    ),
    "fingerprints": _family(identity.fingerprints, "any", "", WHOLE, why_no_gate=RECORDED),
    "models_returned": _family(identity.models_returned, "any", "", WHOLE, why_no_gate=RECORDED),
    "funnel": _family(funnel.funnel, "any", "", WHOLE),
    "controls": _family(
        controls.controls,
        "any",
        "",
        WHOLE,
        why_no_gate="controls check the instrument and decide nothing",
    ),
}

OF_ALL_ENDPOINTS = frozenset(
    {"controls", "max_same_day_median"} | {name for name in NAMES if name.startswith("luck_")}
)
"""Families that take the whole table: controls, providers, and memory luck."""


def family(name: str) -> Family:
    """Return the family called `name`; raises `InputError` naming those that are known."""
    if name not in NAMES:
        raise InputError(
            "statistic", name, "no such statistic", f"one of {', '.join(sorted(NAMES))}"
        )
    return NAMES[name]


def compute(
    name: str,
    table: pd.DataFrame,
    question: Question,
    where: Mapping[str, str] | None = None,
) -> list[Estimate]:
    """Return the estimates of one statistic: one list an endpoint, the headline of each first.

    `where` narrows the table by columns or items' meta values; `question.params["by"]` adds
    estimates for each value of a column. Raises `InputError` for a name or column that is unknown.
    """
    found = family(name)
    chosen = select(table, where or {})
    scope = ", ".join(f"{k}={v}" for k, v in (where or {}).items() if k != "endpoint") or "all"
    if name in OF_ALL_ENDPOINTS:
        told = found.compute(chosen, question)
        return [one for e in told for one in _stamped([e], e.endpoint, scope)]
    asked = probes(chosen)
    estimates: list[Estimate] = []
    for endpoint in pd.unique(asked["endpoint"]):
        part = asked[asked["endpoint"].eq(endpoint)]
        estimates += _stamped(found.compute(part, question), str(endpoint), scope)
        estimates += _by(found, part, question, str(endpoint), scope)
    return estimates


def _by(
    found: Family, part: pd.DataFrame, question: Question, endpoint: str, scope: str
) -> list[Estimate]:
    by = question.params.get("by")
    if by is None:
        return []
    column = str(by) if str(by) in part else f"{META}{by}"
    if column not in part:
        raise InputError("params", "by", f"no column {by!r}", "a column or an item's meta key")
    estimates = []
    for value, rows in part.groupby(column, sort=True):
        inner = f"{by}={value}" if scope == "all" else f"{scope}, {by}={value}"
        estimates += _stamped(found.compute(rows, question), endpoint, inner)
    return estimates


def _stamped(estimates: list[Estimate], endpoint: str, scope: str) -> list[Estimate]:
    return [
        replace(
            _warned(estimate),
            endpoint=endpoint,
            scope=scope
            if estimate.scope == "all"
            else estimate.scope
            if scope == "all"
            else f"{scope}, {estimate.scope}",
        )
        for estimate in estimates
    ]


def _warned(estimate: Estimate) -> Estimate:
    """Return the estimate, with a caveat where its interval is not proven at this size."""
    tasks = estimate.n.get("tasks") if estimate.cluster == "task" else None
    said = unproven(estimate, tasks)
    return estimate.with_caveats(said) if said else estimate
