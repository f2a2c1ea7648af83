"""How 0.1 read replies, rule by rule, by hand: its sealed studies are read like this for ever."""

import json
from types import SimpleNamespace

import pytest

from judgeaudit.evidence.formats.v1.readings import value_of
from judgeaudit.instrument import readout as readouts
from judgeaudit.instrument.readout import Prompt
from judgeaudit.model import Candidate, Invalid, Item, Reason, Value

ITEM = Item("i1", "g", "t", {}, (Candidate("c1", "saw"), Candidate("c2", "plane")))
SCORE = ("score", {"scale": {"low": 0, "high": 100}})
VERDICT = ("verdict", {"categories": ["A", "B", "tie"], "orders": "both"})
TEXT = ("text", {"max_chars": 12})
LABEL = ("label_pair", {"labels": {"correct": "A", "incorrect": "B"}})


def read(readout, document, api="openai.chat", arm="-"):
    kind, options = readout
    made = readouts.build(kind, Prompt(None, "-"), options)
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return value_of(body, api, made, ITEM, arm)


def chat(content, ending="stop", beside=None, **message):
    choice = {"message": {"content": content, **message}, "finish_reason": ending}
    return {"choices": [choice, {"message": {"content": "other"}}], **(beside or {})}


def anthropic(*texts, ending="end_turn"):
    return {"content": [{"type": "text", "text": text} for text in texts], "stop_reason": ending}


def logprobs(**values):
    entries = [{"token": token, "logprob": value} for token, value in values.items()]
    return {"choices": [{"message": {}, "logprobs": {"content": [{"top_logprobs": entries}]}}]}


@pytest.mark.parametrize(
    ("readout", "document", "api", "wanted"),
    [
        (SCORE, anthropic("4", "5"), "anthropic.messages", Value(number=45.0, label="45")),
        (SCORE, chat("1", "abort"), "openai.chat", Value(number=1.0, label="1")),
        (SCORE, chat("1", beside={"error": {"code": 502}}), "openai.chat", Value(1.0, label="1")),
        (
            SCORE,
            chat("101"),
            "openai.chat",
            Invalid(Reason.OUT_OF_SCALE, "101 is outside 0 to 100"),
        ),
        (
            SCORE,
            chat("x", "length"),
            "openai.chat",
            Invalid(Reason.TRUNCATED, "finish reason length"),
        ),
        (
            SCORE,
            chat("x", "model_length"),
            "openai.chat",
            Invalid(Reason.UNPARSED, "no int alone: x"),
        ),
        (SCORE, chat("", reasoning_content="4"), "openai.chat", Invalid(Reason.EMPTY)),
        (SCORE, chat(None, refusal="no"), "openai.chat", Invalid(Reason.REFUSED, "no")),
        (SCORE, chat([{"refusal": "no"}]), "openai.chat", Invalid(Reason.EMPTY)),
        (SCORE, chat("5", 7), "openai.chat", Value(number=5.0, label="5")),
        (SCORE, {"choices": []}, "openai.chat", Invalid(Reason.BAD_BODY, "no choices[0].message")),
        (
            SCORE,
            {"error": {"message": "upstream"}},
            "openai.chat",
            Invalid(Reason.BAD_BODY, "an error under a success status: upstream"),
        ),
        (
            SCORE,
            {"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "harm"}},
            "anthropic.messages",
            Invalid(Reason.REFUSED, "harm"),
        ),
        (SCORE, {"content": 3}, "anthropic.messages", Invalid(Reason.BAD_BODY, "no content array")),
        (
            TEXT,
            chat("thirteen char"),
            "openai.chat",
            Invalid(Reason.UNPARSED, "13 characters, at most 12 are read"),
        ),
        (
            LABEL,
            chat("A"),
            "openai.chat",
            Invalid(Reason.LABEL_MISSING, "the reply reports no log-probabilities"),
        ),
    ],
)
def test_a_reply_is_read_by_the_first_rules(readout, document, api, wanted):
    """Each row is what version 0.1 gave for it: A1, A4, A6 among them, as they were sealed."""
    assert read(readout, document, api) == wanted


def test_a_verdict_means_the_candidate_that_stood_there():
    assert read(VERDICT, chat("A"), arm="as-given") == Value(category="c1", label="A")
    assert read(VERDICT, chat("A"), arm="swapped") == Value(category="c2", label="A")


def test_minus_100_is_a_log_probability_and_minus_9999_is_none():
    """r = 1 / (1 + e^-99.9), by hand 1 to twelve digits; case A8 as 0.1 read it."""
    found = read(LABEL, logprobs(A=-0.1, B=-100.0), arm="fwd")

    assert (found.number, found.label) == (pytest.approx(1.0, abs=1e-12), "A")
    assert read(LABEL, logprobs(A=-0.1, B=-9999.0), arm="fwd").reason is Reason.LABEL_MISSING


def test_the_reversed_arm_speaks_of_the_other_label():
    """ln .2 and ln .8: the label that means correct has .2 / (.2 + .8), or .8, in turn."""
    document = logprobs(A=-1.6094379124341003, B=-0.2231435513142097)

    assert read(LABEL, document, arm="fwd").number == pytest.approx(0.2)
    assert read(LABEL, document, arm="rev").number == pytest.approx(0.8)


def test_a_ranking_is_read_by_the_seeded_aliases():
    """SHA-256 of "0:i1:1" begins 67, of "0:i1:0" ce: so A stands for c2 and B for c1."""
    found = read(("ranking", {}), chat('{"ranking": ["B", "A"]}'))

    assert found == Value(ranking=("c1", "c2"), label="B A")
    twice = read(("ranking", {}), chat('{"ranking": ["A", "A"]}'))
    assert twice == Invalid(Reason.NOT_A_PERMUTATION, "alias 'A' twice")


def test_what_format_1_did_not_have_is_no_reading():
    with pytest.raises(Exception, match="which format 1 did not have"):
        value_of(
            b"{}",
            "openai.responses",
            SimpleNamespace(record=SimpleNamespace(name="score")),
            ITEM,
            "-",
        )
