"""The same bytes again, behind the harness's back and never in its way.

* A chosen call waits for its lag, then for its turn: never more re-asks at once than `in_flight`,
  and never so many that harness and re-asks together exceed the most calls that the harness itself
  had under way. When the harness is done, what waits is asked at `in_flight`.
* A 429, a 503 or a 529, on a call of either side, pauses the target's re-asks for as long as it
  asks, or for `PAUSE_S`, doubled each time in a row. A re-ask that met one is tried again, `TRIES`
  times in all; what else fails is a call without a reading.
* `budget` is the most attempts; what it leaves unasked is counted.
* Idempotency keys and trace headers stay away (`headers.again`). Keys are in memory alone, so a
  killed gateway leaves re-asks unasked, and its log says so by not having them.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import aiohttp

from judgeaudit.errors import GuardError
from judgeaudit.evidence.log.records import Asked
from judgeaudit.gateway.headers import again, stored
from judgeaudit.gateway.proxy import Load, Sent, ended, open_reply, whole_body
from judgeaudit.gateway.record import Record, Ticket
from judgeaudit.gateway.sampling import is_chosen, lags
from judgeaudit.model import Attempt, Outcome

TRIES = 4
PAUSE_S, LONGEST_PAUSE_S = 5.0, 300.0
BUSY = frozenset({429, 503, 529})
TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked again: share, seed, pace and limits; `wanted` narrows it to some requests."""

    share: float
    seed: int = 0
    in_flight: int = 4
    budget: int | None = None
    timeout_s: float = 600.0
    wanted: Callable[[str, bytes], bool] | None = None


@dataclass(order=True, slots=True)
class Due:
    """One re-ask that waits: when it is due (monotonic seconds), and of which call."""

    at: float
    number: int
    ticket: Ticket = field(compare=False)
    sent: Sent = field(compare=False)
    repeat: int = field(compare=False)


class Reasker:
    """Asks again. `chosen`, `done` and `left` count calls for people."""

    def __init__(
        self, record: Record, session: aiohttp.ClientSession, load: Load, settings: Settings
    ) -> None:
        self._record, self._session, self._load = record, session, load
        self.settings = settings
        self.done: Counter[str] = Counter()
        self.chosen = self.spent = self.flying = 0
        self.stopped = ""
        self._queue: list[Due] = []
        self._paused: dict[str, float] = {}
        self._streak: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining = False
        self._number = 0

    @property
    def left(self) -> int:
        """How many re-asks wait."""
        return len(self._queue)

    def answered(self, ticket: Ticket, sent: Sent, attempt: Attempt) -> None:
        """Take note of a reply to the harness; it may be chosen."""
        if attempt.status in BUSY:
            self._pause(sent.target.name, attempt.retry_after_ms)
        settings, body = self.settings, ticket.reservation.body_sha256
        if attempt.outcome is not Outcome.OK or ticket.api is None or not settings.share:
            return
        if not is_chosen(settings.seed, settings.share, body, ticket.occurrence):
            return
        if settings.wanted is not None and not settings.wanted(ticket.api, sent.body):
            return
        self.chosen += 1
        ticket.attempt = None  # its body is in the log
        for repeat, lag in enumerate(lags(settings.seed, body, ticket.occurrence), 1):
            self._number += 1
            due = time.monotonic() + lag
            heapq.heappush(self._queue, Due(due, self._number, ticket, sent, repeat))

    async def run(self) -> None:
        """Ask again until cancelled."""
        while True:
            await asyncio.sleep(TICK_S)
            while self._may_send():
                self._start(heapq.heappop(self._queue))

    async def drain(self) -> None:
        """Ask what waits, without waiting for its lag; returns when all is done or stopped."""
        self._draining = True
        while (self._queue and not self.stopped) or self._tasks:
            while self._may_send():
                self._start(heapq.heappop(self._queue))
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=TICK_S, return_when="FIRST_COMPLETED")
            else:
                await asyncio.sleep(TICK_S)

    async def abandon(self) -> None:
        """Ask nothing more; what is under way is recorded as interrupted."""
        self.stopped = self.stopped or "interrupted"
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _may_send(self) -> bool:
        if not self._queue or self.stopped or self.flying >= self.settings.in_flight:
            return False
        if self.settings.budget is not None and self.spent >= self.settings.budget:
            self.stopped = f"the budget of {self.settings.budget} re-asks is spent"
            return False
        first, now = self._queue[0], time.monotonic()
        if self._paused.get(first.sent.target.name, 0.0) > now:
            return False
        if self._draining:
            return True
        return first.at <= now and self._load.flying + self.flying < max(self._load.peak, 1)

    def _start(self, due: Due) -> None:
        self.flying += 1
        self.spent += 1
        task = asyncio.get_running_loop().create_task(self._ask(due))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, due: Due) -> None:
        sent = replace(due.sent, headers=again(due.sent.headers))
        reservation = due.ticket.reservation
        try:
            asked = Asked(
                call_id=f"{reservation.call_id}.{due.repeat}",
                at=time.time_ns(),
                method=sent.method,
                path=self._record.journal.redactor.text(_path(sent)),
                api=due.ticket.api,
                shape=due.ticket.shape,
                body_sha256=reservation.body_sha256,
                body=None,
                redacted=False,
                headers={
                    n: self._record.journal.redactor.text(v)
                    for n, v in stored(sent.headers).items()
                },
                origin=reservation.call_id,
            )
            ticket = await self._record.ask_again(due.ticket, asked, due.repeat, time.time_ns())
            await self._tries(ticket, sent)
        except GuardError as error:
            self.stopped = self.stopped or str(error)
        finally:
            self.flying -= 1

    async def _tries(self, ticket: Ticket, sent: Sent) -> None:
        for tries in range(1, TRIES + 1):
            attempt = await self._once(ticket, sent)
            busy = attempt.status in BUSY
            if not busy:
                self._streak.pop(sent.target.name, None)
            else:
                self._pause(sent.target.name, attempt.retry_after_ms)
            if not busy or tries == TRIES or self._over_budget():
                self.done[attempt.outcome.value] += 1
                return
            while (wait := self._paused[sent.target.name] - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            self.spent += 1
            ticket = await self._record.retry(ticket, time.time_ns())

    def _over_budget(self) -> bool:
        return self.settings.budget is not None and self.spent >= self.settings.budget

    async def _once(self, ticket: Ticket, sent: Sent) -> Attempt:
        begun = time.perf_counter_ns()
        ticket.flying = self._load.flying + self.flying
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                async with open_reply(self._session, sent, ticket) as reply:
                    ticket.exchange.body = await whole_body(reply)
            ended(ticket, begun)
            return self._record.answer(ticket, time.time_ns())
        except asyncio.CancelledError as error:
            ended(ticket, begun)
            self._record.fail(ticket, error)
            raise
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            ended(ticket, begun)
            return self._record.fail(ticket, error)

    def _pause(self, target: str, retry_after_ms: int | None) -> None:
        self._streak[target] += 1
        least = min(PAUSE_S * 2 ** (self._streak[target] - 1), LONGEST_PAUSE_S)
        wait = min((retry_after_ms or 0) / 1000 or least, LONGEST_PAUSE_S)
        until = time.monotonic() + wait
        if until > self._paused.get(target, 0.0):
            self._paused[target] = until
            told = {"target": target, "wait_ms": round(wait * 1000)}
            self._record.event("reasks_paused", time.time_ns(), told)


def _path(sent: Sent) -> str:
    return sent.url.removeprefix(sent.target.origin).partition("?")[0]
