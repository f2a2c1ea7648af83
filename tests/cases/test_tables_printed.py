"""What other people's ids and labels may do to a terminal: nothing."""

import pytest

from judgeaudit.errors import InputError, printable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb", "a\\nb"),
        ("a\x85b", "a\\x85b"),
        ("a\u2028b", "a\\u2028b"),
        ("a\u202eb", "a\\u202eb"),
        ("half \ud800", "half \\ud800"),
        ("naïve 漢字 a\u00a0b", "naïve 漢字 a\u00a0b"),
    ],
)
def test_control_characters_are_escapes_and_letters_stay(raw, shown):
    """ESC begins a terminal's command, U+202E turns the direction; a no-break space is a space."""
    assert printable(raw) == shown


def test_a_message_stays_one_line_whatever_it_quotes():
    told = str(InputError("t.csv", "row 2", "item \x1b[31mred\nerror: forged"))

    assert told == "t.csv: row 2: item \\x1b[31mred error: forged"
