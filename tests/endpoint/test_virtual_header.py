"""The header by which a runner tells a simulated endpoint the virtual time."""

import pytest

from judgeaudit.canonical import parse_virtual_header, virtual_header
from judgeaudit.errors import InputError


def test_what_is_written_is_read_back():
    assert virtual_header(10**18, 2, 8) == "t=1000000000000000000;attempt=2;load=8"
    assert parse_virtual_header(virtual_header(10**18, 2, 8)) == (10**18, 2, 8)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("t=5", (5, 1, 1)),
        (" load=3 ; t=5 ", (5, 1, 3)),
        ("t=5;attempt=2;repeat=x", (5, 2, 1)),
    ],
)
def test_order_spaces_and_unknown_fields_do_not_matter(text, found):
    assert parse_virtual_header(text) == found


@pytest.mark.parametrize("text", ["", "attempt=1", "t=now", "t=1;load=x"])
def test_anything_else_is_refused_in_one_line(text):
    with pytest.raises(InputError, match="x-judgeaudit-virtual"):
        parse_virtual_header(text)
