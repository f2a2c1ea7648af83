"""A verdict's words where a bar or a note speaks of some gates only."""

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Controls
from judgeaudit.verdict.blockers import Bar, barred
from judgeaudit.verdict.known import control_faults
from judgeaudit.verdict.verdicts import Outcome, decide
from judgeaudit.verdict.words import once


def held(value, low, high):
    gate = Gate(id="g", statistic="flip_rate", over="same_window", at_most="0.1")
    found = Estimate("flip_rate", value, "judge", low=low, high=high, level=0.9, n={"items": 50})
    return barred(
        decide(gate, [found]), [Bar("other_model", "it answers as m2", "judge")], ["judge"]
    )


def test_a_gate_fails_by_its_number_and_is_barred_besides():
    verdict = held(0.5, 0.4, 0.6)

    assert verdict.outcome is Outcome.FAIL
    assert "Because barred" not in verdict.says
    assert "Besides, it is barred (other_model): it answers as m2." in verdict.says
    assert verdict.barred == ("other_model",)


def test_a_gate_that_would_pass_is_undefined_because_it_is_barred():
    verdict = held(0.01, 0.0, 0.05)

    assert verdict.outcome is Outcome.UNDEFINED
    assert "Because barred (other_model): it answers as m2." in verdict.says
    assert "Besides" not in verdict.says


def test_a_control_without_a_reading_is_missing_and_not_wrong():
    details = {"counted": "readings right"}
    absent = Estimate(
        "controls", None, "judge", scope="control=gold", details=details, undefined="no reading"
    )
    wrong = Estimate(
        "controls", 0.0, "judge", scope="control=gold", details=details, n={"hits": 0, "of": 2}
    )

    kinds = [kind for kind, _, _ in control_faults([absent, wrong], Controls())]

    assert kinds == ["missing_control", "wrong_control"]


def test_a_note_names_its_gates_where_not_all_say_it():
    said = [("gate a", ["x", "y"]), ("gate b", ["x"]), ("gate c", ["x", "y"])]

    assert once(said) == ["x", "gate a, gate c: y"]
