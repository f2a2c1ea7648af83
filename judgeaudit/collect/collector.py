"""One window from its first guard to its seal.

1. The study's executor lock is taken; a second executor is refused at once.
2. Guards: the window is unsealed, its bodies are frozen, earlier windows are sealed, gaps have
   passed. Nothing exists before they hold.
3. The journal is opened, or resumed where it ended: reservations must be a prefix of the plan, and
   those without an outcome are closed as unresolved.
4. Echo and preflight, then the lanes of all endpoints beside each other.
5. A run that was halted stays unsealed (`RunPaused`); running again resumes it. Otherwise the run
   is finished and sealed, unsent calls with their reason.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from judgeaudit.collect import past
from judgeaudit.collect.attempt import Courier, Run, max_tokens
from judgeaudit.collect.clock import NS, RunClock
from judgeaudit.collect.guards import Breaker, Budget, Cap, check_time, earliest_start
from judgeaudit.collect.lane import Lane
from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.pacing import Pacer, estimated_tokens, virtual_step_ns
from judgeaudit.collect.preflight import echo, preflight
from judgeaudit.collect.progress import Earlier, read_earlier
from judgeaudit.collect.transport import Limits, Route, Transport
from judgeaudit.collect.watch import Counts
from judgeaudit.design.document import EndpointSpec
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import GuardError, InputError, JudgeauditError, RunPaused
from judgeaudit.evidence.log import runs
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.reader import JournalRead
from judgeaudit.evidence.log.records import Opening
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.evidence.log.standard import Derive
from judgeaudit.instrument.provider import provider
from judgeaudit.model import JSON, FrozenBody, PlannedCall, Reason, Window
from judgeaudit.version import __version__


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a window ended: its manifest, what this executor did, and in how many seconds."""

    window: str
    manifest: Mapping[str, Any]
    attempts: int
    voided: int
    cost: Decimal
    seconds: float


async def collect(
    study: FrozenStudy,
    window_id: str,
    *,
    clock: RunClock,
    bases: Mapping[str, str],
    keys: Mapping[str, str],
    derive: Derive,
    identity: Mapping[str, Mapping[str, JSON]] | None = None,
    watcher: Callable[[Counts], None] | None = None,
) -> RunSummary:
    """Run a window, or go on with it, and seal it.

    `bases` gives each endpoint's base URL where it is not the registered one (embedded endpoints),
    `keys` the keys by endpoint, `derive` what seals use to read attempts, `identity` what is known
    of embedded endpoints (noted in the journal). Raises `ExecutorBusy`,
    `TooEarly`, `GuardError`, `RunPaused`, `EvidenceError`.
    """
    with exclusive(study.root):
        window = window_of(study, window_id)
        begun = time.perf_counter()
        session = _Session(study, window, clock, bases, keys, derive, Counts(watcher=watcher))
        session.identity = identity or {}
        manifest = await session.run()
        return RunSummary(
            window=window.id,
            manifest=manifest,
            attempts=session.counts.attempts,
            voided=session.voided,
            cost=session.counts.cost,
            seconds=time.perf_counter() - begun,
        )


def window_of(study: FrozenStudy, window_id: str) -> Window:
    """Return a window by its id; raises `InputError` naming those there are."""
    for window in study.windows():
        if window.id == window_id:
            return window
    known = ", ".join(window.id for window in study.windows())
    raise InputError("window", found=f"no window {window_id!r}", remedy=f"the plan has {known}")


def earliest_of(study: FrozenStudy, window: Window) -> int | None:
    """Return when a window may start (UTC ns; None: any time); raises `GuardError`."""
    sealed = runs.sealed_runs(past.log_dir(study.root))
    lanes = [s.id for s in study.registration.endpoints if study.calls_of(window.id, s.id)]
    before = past.pasts(study, window, sealed)
    return earliest_start(window, before, lanes, study.registration.schedule)


def longest_call(study: FrozenStudy, calls: tuple[PlannedCall, ...]) -> int:
    """Return the most tokens that one of the calls uses, by estimate."""
    bodies = {call.body_sha256: study.body_of(call) for call in calls if call.body_sha256}
    return max(
        (
            estimated_tokens(len(body.request.body), max_tokens(body))
            for body in bodies.values()
            if body is not None
        ),
        default=0,
    )


