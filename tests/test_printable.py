"""What servers and files wrote is shown, and acts on nothing."""

import json

import pytest

from judgeaudit.printable import printable, printable_json, printable_lines


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("admin\u202etxt", "admin\\u202etxt"),
        ("a\u2028b\u200bc\ufeff", "a\\u2028b\\u200bc\\ufeff"),
        ("\ud800", "\\ud800"),
        ("x\U000e0041", "x\\U000e0041"),
    ],
)
def test_what_would_act_on_a_terminal_is_shown_as_its_escape(raw, shown):
    """case H9: terminal escapes and line breaks from servers and files are text."""
    assert printable(raw) == shown


@pytest.mark.parametrize("text", ["", "plain", "Füße\u00a0نص 漢字", "👨\u200d👩\u200d👧 ❤\ufe0f"])
def test_letters_and_emoji_stay(text):
    assert printable(text) == text


def test_lines_stay_lines_and_forge_no_command():
    text = "item\n  ::error::all is lost\n##[group]x\n\ta::b\x1b"

    assert printable_lines(text) == "item\n  \\::error::all is lost\n\\##[group]x\n\ta::b\\x1b"


def test_json_holds_the_same_values_without_a_raw_control_character():
    value = {"a\x9b": "b\u202e\n\ud800\x7f"}

    shown = printable_json(value, indent=2)

    assert json.loads(shown) == value
    assert all(c.isprintable() or c == "\n" for c in shown)
