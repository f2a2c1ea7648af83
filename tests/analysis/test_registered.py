"""From a registration and a table to verdicts: the registered rule is the executed rule."""

import json

import pytest

from judgeaudit.design.base import read_toml
from judgeaudit.design.document import Registration
from judgeaudit.verdict import Outcome, evaluate, question_of

HEAD = """
analyses = [{analyses}]
[study]
id = "s"
title = "S"
authors = ["N. N."]
claim = "{claim}"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"
[schedule]
seed = 5
cap = 100
[unit]
cluster = "task"
target = "these probes"
"""

I_3S = "".join(
    f"""
[[gates]]
id = "{name}"
statistic = "{name}"
over = "{over}"
{threshold}
decide = "point"
part_of = "I-3S"
"""
    for name, over, threshold in (
        ("label_coverage", "all", "at_least = 0.995"),
        ("pair_completeness", "all", "at_least = 0.990"),
        ("label_mass_median", "all", "at_least = 0.95"),
        ("label_mass_p01", "all", "at_least = 0.80"),
        ("median_abs_delta_r", "same_window", "at_most = 0.03"),
        ("group_rank_spearman_median", "same_window", "at_least = 0.90"),
    )
)

A_S1 = """
[[rules]]
id = "A-S1"
statistic = "day_difference"
[[rules.bands]]
name = "nondeterminism_floor"
below = 0.03
absolute = true
[[rules.bands]]
name = "systematic_cross_day"
at_least = 0.10
"""


def registered(text, claim="probability", analyses="", pilot=""):
    document = HEAD.format(claim=claim, analyses=analyses) + text + pilot
    return Registration.model_validate(read_toml("registration.toml", document.encode()))


@pytest.fixture
def ce_like(build):
    """8 tasks x 4 candidates, both arms, twice: r moves by .006, orders of neighbours swap."""
    rows = []
    for task in range(8):
        for c in range(4):
            for repeat in (0, 1):
                r = 0.5 + 0.004 * c + (0.006 * (-1) ** c if repeat else 0.0)
                for arm in ("fwd", "rev"):
                    rows.append(
                        {
                            "item": f"t{task}c{c}",
                            "endpoint": "judge",
                            "group": f"t{task}",
                            "task": f"t{task}",
                            "arm": arm,
                            "repeat": repeat,
                            "number": r,
                            "mass": 0.999,
                        }
                    )
    return build.table(rows)


def test_a_still_scalar_can_hide_a_lost_order(ce_like):
    """CE's finding: |delta r| .006 passes .03, the order of near-ties does not reach .90.

    r of the repeat .506 .498 .514 .506 against .500 .504 .508 .512: ranks 2.5 1 4 2.5 against
    1 2 3 4, centred 0 -1.5 1.5 0 and -1.5 -.5 .5 1.5: 1.5/sqrt(4.5 * 5) = .316.
    """
    found = evaluate(registered(I_3S), ce_like)

    outcomes = {verdict.id: verdict.outcome for verdict in found.verdicts}
    assert outcomes["median_abs_delta_r"] is Outcome.PASS
    assert outcomes["group_rank_spearman_median"] is Outcome.FAIL
    assert outcomes["I-3S"] is Outcome.FAIL
    ranks = next(v for v in found.verdicts if v.id == "group_rank_spearman_median")
    assert ranks.held[0].estimate.value == pytest.approx(1.5 / 22.5**0.5)
    assert [v for k, v in outcomes.items() if k.startswith("label")] == [Outcome.PASS] * 3


def test_a_gate_without_a_pilot_is_exploratory_and_says_so(ce_like):
    found = evaluate(registered(I_3S), ce_like)

    assert not any(verdict.confirmatory for verdict in found.verdicts)
    assert any("exploratory" in text for text in found.verdicts[0].does_not_say)


def test_a_gate_with_a_pilot_and_declared_instruments_is_confirmatory(ce_like):
    gate = """
[[gates]]
id = "coverage"
statistic = "label_coverage"
over = "all"
at_least = 0.9
healthy = {value = 0.99}
degraded = {value = 0.8}
"""
    pilot = f'\n[pilot]\ndigest = "sha256:{"0" * 64}"\n'

    found = evaluate(registered(gate, pilot=pilot), ce_like)

    assert [verdict.confirmatory for verdict in found.verdicts] == [True]
    assert all(e.confirmatory for e in found.estimates if e.analysis == "label_coverage")


def test_a_gates_question_holds_what_it_registered():
    gate = registered(I_3S.replace('decide = "point"', "alpha = 0.01")).gates[0]
    registration = registered(I_3S)

    question = question_of(gate, registration)

    assert question.level == pytest.approx(0.98)
    assert (question.cluster, question.target, question.seed) == ("task", "these probes", 5)
    assert question.threshold == gate.at_least


def test_a_rule_names_its_band_and_gates_nothing(build):
    """Two days of three windows that agree alike: d = 0."""
    rows = [
        {"item": f"i{i}", "day": d, "window": f"d{d}w{w}", "category": "A", "endpoint": "judge"}
        for i in range(10)
        for d in (1, 2)
        for w in range(3)
    ]

    found = evaluate(registered(A_S1, claim="verdict"), build.table(rows))

    assert found.verdicts == ()
    assert found.named[0].names == (("judge", "nondeterminism_floor"),)
    assert found.named[0].confirmatory
    assert "passes and fails nothing" in " ".join(found.named[0].does_not_say)


def test_controls_stand_apart_and_enter_no_estimate(build):
    rows = [
        {"item": f"i{i}", "endpoint": "judge", "repeat": k, "category": "A"}
        for i in range(10)
        for k in (0, 1)
    ]
    rows += [
        {"item": "control", "endpoint": "judge", "control": "gold", "category": "B", "gold": "B"}
    ]

    found = evaluate(registered("", claim="verdict", analyses='"flip_rate"'), build.table(rows))

    assert [e.n["hits"] for e in found.controls] == [1]
    assert {e.n["items"] for e in found.analyses} == {10}


def test_a_named_analysis_is_told_once_a_comparison(build):
    """Two days: next day and other day are the same pairs, and told once."""
    rows = [
        {"item": f"i{i}", "endpoint": "judge", "day": d, "window": f"d{d}", "category": "AB"[d % 2]}
        for i in range(10)
        for d in (1, 2)
    ]

    found = evaluate(registered("", claim="verdict", analyses='"flip_rate"'), build.table(rows))

    assert [(e.scope, e.value) for e in found.analyses] == [("over=next_day", 1.0)]
    assert not found.analyses[0].confirmatory


def test_findings_are_json(ce_like):
    found = evaluate(registered(I_3S), ce_like)

    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert document["overall"] == "fail"
    assert document["gates"][-1]["kind"] == "composite gate"
