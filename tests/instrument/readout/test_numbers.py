"""What is a number as text, in an answer and in a cell alike."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.instrument.readout import number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4", "4"),
        (" +3.50 ", "3.50"),
        ("-.5", "-0.5"),
        ("4.", "4"),
        ("1e-05", "0.00001"),
        ("1E+22", "1E+22"),
        ("1e300", "1E+300"),
        ("inf", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("0.1", "0.1"),
        ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
    ],
)
def test_ascii_numbers_are_read_exactly(text, number):
    assert number_of(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    [
        "1_0",
        "５",
        "٤",
        "1,000",
        "3,5",
        "1 000",
        "nan",
        "NaN",
        "",
        " ",
        "e5",
        ".",
        "4/5",
        "4 of 5",
        "0x10",
        "1e",
        "--1",
        "1.2.3",
        "1" * 401,
        "½",
        "²",
    ],
)
def test_nothing_else_is_a_number(text):
    """case T9: `float("1_0")` is 10.0 and `float("５")` is 5.0; neither was meant."""
    assert number_of(text) is None


@given(st.floats(allow_nan=False))
def test_every_float_that_python_prints_is_read_back(value):
    """Oracle: `float(repr(x)) == x`."""
    assert float(number_of(repr(value))) == value
