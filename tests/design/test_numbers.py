"""Calls, time, tokens and money, worked by hand."""

from datetime import timedelta
from decimal import Decimal

import pytest

from judgeaudit.design.check.study import check
from judgeaudit.evidence.lock.sources import load_study


@pytest.fixture
def numbers(make):
    def _numbers(**changes):
        report = check(load_study(make(**changes)))
        assert report.ok, report.problems
        return report.numbers

    return _numbers


def test_calls_bodies_and_cap(numbers):
    """8 items x 2 repeats + 1 control, 2 endpoints, 2 windows; a preflight each, beside the cap."""
    found = numbers()

    assert (found.calls, found.preflight, found.needed, found.cap) == (68, 4, 68, 1000)
    assert found.calls_by_endpoint == {"a": 34, "b": 34}


def test_a_window_lasts_as_long_as_its_slowest_endpoint(numbers):
    """17 calls at 2 s, one in flight, is 34 s; the simulated endpoint needs .34 s."""
    found = numbers()

    assert found.longest_window == timedelta(seconds=34)
    assert found.duration == timedelta(seconds=68)


def test_rate_limits_and_gaps_count(numbers):
    """10 requests a minute: 17 calls are 102 s; twice a day on 2 days, with 2 h and 24 h gaps."""
    found = numbers(
        replace={
            'model = "judge-b"': 'model = "judge-b"\nrequests_per_minute = 10',
            "days = 1": 'days = 2\nmin_gap = "2h"',
        }
    )

    assert found.longest_window == timedelta(seconds=102)
    assert found.duration == timedelta(seconds=4 * 102, hours=2 * 2 + 24)


def test_more_in_flight_is_faster(numbers):
    """17 calls, 8 in flight, 2 s each: 4.25 s."""
    found = numbers(replace={'name = "quiet"': 'name = "quiet"\nin_flight = 8'})

    assert found.longest_window == timedelta(seconds=17 * 2 / 8)


def test_tokens_are_bytes_by_four_and_cost_follows(numbers):
    """34 calls at the priced endpoint, 16 tokens at most each: 544 x 1 USD a million."""
    price = "prices = { prompt = 0, completion = 1 }"
    found = numbers(replace={'model = "judge-b"': f'model = "judge-b"\n{price}'})

    assert found.completion_tokens == 68 * 16
    assert found.cost == {"USD": Decimal(34 * 16) / 1_000_000}


def test_assumptions_are_said(numbers):
    text = "\n".join(numbers().lines())

    assert "bytes / 4" in text
    assert "assuming 2 s a call" in text
    assert "no prices registered" in text
