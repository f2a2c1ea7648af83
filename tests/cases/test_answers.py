"""Answers and endings, from a server's bytes to the sealed reading, as a study sees them."""

import json

import pytest

from judgeaudit.errors import RunPaused
from judgeaudit.evidence.log.load import load_readings


def chat(content, reason="stop", error=None, **message):
    choice = {"index": 0, "message": {"content": content, **message}, "finish_reason": reason}
    if error is not None:
        choice["error"] = error
    return {"model": "judge-1", "choices": [choice]}


@pytest.fixture
def readings(study, run, recording, make_registration):
    """The sealed readings of two items whose planned calls are answered by `document`."""

    def _readings(document, protocol, claim="score"):
        sound, wrong = (json.dumps(d).encode() for d in (chat("1"), document))

        def answer(_, number):  # the first request is preflight
            return recording.Answer(body=sound if number == 0 else wrong)

        text = make_registration("http://judge.example").replace(
            'claim = "verdict"', f'claim = "{claim}"'
        )
        frozen = study(text, items=2, protocol=protocol)
        with recording.Recorder(answer) as server:
            try:
                run(frozen, base=server.base_url)
            except RunPaused:  # not one answer: an outage is sealed only where that is asked for
                run(frozen, base=server.base_url, seal_anyway=True)
        return load_readings(frozen.root / "log").to_pylist()

    return _readings


SCORE = """
name = "score"
version = "1"
readout = "score"
[options]
scale = { low = 0, high = 100 }
[prompt]
user = "How right is this sum, 0 to 100? {sum}"
[decoding]
max_tokens = 32
"""


@pytest.mark.parametrize("reason", ["error", "abort", "tool_calls", "", "unheard_of"])
def test_an_ending_not_known_to_mean_whole_is_no_reading_and_told(readings, reason):
    """case A1: "1" is what came of "10"."""
    for row in readings(chat("1", reason), SCORE):
        assert (row["status"], row["reason"], row["number"]) == ("invalid", "truncated", None)
        assert row["detail"] == f"finish reason {reason!r} is not known to mean whole"


def test_an_error_beside_an_answer_is_no_reading(readings):
    """case A1: `choices[0].error` overrides the content, and its words are told."""
    found = readings(chat("1", "error", {"code": 502, "message": "upstream went away"}), SCORE)

    assert {(row["status"], row["number"]) for row in found} == {("invalid", None)}
    assert all("502" in row["detail"] for row in found)


def test_an_answer_of_two_parts_is_unparsed(readings):
    """case A4, in the API of this study: 4 and 5 on a scale of 0 to 100 are not 45."""
    parts = [{"type": "text", "text": "4"}, {"type": "text", "text": "5"}]

    for row in readings(chat(parts), SCORE):
        assert (row["reason"], row["number"]) == ("unparsed", None)
        assert row["detail"] == "2 parts of text, where one answer was asked"


def test_an_empty_answer_says_where_text_stood(readings):
    """case A6."""
    for row in readings(chat("", reasoning_content="So it is 4."), SCORE):
        assert row["reason"] == "empty"
        assert row["detail"] == "no answer; something stands in reasoning_content"


VERDICT = """
name = "verdict"
version = "1"
readout = "verdict"
[options]
categories = ["A", "B"]
names = []
{places}
[prompt]
user = "Is this sum right? {{sum}} Answer with exactly one of: A, B"
[decoding]
max_tokens = 32
"""


@pytest.mark.parametrize(
    ("content", "places", "status"),
    [
        ("Step one ...\nSo it is B.\n[[B]]", 'pattern = "marker"\nmarker = "[[{}]]"', "ok"),
        ("[[A]]? No: [[B]]", 'pattern = "marker"\nmarker = "[[{}]]"', "invalid"),
        ("<think>A or B?</think>\nB", 'reasoning = ["<think>", "</think>"]', "ok"),
        ("So:\nVerdict: B", 'pattern = "last_line"\nprefix = "Verdict:"', "ok"),
    ],
)
def test_an_answer_is_read_where_the_protocol_registered_it(readings, content, places, status):
    """case A5."""
    found = readings(chat(content), VERDICT.format(places=places), claim="verdict")

    expected = "B" if status == "ok" else None
    assert {(row["status"], row["category"]) for row in found} == {(status, expected)}
