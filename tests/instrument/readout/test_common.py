"""What holds for every readout: its catalogue, its options, its checks before any parsing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.errors import RegistrationError
from judgeaudit.instrument.readout import READOUTS, Prompt, build, options_problems, problems_for
from judgeaudit.model import (
    SOLE_ARM,
    Candidate,
    Ending,
    Invalid,
    Item,
    Reason,
    Reply,
    TokenLogprob,
    Value,
)

OPTIONS = {
    "label_logprob": {"labels": {"correct": "A", "incorrect": "B"}},
    "label_pair": {"labels": {"correct": "A", "incorrect": "B"}},
    "ranking": {},
    "score": {"scale": {"low": 1, "high": 5}},
    "verdict": {"categories": ["A", "B", "tie"], "orders": "both"},
    "choice": {},
    "text": {},
}
TEXT_KINDS = sorted(set(OPTIONS) - {"label_logprob", "label_pair"})
PAIR = Item("q", "g", "t", candidates=(Candidate("c1", "x"), Candidate("c2", "y")))


def readout(kind, template="ask"):
    return build(kind, Prompt(None, template), OPTIONS[kind])


def test_the_catalogue_is_the_seven_readouts_of_the_field():
    assert set(READOUTS) == set(OPTIONS)
    assert {READOUTS[kind].record.column for kind in OPTIONS} == {
        "number",
        "category",
        "ranking",
        "text",
    }
    assert {kind for kind in OPTIONS if READOUTS[kind].record.needs_logprobs} == {
        "label_logprob",
        "label_pair",
    }


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_an_unknown_option_is_refused_with_its_key(kind):
    problems = options_problems(kind, {**OPTIONS[kind], "temprature": 0})

    assert [(p.key, p.found) for p in problems] == [("temprature", "0")]


def test_an_unknown_readout_names_the_known_ones():
    with pytest.raises(RegistrationError, match="no readout 'rank'; one of choice, label_logprob"):
        build("rank", Prompt(None, "x"), {})


def test_every_problem_of_the_options_is_told_at_once():
    problems = options_problems("score", {"scale": {"low": "x"}, "type": "decimal"})

    assert [p.key for p in problems] == ["scale.low", "scale.high", "type"]


@pytest.mark.parametrize("kind", TEXT_KINDS)
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("A", "stop", refusal="I will not"), Reason.REFUSED),
        (Reply("A", "content_filter", ending=Ending.DECLINED), Reason.REFUSED),
        (Reply("A", "length", ending=Ending.CUT), Reason.TRUNCATED),
        (Reply("A", "abort", ending=Ending.UNKNOWN), Reason.TRUNCATED),
        (Reply("A\nB", "stop", parts=2), Reason.UNPARSED),
        (Reply("A\nB", "length", ending=Ending.CUT, parts=2), Reason.TRUNCATED),
        (Reply(None, "stop"), Reason.EMPTY),
        (Reply(" \n", "stop"), Reason.EMPTY),
        (Reply(None, "length", refusal="no"), Reason.REFUSED),
        (Reply(None, "length", ending=Ending.CUT), Reason.TRUNCATED),
        (Reply("A\ud800", "stop"), Reason.BAD_BODY),
    ],
)
def test_refused_before_truncated_before_empty_before_parsing(kind, reply, reason):
    value = readout(kind).read(reply, PAIR, SOLE_ARM)

    assert isinstance(value, Invalid)
    assert value.reason is reason


def test_what_a_reading_says_can_always_be_written():
    """Half a surrogate pair, which JSON can carry, would break the table that holds it."""
    refusal = readout("text").read(Reply(None, refusal="no \ud800"), PAIR, SOLE_ARM)
    inner = readout("ranking", "{candidates}").read(Reply('{"\\ud800": 1}'), PAIR, SOLE_ARM)
    other = readout("ranking", "{candidates}").read(
        Reply('{"ranking": [], "\\ud800": 1}'), PAIR, SOLE_ARM
    )
    entry = readout("ranking", "{candidates}").read(
        Reply('{"ranking": ["\\ud800"]}'), PAIR, SOLE_ARM
    )

    for value in (refusal, inner, other, entry):
        assert value.detail.encode()


@pytest.mark.parametrize("kind", sorted(OPTIONS))
@given(text=st.text(alphabet='{}[]":,AB1tie .\n-N', max_size=30))
def test_no_answer_makes_a_readout_raise(kind, text):
    """Whatever a model writes, reading gives a value or `Invalid`."""
    read = readout(kind).read
    positions = ((TokenLogprob(text, -0.5), TokenLogprob("A", float("nan"))),)

    for arm in ("-", "as-given", "swapped", "fwd", "rev"):
        assert isinstance(read(Reply(text, positions=positions), PAIR, arm), Value | Invalid)


def test_a_missing_field_is_told_with_item_and_line():
    found = problems_for(readout("text", "a\n{question} {other}"), PAIR)

    assert found == [
        "item 'q': prompt: user, line 2: placeholder {question} has no field in this item",
        "item 'q': prompt: user, line 2: placeholder {other} has no field in this item",
    ]


def test_candidates_that_read_the_same_are_refused_unless_they_are_a_control():
    """CE's gate I-2R: pairwise distinct as rendered, or the battery fails."""
    same = (Candidate("c1", "x"), Candidate("c2", "x"))

    found = problems_for(readout("ranking", "{candidates}"), Item("q", "g", "t", candidates=same))
    control = Item("q", "g", "t", candidates=same, meta={"control": "identical"})

    assert found == ["item 'q': two candidates read the same: 'x'"]
    assert problems_for(readout("ranking", "{candidates}"), control) == []


def test_a_field_that_the_readout_fills_itself_is_a_clash():
    item = Item("q", "g", "t", fields={"tools": "mine"}, candidates=PAIR.candidates)

    assert problems_for(readout("choice", "{tools}"), item) == [
        "item 'q': field 'tools' is one that choice fills itself"
    ]
    assert problems_for(readout("choice", "unused"), item) == []


def test_arms_that_would_ask_the_same_words_are_refused():
    """A template of its own columns, not of the shown candidates, would make two equal arms."""
    found = problems_for(readout("verdict", "Which is better?"), PAIR)

    assert len(found) == 1
    assert "arms as-given and swapped read the same" in found[0]


@pytest.mark.parametrize("kind", ["label_logprob", "label_pair"])
def test_a_label_prompt_that_never_shows_its_labels_is_a_problem(kind):
    assert [p.found for p in readout(kind, "{label_correct}?").prompt_problems()] == [
        "{label_incorrect} is never shown"
    ]
    assert readout(kind, "{label_correct}{label_incorrect}").prompt_problems() == []
