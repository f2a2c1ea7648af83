"""From the stated consumer to the instability that its decision allows: the requirement.

What is tolerable comes from the decision that uses the judge, never from the pilot: a pilot that
defines its own health makes any judge healthy. `[study.consumer]` names the decision, the largest
share of wrong or flipped decisions, and in `params` what the decision's formula needs:

* `pass_fail_filter`: nothing; the retest flip rate may be the tolerated share.
* `ranking`: nothing; the share that the claim names (whole rankings, the first, pairs) may differ.
* `best_of_n`: `candidates` and `true_sd` for scores; nothing for rankings.
* `leaderboard_order`: `gap`, `items`, and `item_sd` if the next pass has new items.
* `reward_sign`: `true_sd` (within a group) for the noise of scores; `binary` for pass/fail rewards.
* `other`: `statistic` and `limit`, argued in `note`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration, Study
from judgeaudit.errors import Problem
from judgeaudit.statistic import Quantity
from judgeaudit.stats.requirements import (
    flip_allowed_by_binary_reward,
    flip_allowed_by_filter,
    reliability_required_by_sign,
    sd_allowed_by_leaderboard,
    sd_allowed_by_pick,
    sd_allowed_by_reliability,
)

Allowed = dict[Quantity, float]
"""What a decision allows, by quantity; which statistic answers to it, its record says."""

_TWO_SCORES = 1.959963984540054 * math.sqrt(2)


@dataclass(frozen=True, slots=True)
class Requirement:
    """The worst value of each statistic that the consumer can live with.

    `lacking` says what else must be given before there are more.
    """

    decision: str
    tolerated: float
    limits: Mapping[str, float]
    lacking: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the requirement in words."""
        yield f"requirement: {self.decision}, at most {self.tolerated:g} of decisions may differ"
        for name, limit in self.limits.items():
            way = "at most" if NAMES[name].better == "low" else "at least"
            yield f"  {name} {way} {limit:.4g}"
        if self.lacking:
            yield f"  nothing more can be derived: {self.lacking}"


def requirement_of(study: Study, seed: int = 0) -> Requirement | None:
    """Return what the consumer's decision asks of the judge; None where no consumer is named."""
    if study.consumer is None:
        return None
    consumer = study.consumer
    tolerated, params = float(consumer.tolerated), plain(consumer.params)
    if consumer.decision == "other":
        return Requirement(consumer.decision, tolerated, *_other(params))
    allowed, lacking = _BY_DECISION[consumer.decision](tolerated, params, study, seed)
    if "sd" in allowed:
        allowed["coefficient"] = _TWO_SCORES * allowed["sd"]
    limits = _answered(consumer.decision, study.claim, allowed)
    return Requirement(consumer.decision, tolerated, limits, lacking)


def _answered(decision: str, claim: str, allowed: Allowed) -> dict[str, float]:
    """Return the limit of each statistic that answers a decision's requirement."""
    return {
        name: allowed[answer.quantity]
        for name, record in NAMES.items()
        for answer in record.answers
        if answer.decision == decision
        and answer.claim in ("", claim)
        and answer.quantity in allowed
    }


Derived = tuple[Allowed, str]
Derive = Callable[[float, dict[str, Any], Study, int], Derived]


def _filter(t: float, params: dict[str, Any], study: Study, seed: int) -> Derived:
    flip = flip_allowed_by_filter(t)
    return {"flips": flip, "same": 1 - flip}, ""


def _ranking(t: float, params: dict[str, Any], study: Study, seed: int) -> Derived:
    allowed: Allowed = {"right": 1 - t}
    if not _answered("ranking", study.claim, allowed):
        return {}, f"a ranking decision has claim ranking, top1 or pairwise, not {study.claim}"
    return allowed, ""


def _pick(t: float, params: dict[str, Any], study: Study, seed: int) -> Derived:
    limits: Allowed = {"right": 1 - t, "wrong": t}
    if not {"candidates", "true_sd"} <= set(params):
        return limits, "give params.candidates and params.true_sd for a limit on noise"
    sd = sd_allowed_by_pick(t, int(params["candidates"]), float(params["true_sd"]))
    return {**limits, "sd": sd}, ""


