"""Guards: windows, cap, budget, breaker. Each fails closed."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from judgeaudit.collect.clock import NS
from judgeaudit.collect.guards import (
    Breaker,
    Budget,
    Cap,
    Past,
    check_time,
    cost_of,
    earliest_start,
    to_datetime,
    to_ns,
)
from judgeaudit.design.document import Prices, Schedule
from judgeaudit.errors import GuardError, TooEarly
from judgeaudit.instrument.provider import Classified, Kind
from judgeaudit.model import Usage, Window

HOUR = 3600 * NS
SCHEDULE = Schedule(
    seed=1,
    cap=9,
    min_gap=timedelta(hours=2),
    day_gap=timedelta(hours=20),
    days=2,
    windows_per_day=2,
)
D1W1, D1W2, D2W1 = Window("d1w1", 1, 1, 1), Window("d1w2", 1, 1, 2), Window("d2w1", 1, 2, 1)


def sealed(window, **activity):
    return Past(window, sealed=True, last_activity=activity)


def test_a_gap_runs_from_the_last_activity_of_each_endpoint():
    """a was last active at 1 h, b at 3 h; with a gap of 2 h the window may start at 5 h."""
    past = [sealed(D1W1, a=1 * HOUR, b=3 * HOUR)]

    assert earliest_start(D1W2, past, ["a", "b"], SCHEDULE) == 5 * HOUR
    assert earliest_start(D1W2, past, ["a"], SCHEDULE) == 3 * HOUR


def test_another_day_needs_the_day_gap_after_every_window_of_the_day_before():
    """20 h after 3 h is 23 h; 20 h after 1 h would be 21 h."""
    past = [sealed(D1W1, a=1 * HOUR), sealed(D1W2, a=3 * HOUR)]

    assert earliest_start(D2W1, past, ["a"], SCHEDULE) == 23 * HOUR


def test_a_gap_that_matches_no_endpoint_is_refused_not_passed():
    """The incident: a guard that read plan ids by position, matched nothing and let 10.6 minutes
    pass for 2 hours. A log that does not know the endpoint proves no gap.
    """
    past = [sealed(D1W1, other=1 * HOUR)]

    with pytest.raises(GuardError, match="no gap can be measured"):
        earliest_start(D1W2, past, ["a"], SCHEDULE)


def test_an_endpoint_that_is_known_to_have_been_silent_needs_no_gap():
    assert earliest_start(D1W2, [sealed(D1W1, a=None)], ["a"], SCHEDULE) is None


def test_an_unsealed_window_blocks_every_later_one():
    with pytest.raises(GuardError, match="d1w1 is not sealed"):
        earliest_start(D1W2, [Past(D1W1, sealed=False, last_activity={})], ["a"], SCHEDULE)


def test_the_registered_start_counts_as_utc():
    start = datetime(2026, 1, 1, 12)
    schedule = SCHEDULE.model_copy(update={"start": start})

    assert earliest_start(D1W1, [], ["a"], schedule) == to_ns(start.replace(tzinfo=UTC))


def test_too_early_names_the_earliest_time():
    earliest = to_ns(datetime(2026, 1, 1, 12, tzinfo=UTC))

    with pytest.raises(TooEarly, match="2026-01-01 12:00:00 UTC") as refused:
        check_time(D1W2, earliest, earliest - 1)

    assert refused.value.earliest == datetime(2026, 1, 1, 12, tzinfo=UTC)
    check_time(D1W2, earliest, earliest)


def test_a_told_time_is_never_before_the_earliest():
    """A nanosecond after a full second is told as the next second."""
    assert to_ns(to_datetime(5 * NS + 1)) == 6 * NS


def test_the_cap_is_hard():
    cap = Cap(limit=3, used=1)

    assert [cap.reserve() for _ in range(4)] == [True, True, False, False]
    assert cap.used == 3


def test_cost_is_price_per_million_tokens():
    """1,000,000 at 2 and 500,000 at 6: 2 + 3."""
    prices = Prices(prompt=Decimal(2), completion=Decimal(6))

    assert cost_of(prices, Usage(prompt=1_000_000, completion=500_000)) == 5
    assert cost_of(prices, Usage()) == 0


def test_the_budget_holds_what_is_in_flight_at_its_worst():
    """Of 10, 4 are spent and 3 at risk: another 4 might exceed it, 3 cannot."""
    budget = Budget(limit=Decimal(10), spent=Decimal(4), at_risk=Decimal(3))

    assert not budget.reserve(Decimal(4))
    assert budget.reserve(Decimal(3))
    budget.settle(Decimal(3), Decimal(1))
    assert (budget.spent, budget.at_risk) == (5, 3)


def refused(pause=False):
    return Classified(Kind.REFUSE, pause=pause, detail="why")


def test_equal_client_errors_in_a_row_pause():
    breaker = Breaker("a", limit=3)

    for _ in range(2):
        breaker.note(400, refused())
    assert breaker.why is None
    breaker.note(400, refused())
    assert breaker.why == "endpoint a: HTTP 400 3 times in a row: why"


@pytest.mark.parametrize("between", [200, 422, 500])
def test_any_other_reply_starts_the_row_anew(between):
    breaker = Breaker("a", limit=3)

    for status in (400, 400, between, 400, 400):
        breaker.note(status, refused())

    assert breaker.why is None


def test_a_transport_failure_neither_counts_nor_clears():
    breaker = Breaker("a", limit=2)

    for status in (400, None, 400):
        breaker.note(status, refused())

    assert breaker.why is not None


def test_rate_limits_do_not_trip_the_breaker():
    """They are waited for; a pause would end a study that only has to go slower."""
    breaker = Breaker("a", limit=2)

    for _ in range(9):
        breaker.note(429, Classified(Kind.RETRY))

    assert breaker.why is None


def test_what_no_later_call_survives_pauses_at_once():
    breaker = Breaker("a", limit=5)

    breaker.note(401, refused(pause=True))

    assert breaker.why == "endpoint a: HTTP 401: why"
