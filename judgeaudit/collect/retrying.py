"""Retries by the registered policy, run by tenacity.

An attempt gives back what to do next; nothing is raised for a failed network. The wait is what the
server asked for, else `base * 2^(k-1)` up to `longest`, of which the second half is jitter. The
jitter is a function of call and attempt, so that a resumed run waits as the first one would have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import RetryCallState, retry_if_result
from tenacity.asyncio import AsyncRetrying

from judgeaudit.collect.clock import NS, Moment
from judgeaudit.design.document import Retry


@dataclass(frozen=True, slots=True)
class Next:
    """What an attempt ended with: whether to try again, and when the server wants it."""

    again: bool
    retry_after_ms: int | None = None


DONE = Next(again=False)


def wait_s(policy: Retry, call_id: str, failures: int, retry_after_ms: int | None) -> float:
    """Return the seconds to wait after a call's k-th failure (`failures` = k, from 1)."""
    if retry_after_ms is not None:
        return retry_after_ms / 1000
    whole: float = min(
        policy.longest.total_seconds(), policy.base.total_seconds() * 2 ** min(failures - 1, 30)
    )
    return whole / 2 + whole / 2 * _share(f"{call_id}:{failures}")


def _share(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


async def with_retries(
    attempt: Callable[[], Awaitable[Next]],
    *,
    policy: Retry,
    call_id: str,
    failed: int,
    moment: Moment,
    closes_ns: int,
) -> bool:
    """Run `attempt` until it is done, the policy's attempts are used up or the window closes.

    `failed` counts failures before this run. Returns False where a further attempt was due, which
    the policy or the window did not leave.
    """
    first = await attempt()
    if not first.again:
        return True

    def due(state: RetryCallState) -> float:
        last: Next = state.outcome.result()  # type: ignore[union-attr]
        return wait_s(policy, call_id, failed + state.attempt_number, last.retry_after_ms)

    def over(state: RetryCallState) -> bool:
        used_up = failed + state.attempt_number >= policy.attempts
        return used_up or moment.now_ns() + round(due(state) * NS) >= closes_ns

    pending: list[Next] = [first]

    async def step() -> Next:
        return pending.pop() if pending else await attempt()

    retrying = AsyncRetrying(
        retry=retry_if_result(lambda last: last.again),
        wait=due,
        stop=over,
        sleep=moment.sleep,
        retry_error_callback=lambda state: state.outcome.result(),  # type: ignore[union-attr]
    )
    last: Next = await retrying(step)
    return not last.again
