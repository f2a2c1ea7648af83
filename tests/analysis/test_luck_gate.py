"""Gates on memory luck: which estimate decides, by which bound, and what a pass does not say."""

import json
from decimal import Decimal

import pytest

from judgeaudit.analysis.catalogue import NAMES, compute
from judgeaudit.analysis.question import Question
from judgeaudit.design.criteria import Gate
from judgeaudit.verdict import decide

QUIET = dict.fromkeys(("unlucky.FF", "unlucky.FU", "unlucky.SS", "unlucky.SU"), "b" * 256)
CARRIES = {**QUIET, "unlucky.FF": "w" * 128 + "b" * 128}


def verdict(table, statistic="luck_carry", params=None, **threshold):
    gate = Gate(id="g", statistic=statistic, over="all", params=params or {}, **threshold)
    asked = Question(
        over="all", level=0.9, threshold=gate.at_least or gate.at_most, params=gate.params
    )
    return decide(gate, compute(statistic, table, asked))


def test_each_endpoint_is_decided_by_itself_and_the_worst_counts(luck):
    found = verdict(luck.table(a=QUIET, b=CARRIES), at_most=Decimal("0.10"))

    assert [(h.endpoint, h.outcome.value) for h in found.held] == [("a", "pass"), ("b", "fail")]
    assert found.outcome.value == "fail"


@pytest.mark.parametrize(("pool", "outcome"), [("these", "fail"), ("like", "inconclusive")])
def test_a_pool_decides_alone_where_it_is_registered(luck, pool, outcome):
    """Mean (0 + .5)/2; over two endpoints t has one degree of freedom, and nothing is decided."""
    table = luck.table(a=QUIET, b=CARRIES)
    found = verdict(table, params={"pool": pool}, at_most=Decimal("0.10"))

    assert [h.endpoint for h in found.held] == ["all"]
    assert found.held[0].estimate.value == pytest.approx(0.25)
    assert found.outcome.value == outcome


def test_other_strata_stand_beside_and_decide_nothing(luck):
    dependent = {f"{name}.dep": answers for name, answers in CARRIES.items()}
    found = verdict(luck.table(a={**QUIET, **dependent}), at_most=Decimal("0.10"))

    assert [h.estimate.scope for h in found.held] == ["unlucky"]
    assert found.outcome.value == "pass"


def test_a_verdict_on_luck_never_says_safe_and_is_json(luck):
    found = verdict(luck.table(a=QUIET), at_most=Decimal("0.10"))

    assert "not shown to be safe" in found.does_not_say[0]
    assert "safe" not in found.says
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_mitigation_gate_asks_every_endpoint(luck):
    noted = {"unlucky.FF.note-w": "b" * 256}
    table = luck.table(a={**CARRIES, **noted}, b={**QUIET, **noted})
    found = verdict(
        table, "luck_mitigation", {"stratum": "unlucky.note-w"}, at_least=Decimal("0.10")
    )

    assert [(h.endpoint, h.outcome.value) for h in found.held] == [("a", "pass"), ("b", "fail")]


def test_every_luck_statistic_speaks_of_choices_and_of_all_readings():
    luck = {name: found for name, found in NAMES.items() if name.startswith("luck_")}

    assert len(luck) == 15
    assert {found.over for found in luck.values()} == {("all",)}
    assert all(found.claims == {"choice"} for name, found in luck.items() if found.gate)
