"""One window from its first guard to its seal.

1. The study's executor lock is taken; a second executor is refused at once.
2. Guards: the window is unsealed, its bodies are frozen, earlier windows are sealed, gaps have
   passed. Nothing exists before they hold.
3. The journal is opened, or resumed where it ended: reservations must be a prefix of the plan, and
   those without an outcome are closed as unresolved.
4. Echo and preflight, then the lanes of all endpoints beside each other.
5. A run that was halted stays unsealed (`RunPaused`); running again resumes it, and asks the calls
   anew that an outage took. So does a run in which too few calls were answered.
6. Otherwise the run is finished and sealed, unsent calls with their reason. Who asks for the seal
   gets it with what there is: nothing more is sent, and the journal says who asked.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from judgeaudit.collect import past
from judgeaudit.collect.attempt import Courier, Run, max_tokens
from judgeaudit.collect.clock import NS, RunClock
from judgeaudit.collect.guards import Breaker, Budget, Cap, check_time, earliest_start
from judgeaudit.collect.lane import Lane
from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.pacing import Pacer, estimated_tokens, virtual_step_ns
from judgeaudit.collect.preflight import echo, preflight
from judgeaudit.collect.progress import Earlier, read_earlier
from judgeaudit.collect.shares import too_few
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

SEAL_ANYWAY = "`judgeaudit run STUDY --seal-anyway`"


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
    teller: Callable[[str], None] | None = None,
    seal_anyway: bool = False,
) -> RunSummary:
    """Run a window, or go on with it, and seal it.

    `bases` gives each endpoint's base URL where it is not the registered one (embedded endpoints),
    `keys` the keys by endpoint, `derive` what seals use to read attempts, `identity` what is known
    of embedded endpoints (noted in the journal). `watcher` sees the counts after every change,
    `teller` is told what a person should know meanwhile; `seal_anyway` seals a window that has
    begun with what it has, sending nothing. Raises `ExecutorBusy`,
    `TooEarly`, `GuardError`, `RunPaused`, `EvidenceError`.
    """
    with exclusive(study.root):
        window = window_of(study, window_id)
        begun = time.perf_counter()
        counts = Counts(watcher=watcher, teller=teller)
        session = _Session(study, window, clock, bases, keys, derive, counts)
        session.identity = identity or {}
        manifest = await (session.seal_anyway() if seal_anyway else session.run())
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
        self.lanes: list[Lane] = []

    async def run(self) -> dict[str, Any]:
        """Collect and seal; returns the manifest."""
        if runs.sealed_path(self.log, self.window.id).exists():
            raise GuardError(f"window {self.window.id} is sealed; nothing is left to run")
        read, earlier = self._earlier()
        lock = self._lock(read)
        if read is None or not read.state.sealed:
            await self._collect(read, earlier, lock)
        return seal_run(self.log, self.window.id, self.calls, lock, self.derive)

    async def seal_anyway(self) -> dict[str, Any]:
        """Seal a window that has begun with what it has; returns the manifest."""
        read, _ = self._earlier()
        if read is None:
            raise GuardError(
                f"window {self.window.id}: nothing was asked; there is nothing to seal"
            )
        lock = self._lock(read)
        if not read.state.sealed:
            at = self.clock.now_ns()
            with runs.start(
                self.log, self._opening(at, lock), self.calls, secrets=self.keys.values()
            ) as journal:
                self.voided = len(journal.voided)
                journal.event("seal_anyway", at, {"said": "sealed as it is, on request"})
                self.stopped = {spec.id: Reason.WINDOW_CLOSED for spec in self.specs}
                self._seal(journal)
        return seal_run(self.log, self.window.id, self.calls, lock, self.derive)

    def _earlier(self) -> tuple[JournalRead | None, Earlier]:
        path = runs.journal_path(self.log, self.window.id)
        if not path.exists():
            return None, Earlier()
        planned = {call.call_id: call.body_sha256 for call in self.calls}
        speakers = {spec.id: provider(spec.api) for spec in self.specs}
        return read_earlier(path, speakers, planned.get, self.study.registration.retry)

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
            closes_ns=self._closes_ns(started),
            counts=self.counts,
        )

    def _closes_ns(self, started: int) -> int:
        """Return when the window closes on the steady clock.

        What is left of it is known from the wall clock alone where an earlier executor began it; it
        is never more than the whole.
        """
        if self.clock.virtual:
            return started + self._longest_ns()
        left = started + self._longest_ns() - self.clock.now_ns()
        return self.clock.steady_ns() + min(left, self._longest_ns())

    def _longest_ns(self) -> int:
        return round(self.study.registration.schedule.max_duration.total_seconds() * NS)

    async def _ask(self, run: Run, earlier: Earlier, started: int) -> None:
        lanes = [self._lane(run, spec, earlier, started) for spec in self.specs]
        self.lanes = lanes
        if run.clock.steady_ns() < run.closes_ns:
            for lane in lanes:
                await self._before(lane, earlier, started)
        if run.halted is not None:
            return
        if not run.clock.virtual and earlier.first_reserved is None:
            # Preflight may have waited for a server to load; a window's time is its calls' time.
            run.closes_ns = run.clock.steady_ns() + self._longest_ns()
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
        await preflight(lane.courier, [frozen, self._other_body(lane, frozen)], started)

    def _first_body(self, lane: Lane) -> FrozenBody | None:
        bodies = (self.study.body_of(call) for call in lane.calls)
        return next((body for body in bodies if body is not None), None)

    def _other_body(self, lane: Lane, first: FrozenBody) -> FrozenBody:
        """Return the lane's next body that differs from its first; the first where none does."""
        bodies = (self.study.body_of(call) for call in lane.calls)
        return next((b for b in bodies if b and b.body_sha256 != first.body_sha256), first)

    def _lane(self, run: Run, spec: EndpointSpec, earlier: Earlier, started: int) -> Lane:
        calls = self.study.calls_of(self.window.id, spec.id)
        tokens = longest_call(self.study, calls) if spec.tokens_per_minute else 0
        pacer = Pacer(
            run.clock.steady_ns(),
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
        policy = self.study.registration.retry
        breaker = Breaker(spec.id, policy.breaker, policy.outage)
        route = self._route(spec)
        speaker = provider(spec.api)
        courier = Courier(run, spec, speaker, route, pacer, breaker, policy, self.study.rules)
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
        run.note_jumps()
        for lane in self.lanes:
            courier = lane.courier
            courier.breaker.window_ended(courier.last_error or "not sent")
            if courier.breaker.why is not None:
                run.halt(courier.breaker.why)
        lost = [call_id for lane in self.lanes for call_id in lane.courier.breaker.lost]
        if run.halted is not None:
            self._pause(journal, run.halted, lost)
        journal.flush()
        if (few := too_few(self.study, journal.path, self.calls, self.derive)) is not None:
            self._pause(journal, few.says, few.unanswered, f"; or seal it so: {SEAL_ANYWAY}")
        self._seal(journal)

    def _pause(self, journal: Journal, why: str, anew: list[str], way: str = "") -> NoReturn:
        journal.event("pause", self.clock.now_ns(), {"why": why, "anew": anew})
        again = "run again to go on"
        raise RunPaused(f"window {self.window.id} paused, unsealed: {why}; {again}{way}")

    def _seal(self, journal: Journal) -> None:
        waiting = {s.id for s in self.specs if journal.lanes.waiting(s.id)}
        missing = {name: reason for name, reason in self.stopped.items() if name in waiting}
        journal.seal(self.clock.now_ns(), missing)


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
