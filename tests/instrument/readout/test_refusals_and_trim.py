"""Declared marks around an answer, and refusals worded as text."""

import pytest

from judgeaudit.instrument.readout import options_problems
from judgeaudit.model import Candidate, Item, Reason, Reply

MARKS = ["**", ".", "`", '"']
REFUSES = ["I can(no|')t (help|assist)", "Sorry"]


@pytest.fixture
def choice(make):
    """`choice(text, **options)` reads a choice between the tools Aldin and Brevo."""
    tools = (Candidate("better", "Aldin", True), Candidate("worse", "Brevo", False))
    item = Item("w", "w", "w", {}, tools, "better", {})

    def _read(text, **options):
        return make("choice", "{tools}", **options).read(Reply(text, "stop"), item, "-")

    return _read


@pytest.mark.parametrize("text", ["Aldin.", "**Aldin**", "**Aldin.**", " `Aldin` .", '"Aldin".'])
def test_declared_marks_are_taken_away_from_both_ends(choice, text):
    assert choice(text, trim=MARKS).category == "better"
    assert choice(text).reason is Reason.UNPARSED


@pytest.mark.parametrize("text", ["Aldin or Brevo.", "Aldin!", "."])
def test_nothing_but_the_declared_marks_is_taken_away(choice, text):
    assert choice(text, trim=MARKS).reason is Reason.UNPARSED


def test_marks_are_taken_away_after_the_place_was_found(choice):
    found = choice("So:\n**Brevo**.", pattern="last_line", trim=MARKS)

    assert found.category == "worse"


@pytest.mark.parametrize("text", ["I can't help with that.", " i cannot ASSIST here", "Sorry, no"])
def test_a_worded_refusal_is_refused_and_not_unparsed(choice, text):
    assert choice(text, refusals=REFUSES).reason is Reason.REFUSED
    assert choice(text).reason is Reason.UNPARSED


def test_an_answer_is_no_refusal_whatever_it_begins_with(choice):
    """A tool may be called Sorry-something: what can be read is read."""
    found = choice("Sorry, all I have:\nAldin", pattern="last_line", refusals=REFUSES)

    assert found.category == "better"


@pytest.mark.parametrize(
    ("text", "kept"), [("I can't help with that.", False), ("Aldin can't help. Sorry.", True)]
)
def test_a_lesson_that_begins_as_a_refusal_is_no_lesson(make, text, kept):
    readout = make("text", "{x}", refusals=REFUSES)
    found = readout.read(Reply(text, "stop"), Item("w", "w", "w", {}, (), None, {}), "-")

    assert getattr(found, "text", None) == (text if kept else None)
    assert kept or found.reason is Reason.REFUSED


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"refusals": ["(open"]}, "no regular expression"),
        ({"refusals": [".*"]}, "every answer would be a refusal"),
        ({"trim": [""]}, "trim"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, said):
    assert any(said in str(problem) for problem in options_problems("choice", options))
