"""The requirement comes from the consumer, and gates may not be laxer than it."""

import math
from decimal import Decimal

import pytest

from judgeaudit.verdict.requirement import requirement_of, requirement_problems


def limits(registered, gate, consumer, claim="verdict"):
    study = registered(gate, consumer=consumer, claim=claim).study
    return requirement_of(study)


def test_a_filter_tolerates_flips_up_to_its_share(registered, flip_gate):
    found = limits(registered, flip_gate, {"decision": "pass_fail_filter", "tolerated": "0.05"})

    assert found.limits["flip_rate"] == 0.05
    assert found.limits["category_exact"] == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("claim", "statistic"),
    [("ranking", "ranking_exact"), ("top1", "ranking_top1"), ("pairwise", "ranking_pairwise")],
)
def test_a_ranking_is_required_at_the_claims_granularity(registered, flip_gate, claim, statistic):
    consumer = {"decision": "ranking", "tolerated": "0.02"}
    found = limits(registered, flip_gate, consumer, claim)

    assert found.limits[statistic] == pytest.approx(0.98)


def test_a_leaderboard_needs_its_gap(registered, flip_gate):
    """2 Phi(d/tau) Phi(-d/tau) = .1 at d/tau = 1.6135 and tau = s_w sqrt(2/n); n = 200, d = .1."""
    consumer = {"decision": "leaderboard_order", "tolerated": "0.1"}
    lacking = limits(registered, flip_gate, consumer)
    found = limits(registered, flip_gate, consumer | {"params": {"gap": 0.1, "items": 200}})

    assert lacking.limits == {}
    assert "params.gap" in lacking.lacking
    z = 0.1 / (found.limits["noise"] * math.sqrt(2 / 200))
    p = 0.5 * (1 + math.erf(z / math.sqrt(2)))
    assert 2 * p * (1 - p) == pytest.approx(0.1)


def test_reward_signs_require_a_reliability(registered, flip_gate):
    """arccos(rho)/pi = .1 at rho = cos(.1 pi) = .9511."""
    found = limits(registered, flip_gate, {"decision": "reward_sign", "tolerated": "0.1"})

    assert found.limits["icc"] == pytest.approx(math.cos(0.1 * math.pi))


def test_a_threshold_laxer_than_the_requirement_is_a_problem(registered, flip_gate):
    consumer = {"decision": "pass_fail_filter", "tolerated": "0.05"}
    found = list(requirement_problems(registered(flip_gate, consumer=consumer)))

    assert [p.key for p in found] == ["gates[0]", "gates[0].healthy"]
    assert "laxer than the consumer's requirement, 0.05" in found[0].found


def test_degraded_is_at_the_requirement_or_worse(registered, flip_gate):
    gate = flip_gate | {"at_most": Decimal("0.05"), "healthy": {"value": Decimal("0.02")}}
    consumer = {"decision": "pass_fail_filter", "tolerated": "0.05"}
    at = gate | {"degraded": {"value": Decimal("0.05")}}
    better = gate | {"degraded": {"value": Decimal("0.04")}}

    assert list(requirement_problems(registered(at, consumer=consumer))) == []
    (problem,) = requirement_problems(registered(better, consumer=consumer))
    assert problem.key == "gates[0].degraded"


def test_healthy_is_better_than_degraded_and_both_are_declared(registered, flip_gate):
    swapped = flip_gate | {"healthy": {"value": "0.2"}}
    half = {k: v for k, v in flip_gate.items() if k != "degraded"}

    assert "not better" in next(requirement_problems(registered(swapped))).found
    assert next(requirement_problems(registered(half))).key == "gates[0].degraded"
