"""Scores: one number of the scale's type, exactly, or a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.instrument.readout import Prompt, build, options_problems
from judgeaudit.model import SOLE_ARM, Invalid, Item, Reason, Reply

ITEM = Item("q", "g", "t")
FIVE = {"low": 1, "high": 5, "step": 1}
TENTHS = {"low": 1.0, "high": 4.0, "step": 0.1}


def read(text, **options):
    readout = build("score", Prompt(None, "x"), {"scale": FIVE, **options})
    return readout.read(Reply(text, "stop"), ITEM, SOLE_ARM)


@pytest.mark.parametrize(("text", "number"), [("4", 4), (" 5\n", 5), ("+1", 1), ("03", 3)])
def test_one_integer_alone_is_read(text, number):
    assert read(text).number == number


@pytest.mark.parametrize(
    "text",
    ["4.0", "4 of 5", "four", "NaN", "Infinity", "4e0", "٤", "4/5", "**4**", "1 2", "--1", "0x4"],
)
def test_anything_beside_one_integer_is_unparsed(text):
    assert read(text).reason is Reason.UNPARSED


@pytest.mark.parametrize("text", ["0", "6", "-1", "99999999999999999999"])
def test_off_the_scale_is_a_reason_of_its_own(text):
    assert read(text).reason is Reason.OUT_OF_SCALE


def test_steps_are_counted_as_decimals():
    """(1.3 - 1.0) % 0.1 is .09999... in floats, and would refuse a score on its step."""
    assert read("1.3", scale=TENTHS, type="float").number == 1.3
    assert read("1.35", scale=TENTHS, type="float") == Invalid(
        Reason.OUT_OF_SCALE, "1.35 is no step of 0.1 from 1.0"
    )


@given(st.integers(10, 40))
def test_every_step_of_the_scale_is_read(tenths):
    text = f"{tenths // 10}.{tenths % 10}"

    assert read(text, scale=TENTHS, type="float").number == float(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [('{"score": 4}', 4), ('{"score": "4"}', None), ('{"score": true}', None), ("4", None)],
)
def test_json_pattern_takes_a_json_number_alone(text, number):
    value = read(text, pattern="json")

    assert getattr(value, "number", None) == number
    assert isinstance(value, Invalid) is (number is None)


def test_a_number_too_large_for_a_float_is_unparsed():
    assert read('{"score": 1e999}', pattern="json", type="float").reason is Reason.UNPARSED


def test_last_line_takes_the_registered_prefix_exactly():
    assert read("Because.\n\nScore: 4\n", pattern="last_line", prefix="Score:").number == 4
    assert read("Because.\n4", pattern="last_line").number == 4
    assert read("Because.\nscore: 4", pattern="last_line", prefix="Score:").reason is (
        Reason.UNPARSED
    )


def test_the_prompt_gets_the_scale_as_it_was_written():
    readout = build(
        "score",
        Prompt(None, "{scale_low}-{scale_high} by {scale_step}"),
        {
            "scale": TENTHS,
            "type": "float",
        },
    )

    assert readout.ask(ITEM, SOLE_ARM).messages[0].content == "1.0-4.0 by 0.1"


def test_the_schema_carries_type_and_scale():
    readout = build(
        "score", Prompt(None, "x"), {"scale": FIVE, "pattern": "json", "structured": True}
    )

    assert readout.ask(ITEM, SOLE_ARM).json_schema["properties"] == {
        "score": {"type": "integer", "minimum": 1, "maximum": 5}
    }


@pytest.mark.parametrize(
    ("options", "key", "said"),
    [
        ({"scale": {"low": 5, "high": 1}}, "scale", "low must be below high"),
        ({"scale": {"low": 0, "high": 1, "step": 0.3}}, "scale", "lead from low to high"),
        ({"scale": {"low": True, "high": 1}}, "scale.low", "a number is wanted"),
        ({"scale": {"low": 0, "high": float("inf")}}, "scale.high", "a finite number"),
        ({"scale": TENTHS, "type": "int"}, "options", "whole step"),
        ({"scale": FIVE, "structured": True}, "options", 'structured needs pattern = "json"'),
        ({"scale": FIVE, "prefix": "S:"}, "options", 'prefix needs pattern = "last_line"'),
    ],
)
def test_a_scale_that_cannot_be_is_refused_with_its_key(options, key, said):
    (problem,) = options_problems("score", options)

    assert problem.key == key
    assert said in problem.allowed
