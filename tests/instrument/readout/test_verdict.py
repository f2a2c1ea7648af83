"""Verdicts: a closed set, decoded to what each category means in its arm."""

import pytest

from judgeaudit.instrument.readout import options_problems
from judgeaudit.model import SOLE_ARM, Reason, Reply

AB = ["A", "B", "tie"]
TEMPLATE = "1: {candidate_1} 2: {candidate_2}"


def test_both_orders_speak_of_the_same_candidate(make, item):
    """ "A" is the first shown: c1 as given, c2 when swapped; the label stays what was answered."""
    readout = make("verdict", TEMPLATE, categories=AB, orders="both")
    pair = item("x", "y")

    assert readout.arms(pair) == ("as-given", "swapped")
    assert [readout.ask(pair, arm).messages[0].content for arm in readout.arms(pair)] == [
        "1: x 2: y",
        "1: y 2: x",
    ]
    read = {arm: readout.read(Reply("A"), pair, arm) for arm in readout.arms(pair)}
    assert {arm: (v.category, v.label) for arm, v in read.items()} == {
        "as-given": ("c1", "A"),
        "swapped": ("c2", "A"),
    }
    assert readout.read(Reply("tie"), pair, "swapped").category == "tie"


def test_a_persons_own_column_names_stand_for_places(make):
    """`{output_1}` is the first shown, whichever candidate that is."""
    from judgeaudit.model import Candidate, Item

    pair = Item(
        "q",
        "g",
        "t",
        candidates=(
            Candidate("output_1", "x", meta={"field": "output_1"}),
            Candidate("output_2", "y", meta={"field": "output_2"}),
        ),
    )
    readout = make("verdict", "{output_1}|{output_2}", categories=AB, orders="both")

    assert readout.problems(pair) == []
    assert readout.ask(pair, "swapped").messages[0].content == "y|x"


def test_pass_or_fail_has_one_arm_and_no_decoding(make, item):
    readout = make("verdict", "{candidate}", categories=["pass", "fail"])

    assert readout.arms(item("x")) == (SOLE_ARM,)
    assert readout.read(Reply(" pass\n"), item("x"), SOLE_ARM).category == "pass"


@pytest.mark.parametrize("text", ["a", "A.", "A or B", "Answer: A", "[[A]]", "AB"])
def test_matching_is_exact(make, item, text):
    readout = make("verdict", TEMPLATE, categories=AB)

    assert readout.read(Reply(text), item("x", "y"), "as-given").reason is Reason.UNPARSED


def test_registered_forms_and_case_widen_it(make, item):
    readout = make(
        "verdict", TEMPLATE, categories=AB, surface_forms={"A": ["[[A]]"]}, case_sensitive=False
    )

    assert [readout.read(Reply(t), item("x", "y"), "as-given").label for t in ("[[a]]", "TIE")] == [
        "A",
        "tie",
    ]


def test_first_line_and_json_patterns(make, item):
    first = make("verdict", TEMPLATE, categories=AB, pattern="first_line")
    by_json = make("verdict", TEMPLATE, categories=AB, pattern="json", structured=True)
    pair = item("x", "y")

    assert first.read(Reply("\nB\nbecause"), pair, "as-given").category == "c2"
    assert by_json.read(Reply('{"verdict": "B"}'), pair, "as-given").category == "c2"
    assert by_json.read(Reply('{"verdict": 2}'), pair, "as-given").reason is Reason.UNPARSED
    assert by_json.ask(pair, "as-given").json_schema["properties"]["verdict"]["enum"] == AB


def test_a_pair_is_wanted_and_gold_must_be_a_possible_verdict(make, item):
    readout = make("verdict", TEMPLATE, categories=AB)

    assert readout.problems(item("x")) == ["1 candidates, the categories name 2"]
    assert readout.problems(item("x", "y", gold="1")) == ["gold '1' is none of c1, c2, tie"]
    assert readout.problems(item("x", "y", gold="c2")) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"categories": ["A"]}, "at least 2"),
        ({"categories": ["A", "A"]}, "'A' is given twice"),
        ({"categories": ["pass", "fail"], "orders": "both"}, "needs names"),
        ({"categories": AB, "names": ["A"]}, "must be two of the categories"),
        ({"categories": AB, "surface_forms": {"C": ["c"]}}, "no category"),
        ({"categories": AB, "surface_forms": {"A": ["x"], "B": ["x"]}}, "two categories"),
        ({"categories": ["A", "a"], "case_sensitive": False}, "two categories"),
        ({"categories": AB, "structured": True}, 'pattern = "json"'),
    ],
)
def test_categories_that_cannot_be_told_apart_are_refused(options, said):
    assert said in options_problems("verdict", options)[0].allowed