def _leaderboard(t: float, params: dict[str, Any], study: Study, seed: int) -> Derived:
    if not {"gap", "items"} <= set(params):
        return {}, "give params.gap (of two systems, in scale units) and params.items"
    sd = float(params.get("item_sd", 0.0))
    return {"sd": sd_allowed_by_leaderboard(
        t, float(params["gap"]), int(params["items"]), item_sd=sd
    )}, ""  # fmt: skip


def _sign(t: float, params: dict[str, Any], study: Study, seed: int) -> Derived:
    if params.get("binary"):
        inverted = flip_allowed_by_binary_reward(t, seed=seed, group=int(params.get("group", 8)))
        flip = 2 * inverted * (1 - inverted)
        return {"flips": flip, "same": 1 - flip}, ""
    reliability = reliability_required_by_sign(t)
    limits: Allowed = {"reliability": reliability, "wrong": t}
    if "true_sd" not in params:
        return limits, "give params.true_sd (within a group) for a limit on noise"
    return {**limits, "sd": sd_allowed_by_reliability(reliability, float(params["true_sd"]))}, ""


def _other(params: dict[str, Any]) -> tuple[dict[str, float], str]:
    name, limit = params.get("statistic"), params.get("limit")
    if name not in NAMES or limit is None:
        return {}, "give params.statistic and params.limit, and argue for them in `note`"
    return {str(name): float(limit)}, ""


_BY_DECISION: dict[str, Derive] = {
    "pass_fail_filter": _filter,
    "ranking": _ranking,
    "best_of_n": _pick,
    "leaderboard_order": _leaderboard,
    "reward_sign": _sign,
}


def requirement_problems(registration: Registration) -> Iterator[Problem]:
    """Yield declared instruments and thresholds that contradict the consumer's requirement."""
    found = requirement_of(registration.study, registration.schedule.seed)
    for number, gate in enumerate(registration.gates):
        key = f"gates[{number}]"
        yield from _order_problems(key, gate)
        if found is not None and gate.statistic in found.limits:
            yield from _against(key, gate, found)


def _sense(gate: Gate) -> int:
    """Return 1 where more of the gated statistic is better, -1 where less is, 0 for a band."""
    return 1 if gate.at_least is not None else -1 if gate.at_most is not None else 0


def _order_problems(key: str, gate: Gate) -> Iterator[Problem]:
    if (gate.healthy is None) != (gate.degraded is None):
        lacking = "degraded" if gate.degraded is None else "healthy"
        yield Problem(f"{key}.{lacking}", "missing", "declare both instruments or none")
    if gate.healthy is None or gate.degraded is None or not _sense(gate):
        return
    healthy, degraded = gate.healthy.value, gate.degraded.value
    if (healthy - degraded) * _sense(gate) <= 0:
        yield Problem(
            f"{key}.healthy", f"{healthy} is not better than degraded {degraded}", "declare it so"
        )


def _against(key: str, gate: Gate, found: Requirement) -> Iterator[Problem]:
    limit, sense = found.limits[gate.statistic], _sense(gate)
    told = f"the consumer's requirement, {limit:.6g}"
    threshold = gate.at_least if gate.at_least is not None else gate.at_most
    if not sense or threshold is None:
        return
    if (float(threshold) - limit) * sense < -1e-9:
        yield Problem(key, f"threshold {threshold} is laxer than {told}", "gate at the requirement")
    if gate.healthy is not None and (float(gate.healthy.value) - limit) * sense <= 0:
        yield Problem(
            f"{key}.healthy",
            f"{gate.healthy.value} is not better than {told}",
            "declare one that is",
        )
    if gate.degraded is not None and (float(gate.degraded.value) - limit) * sense > 1e-9:
        yield Problem(
            f"{key}.degraded",
            f"{gate.degraded.value} is better than {told}",
            "degraded is at the requirement or worse",
        )
