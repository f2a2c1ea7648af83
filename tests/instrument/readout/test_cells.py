"""A table's cell is read by the same readout as a reply: scale, categories, candidates."""

import pytest

from judgeaudit.model import Invalid, Reason, Value


@pytest.mark.parametrize(
    ("cell", "value"),
    [("4", 4.0), (" 4.0 ", 4.0), ("4e0", 4.0), ("+4", 4.0)],
)
def test_a_number_on_the_scale_is_read_in_every_form_that_tables_write(make, item, cell, value):
    found = make("score", scale={"low": 1, "high": 5}).read_cell(cell, item("x"))

    assert found.number == value


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("1e300", Reason.OUT_OF_SCALE),
        ("inf", Reason.OUT_OF_SCALE),
        ("-inf", Reason.OUT_OF_SCALE),
        ("6", Reason.OUT_OF_SCALE),
        ("4.5", Reason.UNPARSED),
        ("1_0", Reason.UNPARSED),
        ("５", Reason.UNPARSED),
        ("nan", Reason.UNPARSED),
        ("1,000", Reason.UNPARSED),
        ("", Reason.EMPTY),
        ("  ", Reason.EMPTY),
    ],
)
def test_a_score_off_the_scale_or_in_no_number_is_invalid(make, item, cell, reason):
    """case T3 and T9."""
    found = make("score", scale={"low": 1, "high": 5}).read_cell(cell, item("x"))

    assert found.reason is reason


def test_a_verdict_that_is_no_registered_category_is_invalid(make, item):
    """case T1: ERROR is no category, in either column of a pair's table."""
    readout = make("verdict", "{candidate_1}{candidate_2}", categories=["A", "B", "tie"])
    pair = item("x", "y")

    assert readout.read_cell("ERROR", pair).reason is Reason.UNPARSED
    assert readout.read_cell("tie", pair) == Value(category="tie", label="tie")
    assert readout.read_cell("c2", pair) == Value(category="c2", label="c2")


def test_a_letter_means_the_candidate_that_the_arm_shows_first(make, item):
    """c1 is shown first as given, second when swapped: A is c1, then c2."""
    readout = make("verdict", "{candidate_1}{candidate_2}", categories=["A", "B"], orders="both")
    pair = item("x", "y")

    assert readout.read_cell("A", pair).category == "c1"
    assert readout.read_cell("A", pair, "swapped").category == "c2"


def test_a_choice_is_a_tools_name_or_what_it_stands_for(make, item):
    readout, pair = make("choice", "{tools}"), item("alpha", "beta")

    assert readout.read_cell("alpha", pair).category == "c1"
    assert readout.read_cell("c2", pair).category == "c2"
    assert readout.read_cell("gamma", pair).reason is Reason.UNPARSED


@pytest.mark.parametrize("cell", ["c2>c1>c3", '["c2", "c1", "c3"]', ("c2", "c1", "c3")])
def test_a_ranking_is_all_candidates_once(make, item, cell):
    readout, three = make("ranking", "{candidates}"), item("x", "y", "z")

    assert readout.read_cell(cell, three).ranking == ("c2", "c1", "c3")


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("c2>c1", Reason.NOT_A_PERMUTATION),
        ("c2>c2>c1", Reason.NOT_A_PERMUTATION),
        ("2>1>3", Reason.NOT_A_PERMUTATION),
        ("[1, 2, 3]", Reason.NOT_A_PERMUTATION),
        ("[", Reason.UNPARSED),
    ],
)
def test_a_ranking_of_anything_else_is_invalid(make, item, cell, reason):
    readout, three = make("ranking", "{candidates}"), item("x", "y", "z")

    assert readout.read_cell(cell, three).reason is reason


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("0.25", Value(number=0.25)),
        ("1.5", Invalid(Reason.OUT_OF_SCALE, "1.5 is no probability")),
        ("A", Invalid(Reason.UNPARSED, "no number: A")),
    ],
)
def test_a_label_cell_is_a_probability(make, item, cell, found):
    readout = make("label_logprob", "{candidate}", labels={"correct": "A", "incorrect": "B"})

    assert readout.read_cell(cell, item("x")) == found


def test_a_text_cell_is_its_text(make, item):
    assert make("text").read_cell("any", item("x")) == Value(text="any")
