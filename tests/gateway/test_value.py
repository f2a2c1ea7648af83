"""How answers are read: exact text, a JSON place, what follows a prefix."""

import pytest

from judgeaudit.errors import InputError
from judgeaudit.instrument.value import value_rule
from judgeaudit.model import Ending, Invalid, Reason, Reply, Value


def read(word, text, **more):
    return value_rule(word).read(Reply(text=text, ending=Ending.WHOLE, **more))


def test_without_a_word_the_text_is_the_value_as_it_stands():
    assert read(None, " yes\n") == Value(text=" yes\n")


@pytest.mark.parametrize(
    ("word", "text", "value"),
    [
        ("$.score", '{"score": 4, "reason": "x"}', Value(number=4.0, label="4")),
        ("$.a[1].b", '{"a": [0, {"b": "C"}]}', Value(category="C", label="C")),
        ("$.pass", '```json\n{"pass": true}\n```', Value(category="true", label="true")),
        ("$[0]", "[0.5]", Value(number=0.5, label="0.5")),
        ("GRADE:", "Because.\nGRADE: C", Value(category="C", label="C")),
    ],
)
def test_a_value_is_read_at_its_place(word, text, value):
    assert read(word, text) == value


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("$.score", "4"),
        ("$.score", '{"Score": 4}'),
        ("$.score", '{"score": null}'),
        ("$.score", '{"score": [4]}'),
        ("$.score", '{"score": NaN}'),
        ("$.score", 'The score: {"score": 4}'),
        ("$.a[3]", '{"a": [1]}'),
        ("GRADE:", "It is GRADE: C"),
        ("GRADE:", "GRADE: C\nGRADE: I"),
        ("GRADE:", "GRADE: "),
    ],
)
def test_what_is_not_there_is_unparsed_and_never_guessed(word, text):
    found = read(word, text)

    assert isinstance(found, Invalid)
    assert found.reason is Reason.UNPARSED


def test_what_is_no_answer_is_none_by_the_shared_rules():
    assert read("$.a", '{"a": 1}', refusal="no").reason is Reason.REFUSED
    assert value_rule(None).read(Reply("a", ending=Ending.CUT)).reason is Reason.TRUNCATED


@pytest.mark.parametrize("word", ["$", "$.", "$.a b", "$score", "", " ", "a\nb"])
def test_a_word_that_names_no_place_is_refused(word):
    with pytest.raises(InputError, match="--value"):
        value_rule(word)
