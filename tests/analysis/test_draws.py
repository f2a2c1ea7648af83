"""k draws make one reading by the registered aggregate; no draw is dropped."""

import pandas as pd
import pytest

from judgeaudit.analysis.draws import aggregated
from judgeaudit.errors import InputError
from judgeaudit.readings.table import checked


def drawn(column, *values, control=None):
    """One item read in `values` draws; None is an invalid draw."""
    rows = [
        {
            "item": "i",
            "draw": d,
            "status": "invalid" if v is None else "ok",
            "reason": "refused" if v is None else None,
            column: v,
            "control": control,
        }
        for d, v in enumerate(values)
    ]
    return checked(pd.DataFrame(rows))


def one(table, aggregate, k=3, ties="average"):
    found = aggregated(table, k, aggregate, ties)
    assert len(found) == 1
    return found.iloc[0]


def test_borda_orders_by_mean_place():
    """Places of a: 0, 0, 1; b: 1, 2, 0; c: 2, 1, 2: means 1/3, 1, 5/3."""
    table = drawn("ranking", tuple("abc"), tuple("acb"), tuple("bac"))

    assert one(table, "borda")["ranking"] == ("a", "b", "c")


def test_median_rank_is_not_moved_by_one_outlier():
    """a is first twice and last of four once: median place 0, mean 1; b: 1, 1, 0."""
    table = drawn("ranking", tuple("abcd"), tuple("abdc"), tuple("bcda"))

    assert one(table, "median_rank")["ranking"][0] == "a"
    assert one(table, "borda")["ranking"][0] == "b"


@pytest.mark.parametrize(("ties", "status"), [("first", "ok"), ("invalid", "invalid")])
def test_a_tie_is_broken_or_invalid_as_registered(ties, status):
    found = one(drawn("ranking", tuple("ab"), tuple("ba")), "borda", k=2, ties=ties)

    assert found["status"] == status
    assert found["ranking"] == (("a", "b") if status == "ok" else None)


def test_mean_and_majority():
    assert one(drawn("number", 1.0, 2.0, 6.0), "mean")["number"] == 3
    assert one(drawn("category", "A", "B", "B"), "majority")["category"] == "B"


def test_an_invalid_draw_makes_the_reading_invalid_with_its_reason():
    found = one(drawn("category", "A", None, "A"), "majority")

    assert (found["status"], found["reason"], found["category"]) == ("invalid", "refused", None)


def test_a_draw_that_is_not_there_is_not_made_up():
    assert one(drawn("category", "A", "A"), "majority")["reason"] == "no_reply"


def test_one_draw_and_controls_stay_as_they_are():
    table = drawn("category", "A", control="gold")

    assert aggregated(table, 1, "majority", "average") is table
    assert one(table, "majority")["category"] == "A"


def test_an_aggregate_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="'borda' takes a ranking"):
        aggregated(drawn("category", "A", "B", "B"), 3, "borda", "average")
