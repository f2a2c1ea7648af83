"""Reservations are a prefix of the plan, by call id."""

import pytest

from judgeaudit.errors import GuardError
from judgeaudit.evidence.log.lanes import Lanes, check_lanes, check_prefix, lanes_of

PLAN = ["c1", "c2", "c3"]


@pytest.mark.parametrize("count", range(4))
def test_every_prefix_is_accepted(count):
    check_prefix(PLAN[:count], PLAN)


@pytest.mark.parametrize(
    ("entered", "place"),
    [(["c2"], "entry 0 is call 'c2'"), (["c1", "c3"], "entry 1 is call 'c3'"), (["c1", "c1"], "1")],
)
def test_a_gap_or_another_order_is_refused(entered, place):
    with pytest.raises(GuardError, match=place):
        check_prefix(entered, PLAN, "a")


def test_an_id_that_the_plan_lacks_is_refused_and_not_skipped():
    """A guard that read ids by position once matched nothing and let everything pass."""
    with pytest.raises(GuardError, match="call 'x9' is not in the plan"):
        check_prefix(["x9"], PLAN)


def test_more_entries_than_plan_are_refused():
    with pytest.raises(GuardError, match="the end"):
        check_prefix([*PLAN, "c1"], PLAN)


def test_a_lane_that_the_plan_lacks_is_refused():
    with pytest.raises(GuardError, match="lane 'z'"):
        check_lanes({"z": ["c1"]}, {"a": PLAN})


def test_lanes_are_in_plan_order_whatever_the_order_of_the_list(kit):
    calls = kit.calls_in("d1w1", kit.plan())

    assert lanes_of(reversed(calls)) == {
        "a": ["a-d1w1-q0", "a-d1w1-q1", "a-d1w1-q2"],
        "b": ["b-d1w1-q0", "b-d1w1-q1", "b-d1w1-q2"],
    }


def test_calls_enter_one_after_the_other_each_lane_for_itself(kit):
    lanes = Lanes(kit.calls_in("d1w1", kit.plan()), {"a": ["a-d1w1-q0"]})

    lanes.check("a", "a-d1w1-q1")
    lanes.enter("a")
    lanes.check("b", "b-d1w1-q0")
    with pytest.raises(GuardError, match="not the plan's next, which is 'a-d1w1-q2'"):
        lanes.check("a", "a-d1w1-q1")
    assert lanes.waiting("a") == ["a-d1w1-q2"]
