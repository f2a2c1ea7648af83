"""Retries by the registered policy, run by tenacity.

An attempt gives back what to do next; nothing is raised for a failed network. The wait is what the
server asked for, else `base * 2^(k-1)` up to `longest`, of which the second half is jitter. The
jitter is a function of call and attempt, so that a resumed run waits as the first one would have.
What a server asks is honoured up to the registered `longest_wait` and to the window's close; a
longer wait is not begun: the call ends there, and its last attempt says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import RetryCallState, retry_if_result
from tenacity.asyncio import AsyncRetrying

from judgeaudit.collect.clock import MS, NS, Moment
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


def too_long(policy: Retry, retry_after_ms: int | None, left_ns: int | None = None) -> str | None:
    """Return why a wait that a server asks for is not begun, None where it is.

    `left_ns` is what is left of the window; None where that is not to be looked at.
    """
    if retry_after_ms is None:
        return None
    asked, most = retry_after_ms / 1000, policy.longest_wait.total_seconds()
    if asked > most:
        return f"asked to wait {asked:.15g} s, registered longest_wait is {most:.15g} s"
    if left_ns is not None and retry_after_ms * MS >= left_ns:
        return f"asked to wait {asked:.15g} s, the window closes in {max(0, left_ns) / NS:.1f} s"
    return None


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
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> bool:
    """Run `attempt` until it is done, the policy's attempts are used up or the window closes.

    `failed` counts failures before this run, `closes_ns` is on the moment's steady clock, `sleep`
    waits instead of the moment. Returns False where a further attempt was due, which
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
        return used_up or moment.steady_ns() + round(due(state) * NS) >= closes_ns

    pending: list[Next] = [first]

    async def step() -> Next:
        return pending.pop() if pending else await attempt()

    retrying = AsyncRetrying(
        retry=retry_if_result(lambda last: last.again),
        wait=due,
        stop=over,
        sleep=sleep or moment.sleep,
        retry_error_callback=lambda state: state.outcome.result(),  # type: ignore[union-attr]
    )
    last: Next = await retrying(step)
    return not last.again
