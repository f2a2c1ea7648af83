"""Requests and tokens per minute, worked by hand on a clock that stands where it is put."""

from bisect import bisect_left

import pytest

from judgeaudit.collect.clock import NS
from judgeaudit.collect.pacing import Pacer, estimated_tokens, virtual_step_ns

MINUTE = 60 * NS


def test_requests_are_spread_evenly():
    """60 a minute: the first at once, then one a second, whoever asks at the same moment."""
    pacer = Pacer(0, requests_per_minute=60)

    assert [pacer.delay_ns(0) for _ in range(4)] == [0, NS, 2 * NS, 3 * NS]


def test_time_that_passed_unused_is_not_saved_up():
    """A burst after a pause is what a per-minute limit punishes."""
    pacer = Pacer(0, requests_per_minute=60)

    assert [pacer.delay_ns(10 * MINUTE) for _ in range(2)] == [0, NS]


def test_tokens_wait_until_the_bucket_is_level():
    """600 a minute are 10 a second; calls of 50 follow each other after 5 s."""
    pacer = Pacer(0, tokens_per_minute=600, tokens=50)

    assert [pacer.delay_ns(0) for _ in range(3)] == [0, 5 * NS, 10 * NS]


@pytest.mark.parametrize("requests", [6, 60, 600])
def test_no_minute_holds_more_than_its_limit(requests):
    """Send as fast as allowed for ten minutes: at most limit + 1 begin within any minute."""
    pacer, now, sent = Pacer(0, requests_per_minute=requests), 0, []
    while now < 10 * MINUTE:
        now += pacer.delay_ns(now)
        sent.append(now)

    busiest = max(bisect_left(sent, t + MINUTE) - place for place, t in enumerate(sent))
    assert busiest <= requests + 1


def test_the_tighter_limit_decides():
    pacer = Pacer(0, requests_per_minute=600, tokens_per_minute=60, tokens=10)
    pacer.delay_ns(0)

    assert pacer.delay_ns(0) == 10 * NS


def test_a_servers_retry_after_holds_the_whole_endpoint():
    """The incident: a rate limit assumed away. Nothing registered, and still all calls wait."""
    pacer = Pacer(0)
    pacer.hold(0, 2000)

    assert pacer.delay_ns(NS) == NS
    assert pacer.delay_ns(3 * NS) == 0


def test_the_token_estimate_is_high():
    """10 bytes are at most 4 tokens at 3 bytes a token, and the answer at its longest."""
    assert estimated_tokens(10, 100) == 104


def test_calls_on_the_virtual_clock_stand_a_second_apart_or_fit_the_window():
    """1,000 calls in 100 s: 90 s / 1,001 apart. The limit of 6 a minute: 10 s apart."""
    assert virtual_step_ns(10, MINUTE) == NS
    assert virtual_step_ns(1000, 100 * NS) * 1001 <= 90 * NS
    assert virtual_step_ns(10, MINUTE, requests_per_minute=6) == 10 * NS + 1
