"""Which gates may be frozen: the rules in `verdict/freezable.py`, one test each."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Condition, PilotRef
from judgeaudit.errors import Problem
from judgeaudit.model import Item
from judgeaudit.verdict.freezable import freeze_problems
from judgeaudit.verdict.oc.gate import can_fire, characterise, piloted
from judgeaudit.verdict.oc.piloted import (
    FORMAT,
    PilotRecord,
    asked_of,
    battery_problems,
    other_models,
    pilot_problems,
)
from judgeaudit.verdict.oc.planned import Size
from judgeaudit.verdict.oc.predictive import predict
from judgeaudit.verdict.oc.redesign import Price, proposals
from judgeaudit.verdict.registered import evaluate

DIGEST = "sha256:" + "0" * 64
BIG, SMALL = Size(300, 300, 300, 600), Size(100, 100, 100, 200)


def characteristic(registration, size, table=None):
    gate = registration.gates[0]
    seen = None if table is None else piloted(gate, registration, table, None)
    return characterise(gate, size, 0, seen)


def problems(registration, size, table=None, pilot=()):
    found = characteristic(registration, size, table)
    return list(freeze_problems(registration, [found], pilot))


def test_a_good_pilot_of_a_gate_that_discriminates_lets_it_through(registered, flip_gate, flips):
    """Two readings differ with 2 * .01 * .99 = .02, five times better than degraded."""
    assert problems(registered(flip_gate), BIG, flips(100, 0.01)) == []


def test_without_a_pilot_a_confirmatory_gate_is_refused(registered, flip_gate):
    (problem,) = problems(registered(flip_gate), BIG, pilot=None)

    assert problem.key == "pilot"
    assert "flips" in problem.found


def test_a_gate_without_instruments_is_exploratory_and_can_be_frozen(registered, flip_gate):
    plain = {k: v for k, v in flip_gate.items() if k not in ("healthy", "degraded")}

    assert problems(registered(plain), SMALL, pilot=None) == []


def test_a_gate_too_small_to_discriminate_is_refused_with_its_chances(registered, flip_gate, flips):
    """100 draws pass a true .05 with .436 (see tests of the characteristic)."""
    (problem,) = problems(registered(flip_gate), SMALL, flips(100, 0.01))

    assert "healthy 0.05 has pass 0.44" in problem.found
    assert "degraded 0.10 has pass" in problem.found


def test_an_incapable_instrument_is_refused(registered, flip_gate, flips):
    """Two readings differ with 2 * .1 * .9 = .18."""
    (problem,) = problems(registered(flip_gate), BIG, flips(100, 0.1))

    assert "is not capable (better than degraded 0.10 is asked)" in problem.found


def test_an_override_lets_it_through(registered, flip_gate, flips):
    registration = registered(flip_gate, pilot={"override": "the launch is on Monday"})

    assert problems(registration, SMALL, flips(100, 0.1)) == []


def test_a_pilots_own_problems_are_told(registered, flip_gate, flips):
    late = Problem("pilot.max_age", "the pilot is 40 days old")

    assert problems(registered(flip_gate), BIG, flips(100, 0.01), [late]) == [late]


@pytest.mark.parametrize(
    ("given", "size", "fires"),
    [
        ({"statistic": "ranking_exact", "at_least": "0.99"}, SMALL, (False, True)),
        (
            {"statistic": "ranking_exact", "at_least": "0.99", "decide": "point"},
            SMALL,
            (True, True),
        ),
        ({"statistic": "flip_rate", "at_most": "1"}, SMALL, (True, False)),
        ({"statistic": "spearman", "at_least": "0.9"}, Size(9, 9, 9, 18), (False, False)),
        ({"statistic": "spearman", "at_least": "0.9"}, Size(10, 10, 10, 20), (True, True)),
        ({"statistic": "noise", "at_most": "-1"}, SMALL, (False, True)),
        ({"statistic": "flip_rate", "at_most": "0.1"}, Size(100, 100, 0, 100), (False, False)),
    ],
)
def test_branches_that_can_never_fire_are_known(given, size, fires):
    """.05^(1/100) = .9705 is the most that 100 agreements show; jackknives need ten units."""
    assert can_fire(Gate(id="g", **given), size) == fires


def test_a_branch_that_can_never_fire_is_refused_even_by_override(registered):
    gate = {"id": "g", "statistic": "category_exact", "at_least": "0.99"}
    registration = registered(gate, pilot={"override": "because"})
    (problem,) = problems(registration, SMALL)

    assert "can never pass with 100 independent units" in problem.found


def test_proposals_never_lower_the_threshold(registered, flip_gate, flips):
    registration, table = registered(flip_gate), flips(100, 0.01)
    found = characteristic(registration, SMALL, table)
    told = list(proposals(found, registration, table, 0, Price({"USD": Decimal("0.01")})))

    assert any("independent units instead of 100" in text for text in told)
    assert any("USD" in text for text in told)
    assert not any("lower" in text and "threshold" in text for text in told)


def test_an_incapable_judge_is_told_not_to_run(registered, flip_gate, flips):
    registration, table = registered(flip_gate), flips(100, 0.1)
    found = characteristic(registration, BIG, table)

    assert "do not run" in list(proposals(found, registration, table, 0, Price({})))[-1]


def test_the_piloted_instrument_is_predicted_by_the_registered_rule(registered, flip_gate, flips):
    """A judge that flips .02 passes a gate of 300 items; one that flips .32 fails it."""
    registration = registered(flip_gate)
    gate = registration.gates[0]
    good = predict(gate, registration, flips(100, 0.01), 300, seed=1, draws=20)
    bad = predict(gate, registration, flips(100, 0.2), 300, seed=1, draws=20)

    assert good.chances.passes >= 0.9
    assert bad.chances.fails >= 0.9
    assert good == predict(gate, registration, flips(100, 0.01), 300, seed=1, draws=20)


def test_a_pilot_with_less_than_planned_says_so(registered, flip_gate, flips):
    registration = registered(flip_gate, schedule={"days": 2, "repeats": 4})
    found = predict(registration.gates[0], registration, flips(20, 0.1), 20, seed=1, draws=20)

    assert found.notes == (
        "the pilot has 1 days, the plan 2: 1 were used",
        "the pilot has 3 repeats, the plan 4: 3 were used",
    )


def record(registration, **more):
    given = {
        "study": "s-pilot",
        "lock_digest": DIGEST,
        "protocol": DIGEST,
        "runs": {},
        "finished_at": datetime(2026, 1, 1, tzinfo=UTC),
        "asked": {s.id: asked_of(s) for s in registration.endpoints},
        "served": {"judge": ("m",)},
    }
    return PilotRecord(**(given | more))


def test_a_pilot_expires_with_age_and_with_another_judge(registered, flip_gate):
    registration, ref = registered(flip_gate), PilotRef(digest=DIGEST)
    held = record(registration)
    soon = held.finished_at + timedelta(days=30)
    other = record(registration, asked={"judge": held.asked["judge"] | {"model": "m2"}})

    assert list(pilot_problems(held, ref, registration, DIGEST, soon)) == []
    (late,) = pilot_problems(held, ref, registration, DIGEST, soon + timedelta(days=1))
    assert late.key == "pilot.max_age"
    (moved,) = pilot_problems(other, ref, registration, DIGEST, soon)
    assert moved.key == "endpoints[0].model"
    (protocol,) = pilot_problems(held, ref, registration, DIGEST[:-1] + "1", soon)
    assert protocol.key == "protocol"


def test_a_pilot_speaks_of_its_own_battery_and_conditions(registered, flip_gate):
    items = [Item(f"q{n}", f"q{n}", f"q{n}", {"text": str(n)}) for n in range(5)]
    one, eight = [Condition(name="default")], [Condition(name="default", in_flight=8)]

    assert list(battery_problems(items[:3], items, (one, one))) == []
    reworded = [replace(items[0], fields={"text": "other"}), *items[1:]]
    (battery,) = battery_problems(items[:3], reworded, (one, one))
    assert "1 piloted items are not in it as they were asked, e.g. 'q0'" in battery.found
    (stranger,) = battery_problems([Item("z", "z", "z", {})], items, (one, one))
    assert stranger.key == "battery"
    (loaded,) = battery_problems(items[:3], items, (one, eight))
    assert loaded.key == "schedule.conditions"
    assert "default 8 in flight, but default 1 in flight was piloted" in loaded.found


def test_identity_belongs_to_how_a_judge_is_asked(registered, flip_gate):
    registration = registered(flip_gate)
    spec = registration.endpoints[0]

    changed = asked_of(spec.model_copy(update={"identity": {"served": ["m-2"]}}))

    assert asked_of(spec)["identity"] == {}
    assert changed["identity"] == {"served": ["m-2"]}


def test_a_model_that_the_pilot_never_saw_is_named(registered, flip_gate):
    held = record(registered(flip_gate))

    assert list(other_models(held, {"judge": ["m", "m-2027"]})) == [("judge", "m-2027")]


def test_results_that_are_none_are_refused():
    from judgeaudit.errors import EvidenceError

    with pytest.raises(EvidenceError, match=r"pilot\.json: not a pilot's results: KeyError"):
        PilotRecord.from_json(f'{{"format": "{FORMAT}"}}'.encode(), "pilot.json")


@pytest.mark.parametrize(
    ("pilot", "served", "confirmatory", "mark"),
    [
        ({"digest": DIGEST}, "m", True, None),
        (None, "m", False, None),
        ({"digest": DIGEST, "override": "hurry"}, "m", False, "frozen by override: hurry"),
        ({"digest": DIGEST}, "m-2027", False, "now answers as 'm-2027'"),
    ],
)
def test_confirmatory_is_derived_and_marks_are_for_life(
    registered, flip_gate, flips, pilot, served, confirmatory, mark
):
    registration = registered(flip_gate, pilot=pilot)
    held = record(registration) if pilot else None
    (verdict,) = evaluate(registration, flips(60, 0.01, model=served), pilot=held).verdicts

    assert verdict.confirmatory is confirmatory
    assert all(e.estimate.confirmatory is confirmatory for e in verdict.held)
    if mark is None:
        assert verdict.marks == ()
    else:
        assert mark in verdict.marks[0]
        assert verdict.marks[0] in verdict.does_not_say
        assert verdict.to_dict()["marks"] == list(verdict.marks)
