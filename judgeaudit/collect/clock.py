"""Clocks: the real one, and a virtual one on which days pass without anyone waiting.

A lane asks its clock for the *moment* of a call. On the real clock that is the clock itself. On
the virtual clock a call's moment is fixed by its place in the lane, and moves on by its own
waiting only; so a killed and resumed run meets the same moments as one that was never killed.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from judgeaudit.model import Clock

NS = 1_000_000_000
MS = 1_000_000


class Moment(Protocol):
    """One call's time: a `Clock` that can also be told how long a simulated answer took."""

    @property
    def virtual(self) -> bool:
        """True where days pass without anyone waiting."""
        ...

    def now_ns(self) -> int:
        """Return UTC nanoseconds since the epoch."""
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


class RealClock:
    """UTC of this machine."""

    virtual = False

    def now_ns(self) -> int:
        """Return UTC nanoseconds since the epoch."""
        return time.time_ns()

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

    async def sleep(self, seconds: float) -> None:
        """Move this call on by `seconds` at once."""
        self.pass_ns(round(seconds * NS))
        await asyncio.sleep(0)

    def pass_ns(self, nanoseconds: int) -> None:
        """Move this call on by the time that a simulated answer took."""
        self._now += nanoseconds
        self._clock.advance_to(self._now)
