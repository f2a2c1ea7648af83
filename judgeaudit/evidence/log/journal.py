"""The journal of a run on disk: append with group commit, resume after any end.

`await reserve(...)` returns once its record is durable, so no byte leaves for an attempt that a
crash could forget. Reserves that wait together share one fsync, made in a thread. An outcome is
written at once and becomes durable with the next commit: a killed process loses nothing that was
written, lost power at most outcomes whose reservation stays, which resume then closes as
unresolved.

Records are chained and checked when they are written by the rules by which they are read
(`state`), and calls enter their lanes in plan order (`lanes`): what would not resume is refused
before it is written. Received values pass the redactor here, at the last gate before the disk.

One thread (an event loop's) calls a journal. The file itself is locked, and checked before each
append to be as it was left, so that no second process writes between two records.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from judgeaudit.errors import GuardError
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.chain import Broken, Chain
from judgeaudit.evidence.log.files import DiskFile, JournalFile, Opener, create, sweep
from judgeaudit.evidence.log.lanes import Entrance, entrance
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.records import (
    Asked,
    Kind,
    Opening,
    Reservation,
    asked_payload,
    attempt_payload,
    opening_payload,
    reservation_payload,
    unresolved,
)
from judgeaudit.evidence.log.redact import Redactor
from judgeaudit.evidence.log.state import JournalState
from judgeaudit.model import Attempt, PlannedCall, Reason

CRASHED = "the process ended before an outcome was recorded"


class Journal:
    """An open journal. `state` is what it says so far, `voided` what resuming gave up."""

    def __init__(
        self,
        path: Path,
        file: JournalFile,
        chain: Chain,
        state: JournalState,
        lanes: Entrance,
        redactor: Redactor,
    ) -> None:
        self.path, self.state, self.lanes = path, state, lanes
        self.voided: tuple[Attempt, ...] = ()
        self._file, self._chain, self.redactor = file, chain, redactor
        self._durable = chain.length
        self._failure: Exception | None = None
        self._syncing: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="journal")

    @classmethod
    def open(
        cls,
        path: Path,
        opening: Opening,
        calls: Sequence[PlannedCall] | None,
        *,
        secrets: Iterable[str] = (),
        opener: Opener = DiskFile,
    ) -> Journal:
        """Create the journal of a new run; its opening is durable on return.

        `calls` are the run's planned calls, None in a log without a plan. Raises `GuardError` if
        the journal exists.
        """
        chain, state, lanes = Chain(), JournalState(), entrance(calls)
        link = chain.extend(Kind.OPEN, opening_payload(opening, catalogue.TODAY))
        state.apply(link.record)
        chain.move_to(link)
        try:
            create(path, link.line)
        except FileExistsError:
            raise GuardError(f"{path}: the run has a journal already; resume it") from None
        journal = cls(path, opener(path), chain, state, lanes, Redactor(secrets))
        if not journal.locked:
            journal.event("no_locks", opening.opened_at, {})
        return journal

    @classmethod
    def resume(
        cls,
        path: Path,
        calls: Sequence[PlannedCall] | None,
        *,
        opening: Opening,
        secrets: Iterable[str] = (),
        opener: Opener = DiskFile,
    ) -> Journal:
        """Open an unfinished journal where it ended.

        A torn last line is cut off, reservations without an outcome are closed as unresolved
        (`voided`), and who resumed is noted, all durable on return. `opening` is what a new
        journal would say now. Raises `EvidenceError` for a broken chain, `GuardError` if run,
        lock or clock differ, the run is sealed, or its reservations are no prefix of the plan.
        """
        file = opener(path)  # locked before it is read: another may be writing it
        try:
            sweep(path)
            read = read_journal(path)
            _same_run(path, read.state.run, opening)
            if read.state.sealed:
                raise GuardError(f"{path}: the run is finished; nothing can be added")
            lanes = entrance(calls, read.state.lanes)
            if read.torn:
                file.cut(read.length)
        except BaseException:
            file.close()
            raise
        journal = cls(path, file, read.chain, read.state, lanes, Redactor(secrets))
        try:
            journal._close_open_attempts(opening, read.torn)
        except BaseException:
            journal.close()
            raise
        return journal

    def _unlocked(self) -> dict[str, bool]:
        return {} if self._file.locked else {"no_locks": True}

    @property
    def locked(self) -> bool:
        """False where the file system has no locks: then only the checks at each append hold."""
        return self._file.locked

    def _close_open_attempts(self, opening: Opening, torn: int) -> None:
        who = {"host": opening.host, "pid": opening.pid, "tool_version": opening.tool_version}
        self.event("resume", opening.opened_at, {**who, "torn_bytes": torn, **self._unlocked()})
        self.voided = tuple(self.void(call_id, CRASHED) for call_id in self.state.open_attempts)
        self.flush()

    async def reserve(self, reservation: Reservation) -> None:
        """Record that an attempt is about to be sent; durable on return.

        Records stand in the order of the calls of this method, not of their returns. Raises
        `GuardError`, then nothing may be sent.
        """
        self._reserve(reservation)
        await self._commit(self._chain.length)

    def reserve_blocking(self, reservation: Reservation) -> None:
        """Do as `reserve` without an event loop."""
        self._reserve(reservation)
        self.flush()

    def arrive(self, asked: Asked, reservation: Reservation) -> None:
        """Record what a call sends and that it is about to be sent, in one write.

        For a client's own call, which it would have sent anyway: written, so that the end of this
        process loses nothing, and durable with the next commit (`commit_soon`). Raises
        `GuardError`, then nothing was recorded.
        """
        self._append_all(
            (Kind.REQUEST, asked_payload(asked)),
            (Kind.RESERVE, reservation_payload(reservation, self.state.format)),
        )

    async def ask_again(self, asked: Asked, reservation: Reservation) -> None:
        """Do as `arrive` for a call of our own: durable on return, before its bytes leave."""
        self.arrive(asked, reservation)
        await self._commit(self._chain.length)

    def commit_soon(self) -> None:
        """Begin to make everything written durable, without waiting for it."""
        if self._syncing is None and self._failure is None and self._durable < self._chain.length:
            self._syncing = asyncio.get_running_loop().create_task(self._sync())
            self._syncing.add_done_callback(_retrieve)

    def outcome(self, attempt: Attempt) -> Attempt:
        """Record how a reserved attempt ended; returns it as stored, without secrets.

        Body digests and `redacted` are set here, headers cut to the allow-list.
        """
        stored = self.redactor.attempt(attempt)
        self._append(Kind.OUTCOME, attempt_payload(stored, self.state.format))
        return stored

    def void(self, call_id: str, error: str) -> Attempt:
        """Close a call's open reservation as unresolved; returns the attempt."""
        call = self.state.calls.get(call_id)
        if call is None or call.open is None:
            raise GuardError(f"{self.path}: call {call_id!r} has no open reservation to void")
        attempt = unresolved(call.open, self.redactor.text(error))
        self._append(Kind.VOID, attempt_payload(attempt, self.state.format))
        return attempt

    def skip(self, call: PlannedCall, reason: Reason, at: int) -> None:
        """Record that the lane's next call is not sent, and why (`no_memory`, for one)."""
        self.lanes.check(call.endpoint, call.call_id)
        payload = {"call_id": call.call_id, "endpoint": call.endpoint, "reason": reason.value}
        self._append(Kind.SKIP, {**payload, "at": str(at)})
        self.lanes.enter(call.endpoint)

    def event(self, name: str, at: int, data: Mapping[str, Any]) -> None:
        """Record something that is no attempt: preflight result, pause, identity, amendment."""
        self._append(
            Kind.EVENT, {"name": name, "at": str(at), "data": self.redactor.json(dict(data))}
        )

    def seal(self, at: int, missing: Mapping[str, Reason] | None = None) -> None:
        """Finish the run: no record follows. Durable on return, and the file is closed.

        `missing` says for each endpoint with calls that never entered why they did not. Raises
        `GuardError` if an attempt is open or a call has neither outcome nor reason.
        """
        reasons = missing or {}
        for endpoint in self.lanes.planned:
            if (waiting := self.lanes.waiting(endpoint)) and endpoint not in reasons:
                raise GuardError(
                    f"{self.path}: {len(waiting)} calls of {endpoint!r} were not sent "
                    f"(first {waiting[0]!r}) and no reason is given; the run stays unsealed"
                )
        payload = {
            "at": str(at),
            "missing": {endpoint: reason.value for endpoint, reason in sorted(reasons.items())},
            "ledger": self.state.ledger_json(),
        }
        self._append(Kind.SEAL, payload)
        self.close()

    def flush(self) -> None:
        """Make everything written durable, waiting for it."""
        self._guard()
        written = self._chain.length
        try:
            self._file.sync()
        except OSError as error:
            raise self._broken(error) from error
        self._durable = max(self._durable, written)

    def close(self) -> None:
        """Make everything durable and let go of the file; the run can be resumed. Idempotent."""
        self._threads.shutdown()
        try:
            if self._failure is None:
                self.flush()
        finally:
            self._failure = self._failure or GuardError(f"{self.path}: the journal is closed")
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reserve(self, reservation: Reservation) -> None:
        first = reservation.attempt == 1 and reservation.plan_index is not None
        if first:
            self.lanes.check(reservation.endpoint, reservation.call_id)
        self._append(Kind.RESERVE, reservation_payload(reservation, self.state.format))
        if first:
            self.lanes.enter(reservation.endpoint)

    def _append(self, kind: Kind, payload: Mapping[str, Any]) -> None:
        self._append_all((kind, payload))

    def _append_all(self, *records: tuple[Kind, Mapping[str, Any]]) -> None:
        """Write records in one go. A record that breaks a rule ends the journal's growth there."""
        self._guard()
        chain = Chain(self._chain.length, self._chain.head)
        lines: list[bytes] = []
        for kind, payload in records:
            link = chain.extend(kind, payload)
            try:
                self.state.apply(link.record)
            except Broken as error:
                refused = GuardError(f"{self.path}: {error}")
                if lines:  # what the state took in already is not on the disk
                    self._failure = refused
                raise refused from error
            lines.append(link.line)
            chain.move_to(link)
        try:
            self._file.write(b"".join(lines))
        except GuardError as error:
            self._failure = error
            raise
        except OSError as error:
            raise self._broken(error) from error
        self._chain = chain

    async def _commit(self, target: int) -> None:
        while self._durable < target:
            self._guard()
            if self._syncing is None:
                self._syncing = asyncio.get_running_loop().create_task(self._sync())
                self._syncing.add_done_callback(_retrieve)
            # A waiter that is cancelled must not cancel the others' commit.
            await asyncio.shield(self._syncing)

    async def _sync(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every reserve that is ready join this commit
            written = self._chain.length
            await asyncio.get_running_loop().run_in_executor(self._threads, self._file.sync)
            self._durable = max(self._durable, written)
        except OSError as error:
            raise self._broken(error) from error
        finally:
            self._syncing = None

    def _guard(self) -> None:
        if self._failure is not None:
            raise GuardError(str(self._failure))

    def _broken(self, error: OSError) -> GuardError:
        # After a failed fsync the kernel may have dropped the pages: trying again proves nothing.
        self._failure = GuardError(
            f"{self.path}: cannot be written ({error}); nothing more is sent, resume when mended"
        )
        return self._failure


def _retrieve(task: asyncio.Task[None]) -> None:
    """Take note of a commit's failure, also where every waiter was cancelled."""
    if not task.cancelled():
        task.exception()


def _same_run(path: Path, found: Opening, expected: Opening) -> None:
    for name in ("run", "window", "stage", "lock_digest", "clock"):
        if getattr(found, name) != getattr(expected, name):
            raise GuardError(
                f"{path}: {name} is {getattr(found, name)}, this study has "
                f"{getattr(expected, name)}; nothing is resumed"
            )
