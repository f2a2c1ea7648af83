"""Text that the toolkit writes or edits as TOML reads back as what was meant."""

import tomllib
from datetime import timedelta
from decimal import Decimal

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.design.draft import Source
from judgeaudit.design.edit import with_option, with_prompt, with_text
from judgeaudit.design.toml import toml_item, toml_string
from judgeaudit.errors import InputError

PROTOCOL = """# What is asked, and why.
readout = "verdict"  # one word

[options]
categories = ["pass", "fail"]
# The system message is short on purpose.
[prompt]
system = "Be brief."
user = "Is it right? {sum}"

[decoding]
max_tokens = 8 # enough
"""


def edited(change):
    return change(Source("p.toml", PROTOCOL.encode())).data.decode()


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_reads_back_as_itself(text):
    assert tomllib.loads(f"t = {toml_string(text)}")["t"] == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.050"), "0.050"),
        (Decimal("1E-7"), "0.0000001"),
        (Decimal("3"), "3.0"),
        (timedelta(seconds=90), '"90s"'),
        (timedelta(milliseconds=1500), '"1.5s"'),
        (True, "true"),
        ([1, [2, 3]], "[1, [2, 3]]"),
        ([{"a": 1}, 2], "[{a = 1}, 2]"),
    ],
)
def test_values_keep_their_digits_and_units(value, text):
    assert toml_item(value).as_string() == text


def test_a_table_inside_stands_behind_the_plain_keys():
    """A key written behind `[inner]` would belong to it."""
    text = tomlkit.dumps({"t": toml_item({"inner": {"x": 1}, "rows": [{"y": 2}], "last": 3})})

    assert tomllib.loads(text) == {"t": {"inner": {"x": 1}, "rows": [{"y": 2}], "last": 3}}


def test_a_value_without_a_toml_form_is_named():
    with pytest.raises(InputError, match="a complex has no TOML form"):
        toml_item(1j)


def test_an_option_is_set_and_the_comments_stay():
    text = edited(lambda protocol: with_option(protocol, "pattern", "last_line"))

    assert tomllib.loads(text)["options"] == {
        "categories": ["pass", "fail"],
        "pattern": "last_line",
    }
    assert [line for line in text.splitlines() if "#" in line] == [
        line for line in PROTOCOL.splitlines() if "#" in line
    ]


def test_an_option_that_stands_there_is_replaced():
    text = edited(lambda protocol: with_option(protocol, "categories", "x"))

    assert tomllib.loads(text)["options"] == {"categories": "x"}


def test_a_prompt_of_ones_own_is_the_only_message():
    text = edited(lambda protocol: with_prompt(protocol, 'Say "A".\nOr {B}\n'))

    assert tomllib.loads(text)["prompt"] == {"user": 'Say "A".\nOr {B}\n'}
    assert tomllib.loads(text)["decoding"] == {"max_tokens": 8}


def test_a_protocol_without_the_table_is_told_which():
    with pytest.raises(InputError, match=r"p\.toml: \[options\]: no such table"):
        with_option(Source("p.toml", b'readout = "verdict"\n'), "pattern", "whole")


def test_a_text_that_no_stage_has_names_those_there_are():
    stages = b'[[stages]]\n[stages.texts]\nnote = "n"\n'
    with pytest.raises(InputError, match=r"'other' in 0 stages.*one of note"):
        with_text(Source("p.toml", stages), "other", "x")


def test_braces_of_a_persons_text_stand_for_themselves():
    stages = b'[[stages]]\n[stages.texts]\nnote = "n"\n'
    text = with_text(Source("p.toml", stages), "note", "a {b}").data.decode()

    assert tomllib.loads(text)["stages"][0]["texts"]["note"] == "a {{b}}"