class _Session:
    """The steps of one window, in the order of this module's docstring."""

    def __init__(
        self,
        study: FrozenStudy,
        window: Window,
        clock: RunClock,
        bases: Mapping[str, str],
        keys: Mapping[str, str],
        derive: Derive,
        counts: Counts,
    ) -> None:
        self.study, self.window, self.clock = study, window, clock
        self.bases, self.keys, self.derive, self.counts = bases, keys, derive, counts
        self.log = past.log_dir(study.root)
        self.specs = [
            spec for spec in study.registration.endpoints if study.calls_of(window.id, spec.id)
        ]
        self.calls = [c for spec in self.specs for c in study.calls_of(window.id, spec.id)]
        self.voided = 0
        self.identity: Mapping[str, Mapping[str, JSON]] = {}
        self.stopped: dict[str, Reason] = {}

    async def run(self) -> dict[str, Any]:
        """Collect and seal; returns the manifest."""
        if runs.sealed_path(self.log, self.window.id).exists():
            raise GuardError(f"window {self.window.id} is sealed; nothing is left to run")
        read, earlier = self._earlier()
        lock = self._lock(read)
        if read is None or not read.state.sealed:
            await self._collect(read, earlier, lock)
        return seal_run(self.log, self.window.id, self.calls, lock, self.derive)

    def _earlier(self) -> tuple[JournalRead | None, Earlier]:
        path = runs.journal_path(self.log, self.window.id)
        if not path.exists():
            return None, Earlier()
        planned = {call.call_id: call.body_sha256 for call in self.calls}
        speakers = {spec.id: provider(spec.api) for spec in self.specs}
        attempts = self.study.registration.retry.attempts
        return read_earlier(path, speakers, planned.get, attempts)

    def _lock(self, read: JournalRead | None) -> str:
        """Return the lock that the run began under, also where an amendment has superseded it."""
        if read is not None and read.state.run.lock_digest in self.study.locks:
            return read.state.run.lock_digest
        return self.study.lock_digest

    def _started_ns(self, read: JournalRead | None, earlier: Earlier) -> int:
        """Return when the window began, or begins; raises `TooEarly` on the real clock."""
        if self.clock.virtual and read is not None:
            return read.state.run.opened_at
        if earlier.first_reserved is not None:
            return earlier.first_reserved
        earliest = earliest_of(self.study, self.window)
        if self.clock.virtual and earliest is not None:
            self.clock.advance_to(earliest)
        check_time(self.window, earliest, self.clock.now_ns())
        return self.clock.now_ns()

    async def _collect(self, read: JournalRead | None, earlier: Earlier, lock: str) -> None:
        stage = self.window.stage
        if stage > 1 and stage not in self.study.stage_locks:
            raise GuardError(f"window {self.window.id}: stage {stage} is not frozen yet")
        started = self._started_ns(read, earlier)
        self.clock.advance_to(started)
        sealed = runs.sealed_runs(self.log)
        journal = runs.start(
            self.log, self._opening(started, lock), self.calls, secrets=self.keys.values()
        )
        with journal:
            self.voided = len(journal.voided)
            for name, known in self.identity.items():
                journal.event("identity", started, {"endpoint": name, **known})
            async with Transport() as transport:
                run = self._run(journal, transport, sealed, earlier, started)
                await self._ask(run, earlier, started)
            self._finish(run, journal)

    def _opening(self, started: int, lock: str) -> Opening:
        return Opening(
            run=self.window.id,
            window=self.window.id,
            stage=self.window.stage,
            lock_digest=lock,
            previous_manifest=None,
            tool_version=__version__,
            host=socket.gethostname(),
            pid=os.getpid(),
            clock="virtual" if self.clock.virtual else "utc",
            opened_at=started,
        )

    def _run(
        self,
        journal: Journal,
        transport: Transport,
        sealed: list[runs.SealedRun],
        earlier: Earlier,
        started: int,
    ) -> Run:
        schedule = self.study.registration.schedule
        specs = self.study.registration.endpoints
        spent = past.cost_so_far(specs, past.tokens_used(self.study.root), earlier.tokens)
        entered = set(earlier.finished) | set(journal.state.skipped)
        self.counts.planned = len(self.calls)
        self.counts.done = sum(call.call_id in entered for call in self.calls)
        self.counts.cost = spent
        return Run(
            window=self.window.id,
            clock=self.clock,
            journal=journal,
            transport=transport,
            cap=Cap(schedule.cap, past.cap_used(sealed) + journal.state.cap_used),
            budget=Budget(schedule.budget, spent),
            on_budget=schedule.on_budget,
            closes_ns=started + self._longest_ns(),
            counts=self.counts,
        )

    def _longest_ns(self) -> int:
        return round(self.study.registration.schedule.max_duration.total_seconds() * NS)

    async def _ask(self, run: Run, earlier: Earlier, started: int) -> None:
        lanes = [self._lane(run, spec, earlier, started) for spec in self.specs]
        if run.clock.now_ns() < run.closes_ns:
            for lane in lanes:
                await self._before(lane, earlier, started)
        if run.halted is not None:
            return
        if not run.clock.virtual and earlier.first_reserved is None:
            # Preflight may have waited for a server to load; a window's time is its calls' time.
            run.closes_ns = run.clock.now_ns() + self._longest_ns()
        try:
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    group.create_task(lane.run())
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        self.stopped = {
            lane.courier.spec.id: lane.courier.stopped or Reason.WINDOW_CLOSED for lane in lanes
        }

    async def _before(self, lane: Lane, earlier: Earlier, started: int) -> None:
        frozen = self._first_body(lane)
        if frozen is None or all(call.call_id in earlier.finished for call in lane.calls):
            return
        run = lane.courier.run
        if self.study.registration.controls.echo:
            found = await echo(run.transport, frozen)
            run.journal.event("echo", run.clock.now_ns(), found)
        await preflight(lane.courier, frozen, self.study.registration.retry, started)

    def _first_body(self, lane: Lane) -> FrozenBody | None:
        bodies = (self.study.body_of(call) for call in lane.calls)
        return next((body for body in bodies if body is not None), None)

    def _lane(self, run: Run, spec: EndpointSpec, earlier: Earlier, started: int) -> Lane:
        calls = self.study.calls_of(self.window.id, spec.id)
        tokens = longest_call(self.study, calls) if spec.tokens_per_minute else 0
        pacer = Pacer(
            run.clock.now_ns(),
            requests_per_minute=spec.requests_per_minute,
            tokens_per_minute=spec.tokens_per_minute,
            tokens=tokens,
        )
        step = virtual_step_ns(
            len(calls),
            self._longest_ns(),
            requests_per_minute=spec.requests_per_minute,
            tokens_per_minute=spec.tokens_per_minute,
            tokens=tokens,
        )
        breaker = Breaker(spec.id, self.study.registration.retry.breaker)
        route = self._route(spec)
        courier = Courier(run, spec, provider(spec.api), route, pacer, breaker)
        skipped = frozenset(run.journal.state.skipped)
        return Lane(self.study, calls, courier, earlier, started, step, skipped)

    def _route(self, spec: EndpointSpec) -> Route:
        key = self.keys.get(spec.id)
        timeouts = spec.timeouts
        limits = Limits(
            timeouts.connect.total_seconds(),
            timeouts.read.total_seconds(),
            timeouts.total.total_seconds(),
        )
        secret = provider(spec.api).auth(key, spec.api_version) if key else {}
        return Route(self.bases.get(spec.id, spec.base_url), secret, limits)

    def _finish(self, run: Run, journal: Journal) -> None:
        at = self.clock.now_ns()
        if run.halted is not None:
            journal.event("pause", at, {"why": run.halted})
            raise RunPaused(
                f"window {self.window.id} paused, unsealed: {run.halted}; run again to go on"
            )
        waiting = {s.id for s in self.specs if journal.lanes.waiting(s.id)}
        missing = {name: reason for name, reason in self.stopped.items() if name in waiting}
        journal.seal(at, missing)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error to tell of several: a known one rather than a bug's consequence."""
    leaves: list[BaseException] = []
    for error in errors.exceptions:
        leaves.append(_first(error) if isinstance(error, BaseExceptionGroup) else error)
    known = [error for error in leaves if isinstance(error, JudgeauditError)]
    return (known or leaves)[0]


def begun(study: FrozenStudy, window: Window) -> bool:
    """Return whether a window has a journal, so that it only has to go on."""
    return runs.journal_path(past.log_dir(study.root), window.id).exists()
