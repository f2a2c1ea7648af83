"""Clocks: the real one, and a virtual one on which days pass without anyone waiting.

A lane asks its clock for the *moment* of a call. On the real clock that is the clock itself. On
the virtual clock a call's moment is fixed by its place in the lane, and moves on by its own
waiting only; so a killed and resumed run meets the same moments as one that was never killed.

Every clock tells two times. `now_ns` is UTC, for the record. `steady_ns` counts on evenly whatever
happens to UTC, and everything that waits or ends is measured by it: a wall clock that is set back
stalls nothing, one that jumps forward closes no window. A jump is kept until somebody records it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

from judgeaudit.model import Clock

NS = 1_000_000_000
MS = 1_000_000
JUMP_NS = NS
"""A wall clock that moves by more than this against the steady one, between two looks, jumped."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A wall clock's jump: what it showed after it, and by how much it had moved."""

    at_ns: int
    by_ns: int


class Moment(Protocol):
    """One call's time: a `Clock` that can also be told how long a simulated answer took."""

    @property
    def virtual(self) -> bool:
        """True where days pass without anyone waiting."""
        ...

    def now_ns(self) -> int:
        """Return UTC nanoseconds since the epoch."""
        ...

    def steady_ns(self) -> int:
        """Return nanoseconds of a clock that only goes forward; differences alone mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...

    def pass_ns(self, nanoseconds: int) -> None:
        """Move on by the time that a simulated answer took; the real clock moves by itself."""
        ...


class RunClock(Clock, Protocol):
    """A clock that gives each call its moment."""

    def at(self, t_ns: int) -> Moment:
        """Return the moment of a call planned for `t_ns`."""
        ...

    def advance_to(self, t_ns: int) -> None:
        """Let a virtual clock reach `t_ns`; does nothing on the real clock."""
        ...

    def steady_ns(self) -> int:
        """Return nanoseconds of a clock that only goes forward; differences alone mean anything."""
        ...

    def jumps(self) -> list[Jump]:
        """Return the wall clock's jumps since they were last asked for."""
        ...


class RealClock:
    """UTC of this machine, and its monotonic clock.

    The steady clock stands still while a machine sleeps, so that a sleep is a jump too.
    """

    virtual = False

    def __init__(self) -> None:
        self._offset: int | None = None
        self._jumps: list[Jump] = []

    def now_ns(self) -> int:
        """Return UTC nanoseconds since the epoch."""
        now = time.time_ns()
        offset = now - self.steady_ns()
        if self._offset is not None and abs(offset - self._offset) > JUMP_NS:
            self._jumps.append(Jump(now, offset - self._offset))
        self._offset = offset
        return now

    def steady_ns(self) -> int:
        """Return nanoseconds of the monotonic clock."""
        return time.monotonic_ns()

    def jumps(self) -> list[Jump]:
        """Return the wall clock's jumps since they were last asked for."""
        found, self._jumps = self._jumps, []
        return found

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def at(self, t_ns: int) -> RealClock:
        """Return this clock: real calls happen when they happen."""
        return self

    def advance_to(self, t_ns: int) -> None:
        """Do nothing: real time passes by itself."""

    def pass_ns(self, nanoseconds: int) -> None:
        """Do nothing: real time passes by itself."""


class VirtualClock:
    """A clock that stands at the latest moment anyone has reached."""

    virtual = True

    def __init__(self, start_ns: int) -> None:
        self._now = start_ns

    def now_ns(self) -> int:
        """Return the latest moment reached, UTC nanoseconds since the epoch."""
        return self._now

    def steady_ns(self) -> int:
        """Return the same: a virtual clock never goes back and never jumps."""
        return self._now

    def jumps(self) -> list[Jump]:
        """Return none."""
        return []

    async def sleep(self, seconds: float) -> None:
        """Move on by `seconds` at once; other tasks may run."""
        self._now += round(seconds * NS)
        await asyncio.sleep(0)

    def at(self, t_ns: int) -> VirtualMoment:
        """Return a moment of its own, which carries this clock along."""
        return VirtualMoment(self, t_ns)

    def advance_to(self, t_ns: int) -> None:
        """Reach `t_ns`; a virtual clock never goes back."""
        self._now = max(self._now, t_ns)


class VirtualMoment:
    """A call's own time on a virtual clock."""

    virtual = True

    def __init__(self, clock: VirtualClock, t_ns: int) -> None:
        self._clock, self._now = clock, t_ns
        clock.advance_to(t_ns)

    def now_ns(self) -> int:
        """Return this call's time."""
        return self._now

    def steady_ns(self) -> int:
        """Return this call's time."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Move this call on by `seconds` at once."""
        self.pass_ns(round(seconds * NS))
        await asyncio.sleep(0)

    def pass_ns(self, nanoseconds: int) -> None:
        """Move this call on by the time that a simulated answer took."""
        self._now += nanoseconds
        self._clock.advance_to(self._now)
