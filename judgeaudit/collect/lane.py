"""A lane: what one endpoint is asked in one window, in plan order.

A lane runs condition by condition. `in_flight` workers share one iterator over the calls of a
stretch of equal condition; the stretch is drained before the next begins, so that no call of a
quiet condition has company. A worker reserves a call in the same step in which it takes it, so
reservations stand in plan order however the network behaves.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from judgeaudit.collect.attempt import Courier, Job
from judgeaudit.collect.clock import NS
from judgeaudit.collect.progress import Earlier
from judgeaudit.collect.retrying import wait_s, with_retries
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import GuardError
from judgeaudit.model import PlannedCall, Reason


@dataclass(slots=True)
class Lane:
    """One endpoint's part of a window."""

    study: FrozenStudy
    calls: tuple[PlannedCall, ...]
    courier: Courier
    earlier: Earlier
    start_ns: int
    step_ns: int
    skipped: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Ask everything that is not finished; returns early where the courier stopped."""
        for condition, group in itertools.groupby(self._jobs(), key=lambda job: job.condition):
            width, jobs = self.study.condition(condition).in_flight, iter(group)
            async with asyncio.TaskGroup() as workers:
                for _ in range(width):
                    workers.create_task(self._work(jobs))
            if not self.courier.open:
                return

    async def _work(self, jobs: Iterator[Job]) -> None:
        while self.courier.open:
            await self.courier.pace()
            if not self.courier.open or (job := next(jobs, None)) is None:
                return
            await self._ask(job)

    async def _ask(self, job: Job) -> None:
        run, policy = self.courier.run, self.study.registration.retry
        moment = run.clock.at(job.planned_ns)
        if job.failed:
            wait = self._left_to_wait(job)
            again = self._due(job) if run.clock.virtual else run.clock.steady_ns() + wait
            if again >= run.closes_ns:
                run.ended(job)  # as it would have ended in the run that it failed in
                return
            await self._wait(wait)
            moment = run.clock.at(max(job.planned_ns, self._due(job)))
        await with_retries(
            lambda: self.courier.attempt(job, moment),
            policy=policy,
            call_id=job.call_id,
            failed=job.failed,
            moment=moment,
            closes_ns=run.closes_ns,
            sleep=None if moment.virtual else run.wait,
        )
        self.courier.call_ended(job)
        run.ended(job)

    def _due(self, job: Job) -> int:
        """Return when a call that failed in an earlier run may be tried again."""
        past = self.earlier.failed(job.call_id)
        return past.ended_ns + self._whole_wait(job)

    def _whole_wait(self, job: Job) -> int:
        past, policy = self.earlier.failed(job.call_id), self.study.registration.retry
        return round(wait_s(policy, job.call_id, past.count, past.retry_after_ms) * NS)

    def _left_to_wait(self, job: Job) -> int:
        """Return what is left of a wait that an earlier run began.

        Never more than the whole of it: the wall clock may have been set back since.
        """
        left = self._due(job) - self.courier.run.clock.now_ns()
        return min(max(0, left), self._whole_wait(job))

    async def _wait(self, nanoseconds: int) -> None:
        if not self.courier.run.clock.virtual and nanoseconds:
            await self.courier.run.wait(nanoseconds / NS)

    def _jobs(self) -> Iterator[Job]:
        """Yield the unfinished calls; one that has no body is skipped on the way."""
        journal = self.courier.run.journal
        for position, call in enumerate(self.calls):
            if call.call_id in self.earlier.finished or call.call_id in self.skipped:
                continue
            frozen = self.study.body_of(call)
            if frozen is None:
                if call.stage not in self.study.stage_locks:
                    raise GuardError(f"call {call.call_id}: stage {call.stage} is not frozen yet")
                journal.skip(call, Reason.NO_MEMORY, self.courier.run.clock.now_ns())
                self.courier.run.skipped()
                continue
            known = journal.state.calls.get(call.call_id)
            yield Job(
                call_id=call.call_id,
                call=call,
                frozen=frozen,
                condition=call.condition,
                attempts=known.attempts if known else 0,
                failed=self.earlier.failed(call.call_id).count,
                planned_ns=self.start_ns + (position + 1) * self.step_ns,
                load=self.study.condition(call.condition).in_flight,
                worst=self.courier.worst_cost(frozen) if self.courier.priced else Decimal(0),
            )
