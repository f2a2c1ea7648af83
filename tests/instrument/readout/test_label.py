"""Label readouts: sums over bytes, sentinels, and the pair's two mappings."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.instrument.readout import combine_pair, options_problems
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import SOLE_ARM, Ending, Invalid, Reason, Reply, TokenLogprob, Value

LABELS = {"correct": "A", "incorrect": "B"}
TEMPLATE = "{candidate} {label_correct} or {label_incorrect}?"


def entry(token, p, bytes_=None):
    return TokenLogprob(token, math.log(p), bytes_)


def answer(*entries, text="A", **changes):
    return Reply(text, positions=(entries,), **changes)


def test_r_and_mass_by_hand(make, item):
    """Of .6 on A and .2 on B: r = .6 / .8, mass = .8."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    value = readout.read(answer(entry("A", 0.6), entry("B", 0.2)), item("x"), SOLE_ARM)

    assert value.number == pytest.approx(0.75)
    assert value.mass == pytest.approx(0.8)
    assert value.label == "A"


def test_two_entries_of_one_text_both_count(make, item):
    """llama.cpp shows two token ids with one text; a dict by text would lose .3 of A."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("A", 0.3), entry("A", 0.3), entry("B", 0.2))

    assert readout.read(reply, item("x"), SOLE_ARM).number == pytest.approx(0.75)


def test_bytes_decide_where_they_are_reported(make, item):
    """Two tokens may be decoded to the same text and be different bytes, and the reverse."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("?", 0.3, b"A"), entry("B", 0.3, b"\xff"), entry("B", 0.3, b" B"))

    value = readout.read(reply, item("x"), SOLE_ARM)

    assert (value.number, value.mass) == (pytest.approx(0.5), pytest.approx(0.6))


def test_only_registered_surface_forms_count(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS, surface_forms={"A": ["A"]})

    value = readout.read(answer(entry(" A", 0.9), entry("B", 0.05)), item("x"), SOLE_ARM)

    assert value == Invalid(Reason.LABEL_MISSING, "'A' not among 2 entries")


@pytest.mark.parametrize("lp", [-100.0, -9999.0, -10000.0, -math.inf, math.nan, 0.1, math.inf])
def test_a_sentinel_is_an_entry_that_was_not_reported(make, item, lp):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("A", 0.9), TokenLogprob("B", lp))

    assert readout.read(reply, item("x"), SOLE_ARM).reason is Reason.LABEL_MISSING


