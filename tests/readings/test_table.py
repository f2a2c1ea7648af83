"""What a readings table may hold, which rows are probes, and which rows a `where` leaves."""

import pandas as pd
import pytest

from judgeaudit.errors import InputError
from judgeaudit.readings.table import checked, probes, select

OK = {"item": "a", "repeat": 0, "status": "ok", "number": 1.0}


def frame(*rows):
    return checked(pd.DataFrame([{**OK, **row} for row in rows]))


def test_a_key_stands_once():
    with pytest.raises(InputError, match="row 2: item 'a' stands twice under one key"):
        frame({}, {"repeat": 1}, {"number": 2.0})


@pytest.mark.parametrize("other", [{"repeat": 1}, {"window": "2"}, {"arm": "rev"}, {"draw": 1}])
def test_another_repeat_window_arm_or_draw_is_another_key(other):
    assert len(frame({}, other)) == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"status": "fine"}, "row 0: status 'fine'"),
        ({"number": None}, "row 0: status ok without a value"),
        ({"status": "invalid", "number": None}, "row 0: status invalid without a reason"),
    ],
)
def test_a_row_is_ok_with_a_value_or_invalid_with_a_reason(row, said):
    with pytest.raises(InputError, match=said):
        frame(row)


def test_controls_are_no_probes():
    """Two of three rows are controls: one probe is left."""
    table = frame({}, {"item": "b", "control": "gold"}, {"item": "c", "control": "identical"})

    assert probes(table)["item"].tolist() == ["a"]


def test_where_keeps_the_rows_that_equal_it_and_no_others():
    table = frame({"condition": "quiet"}, {"condition": "loaded"}, {"item": "b"})

    assert select(table, {"condition": "quiet"})["item"].tolist() == ["a"]
    assert len(select(table, {"item": "a"})) == 2
    assert len(select(table, {"item": "a", "condition": "loaded"})) == 1
    assert len(select(table, {})) == 3


def test_a_where_that_no_row_equals_names_what_there_is():
    with pytest.raises(InputError, match="where: condition: no row has 'busy'; found: quiet"):
        select(frame({"condition": "quiet"}), {"condition": "busy"})
