"""The registered retry policy on a virtual clock."""

import asyncio
from datetime import timedelta

import pytest

from judgeaudit.collect.clock import NS, VirtualClock
from judgeaudit.collect.retrying import DONE, Next, wait_s, with_retries
from judgeaudit.design.document import Retry

POLICY = Retry(attempts=4, base=timedelta(seconds=1), longest=timedelta(seconds=3))


def run(*ends, failed=0, closes=10**12):
    """Run attempts that end so; returns what was reached, how many ran, and the seconds passed."""
    moment, left = VirtualClock(0).at(0), list(ends)

    async def attempt():
        return left.pop(0)

    done = asyncio.run(
        with_retries(
            attempt, policy=POLICY, call_id="c", failed=failed, moment=moment, closes_ns=closes * NS
        )
    )
    return done, len(ends) - len(left), moment.now_ns() / NS


AGAIN = Next(again=True)


def test_a_first_success_waits_for_nothing():
    assert run(DONE) == (True, 1, 0)


def test_a_failure_is_tried_again_after_its_wait():
    done, attempts, seconds = run(AGAIN, DONE)

    assert (done, attempts) == (True, 2)
    assert seconds == pytest.approx(wait_s(POLICY, "c", 1, None))


def test_the_policys_attempts_are_the_most():
    done, attempts, _ = run(*[AGAIN] * 9)

    assert (done, attempts) == (False, 4)


def test_failures_of_an_earlier_run_count():
    """Three of four are used up: one attempt is left."""
    assert run(*[AGAIN] * 9, failed=3)[:2] == (False, 1)


@pytest.mark.parametrize(
    ("failures", "low", "high"), [(1, 0.5, 1), (2, 1, 2), (3, 1.5, 3), (9, 1.5, 3)]
)
def test_the_wait_doubles_up_to_the_longest_and_half_of_it_is_jitter(failures, low, high):
    waits = {wait_s(POLICY, f"c{n}", failures, None) for n in range(50)}

    assert len(waits) == 50
    assert low <= min(waits) < max(waits) <= high


def test_jitter_is_a_function_of_call_and_failure_so_that_a_resume_waits_alike():
    assert wait_s(POLICY, "c", 2, None) == wait_s(POLICY, "c", 2, None)


def test_the_server_decides_where_it_says_something():
    assert run(Next(again=True, retry_after_ms=7500), DONE) == (True, 2, 7.5)


def test_a_wait_beyond_the_windows_close_is_not_begun():
    assert run(Next(again=True, retry_after_ms=7500), DONE, closes=7) == (False, 1, 0)