def test_a_logprob_above_zero_within_rounding_is_a_certainty(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(TokenLogprob("A", 5e-7), TokenLogprob("B", -30.0))

    assert readout.read(reply, item("x"), SOLE_ARM).mass == pytest.approx(1.0, abs=1e-6)


def test_tiny_probabilities_keep_their_ratio(make, item):
    """e^-900 is 0 as a float; r is not 0 / 0. The floor is registered below both."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS, floor=-9999)
    reply = answer(TokenLogprob("A", -900.0), TokenLogprob("B", -901.0))

    assert readout.read(reply, item("x"), SOLE_ARM).number == pytest.approx(1 / (1 + math.exp(-1)))


def test_entries_counted_twice_are_a_bad_body(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("A", 0.8), entry("A", 0.8), entry("B", 0.1))

    assert readout.read(reply, item("x"), SOLE_ARM).reason is Reason.BAD_BODY


def test_one_token_is_wanted_so_truncation_is_no_reason(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("A", 0.6), entry("B", 0.2), finish_reason="length")
    cut, unknown = replace(reply, ending=Ending.CUT), replace(reply, ending=Ending.UNKNOWN)

    assert isinstance(readout.read(cut, item("x"), SOLE_ARM), Value)
    assert readout.read(unknown, item("x"), SOLE_ARM).reason is Reason.TRUNCATED


def test_a_filler_beside_a_filler_gives_no_number(make, item):
    """case A8: -100 is e^-100 = 4e-44 of nothing; beside -9999 it made r = 1.0."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(TokenLogprob("A", -100.0), TokenLogprob("B", -9999.0), entry("C", 0.9))

    found = readout.read(reply, item("x"), SOLE_ARM)

    assert found == Invalid(Reason.LABEL_MISSING, "'A' and 'B' not among 3 entries")


def test_a_filler_adds_nothing_to_the_mass(make, item):
    """.6 on A, .2 on B and a filler that is spelled " B": r = .6 / .8, mass .8."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    reply = answer(entry("A", 0.6), entry("B", 0.2), TokenLogprob(" B", -100.0))

    value = readout.read(reply, item("x"), SOLE_ARM)

    assert (value.number, value.mass) == (pytest.approx(0.75), pytest.approx(0.8))


@pytest.mark.parametrize(("floor", "found"), [(-50, None), (-61, 1.0)])
def test_the_floor_is_registered(make, item, floor, found):
    """-60 is a filler at a floor of -50, and a number at one of -61: r = 1 / (1 + e^-59.5)."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS, floor=floor)
    reply = answer(TokenLogprob("A", -0.5), TokenLogprob("B", -60.0))

    assert getattr(readout.read(reply, item("x"), SOLE_ARM), "number", None) == found


def test_a_floor_that_would_take_real_probabilities_away_is_refused():
    (problem,) = options_problems("label_logprob", {"labels": LABELS, "floor": -5})

    assert (problem.key, problem.found) == ("floor", "-5")


def test_by_the_rules_of_0_1_minus_100_was_a_number(make, item):
    """Evidence outlives the code: what was sealed so is derived so: 1 / (1 + e^-100)."""
    readout = make("label_logprob", TEMPLATE, labels=LABELS).under(Rules.V1)
    reply = answer(TokenLogprob("A", -1.0), TokenLogprob("B", -101.0))

    assert readout.read(reply, item("x"), SOLE_ARM).number == 1.0


def test_missing_logprobs_and_a_missing_answer_have_reasons_of_their_own(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)

    assert readout.read(Reply("A"), item("x"), SOLE_ARM).reason is Reason.LABEL_MISSING
    assert readout.read(Reply("A", positions=()), item("x"), SOLE_ARM).reason is (
        Reason.LABEL_MISSING
    )
    assert readout.read(Reply(None), item("x"), SOLE_ARM).reason is Reason.EMPTY
    assert (
        readout.read(Reply("A", ending=Ending.DECLINED), item("x"), SOLE_ARM).reason
        is Reason.REFUSED
    )


def test_leading_whitespace_is_skipped_only_when_registered(make, item):
    """The likeliest alternative stands for the chosen token."""
    positions = ((entry("\n", 0.9), entry("A", 0.05)), (entry("A", 0.6), entry("B", 0.2)))
    reply = Reply("\nA", positions=positions)
    strict = make("label_logprob", TEMPLATE, labels=LABELS)
    lenient = make("label_logprob", TEMPLATE, labels=LABELS, skip_leading_whitespace=True)

    assert strict.read(reply, item("x"), SOLE_ARM).reason is Reason.LABEL_MISSING
    assert lenient.read(reply, item("x"), SOLE_ARM).number == pytest.approx(0.75)


def test_an_exact_tie_has_no_likelier_label(make, item):
    readout = make("label_logprob", TEMPLATE, labels=LABELS)
    value = readout.read(answer(entry("A", 0.4), entry("B", 0.4)), item("x"), SOLE_ARM)

    assert (value.number, value.label) == (0.5, None)


def test_the_reversed_arm_shows_and_reads_the_reversed_meaning(make, item):
    """In `rev` B means correct, so .2 on B of .8 gives r = .25."""
    readout = make("label_pair", TEMPLATE, labels=LABELS)
    x = item("x")
    reply = answer(entry("A", 0.6), entry("B", 0.2))

    assert readout.arms(x) == ("fwd", "rev")
    assert [readout.ask(x, arm).messages[0].content for arm in ("fwd", "rev")] == [
        "x A or B?",
        "x B or A?",
    ]
    assert readout.ask(x, "fwd").top_logprobs == 20
    assert readout.read(reply, x, "fwd").number == pytest.approx(0.75)
    assert readout.read(reply, x, "rev").number == pytest.approx(0.25)
    assert readout.read(reply, x, "rev").label == "A"


def test_a_pair_by_hand():
    """logit .8 = ln 4, logit .5 = 0: z_sym = b_map = ln 2, r_sym = 2/3."""
    z_sym, b_map, r_sym = combine_pair(0.8, 0.5)

    assert (z_sym, b_map) == (pytest.approx(math.log(2)), pytest.approx(math.log(2)))
    assert r_sym == pytest.approx(2 / 3)


def test_certainty_is_clipped_before_the_logit():
    z_sym, b_map, r_sym = combine_pair(1.0, 1.0)

    assert z_sym == pytest.approx(math.log(9999))
    assert (b_map, r_sym) == (0, pytest.approx(0.9999))


@given(st.floats(0, 1), st.floats(0, 1))
def test_swapping_the_arms_turns_the_bias_and_keeps_the_rest(a, b):
    z, bias, r = combine_pair(a, b)
    z2, bias2, r2 = combine_pair(b, a)

    assert (z2, bias2, r2) == (pytest.approx(z), pytest.approx(-bias), pytest.approx(r))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": {"correct": "A", "incorrect": "A"}}, "must differ"),
        ({"labels": LABELS, "surface_forms": {"C": ["C"]}}, "no label"),
        ({"labels": LABELS, "surface_forms": {"A": []}}, "is empty"),
        ({"labels": LABELS, "surface_forms": {"A": ["x"], "B": ["x"]}}, "belongs to both"),
        ({"labels": LABELS, "top_logprobs": 1}, "greater than or equal to 2"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_refused(options, said):
    assert said in options_problems("label_pair", options)[0].allowed
