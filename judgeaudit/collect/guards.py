"""What has to hold before a byte leaves. Pure; every guard fails closed.

* A window is placed only after every earlier window is sealed, and for each endpoint only once the
  gap since its last activity has passed: `day_gap` after a window of an earlier day, `min_gap`
  after any other. Activity is matched by the endpoint's name; a name that matches nothing is an
  error and not "no activity".
* A window closes `max_duration` after it was opened. What is unsent then stays unsent.
* The cap counts every attempt at a planned call, retries and failures too, before it is sent.
* The budget counts what replies reported, what is in flight at its worst, and the next call.
* The breaker pauses a run at n equal 4xx in a row at one endpoint, and at once where no later call
  can fare better (authentication, 404, quota).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from judgeaudit.collect.clock import NS
from judgeaudit.design.document import Prices, Schedule
from judgeaudit.errors import GuardError, TooEarly
from judgeaudit.instrument.provider import Classified
from judgeaudit.model import Usage, Window

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier window and when each endpoint was last active in it (None: nothing was sent)."""

    window: Window
    sealed: bool
    last_activity: Mapping[str, int | None]


def earliest_start(
    window: Window, past: Iterable[Past], endpoints: Sequence[str], schedule: Schedule
) -> int | None:
    """Return the first nanosecond at which `window` may send, None where nothing limits it.

    Raises `GuardError` where an earlier window is unsealed or knows nothing of an endpoint.
    """
    times = [] if schedule.start is None else [to_ns(schedule.start)]
    for other in past:
        if not other.sealed:
            raise GuardError(f"window {window.id}: window {other.window.id} is not sealed yet")
        same_day = (other.window.stage, other.window.day) == (window.stage, window.day)
        within = same_day or other.window.stage != window.stage
        gap = schedule.min_gap if within else schedule.day_gap
        for endpoint in endpoints:
            if endpoint not in other.last_activity:
                raise GuardError(
                    f"window {window.id}: the log of window {other.window.id} has no endpoint "
                    f"{endpoint!r}, so that no gap can be measured; nothing was sent"
                )
            last = other.last_activity[endpoint]
            if last is not None:
                times.append(last + round(gap.total_seconds() * NS))
    return max(times, default=None)


def check_time(window: Window, earliest: int | None, now_ns: int) -> None:
    """Return if the window may start now; raises `TooEarly` with the earliest time."""
    if earliest is not None and now_ns < earliest:
        when = to_datetime(earliest)
        raise TooEarly(
            f"window {window.id} may not start before {when:%Y-%m-%d %H:%M:%S} UTC", when
        )


def to_ns(time: datetime) -> int:
    """Return UTC nanoseconds since the epoch; a time without a zone is UTC."""
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    whole = int(aware.replace(microsecond=0).timestamp())
    return whole * NS + aware.microsecond * 1000


def to_datetime(t_ns: int) -> datetime:
    """Return a UTC time, rounded up to the next second so that it is never too early."""
    return datetime.fromtimestamp(-(-t_ns // NS), UTC)


@dataclass(slots=True)
class Cap:
    """The hard cap of a study: `used` counts attempts at planned calls in all its runs."""

    limit: int
    used: int

    def reserve(self) -> bool:
        """Count one attempt; False, and nothing counted, where the cap is reached."""
        if self.used >= self.limit:
            return False
        self.used += 1
        return True


def cost_of(prices: Prices, usage: Usage) -> Decimal:
    """Return what the reported tokens cost; tokens that were not reported cost nothing here."""
    prompt, completion = usage.prompt or 0, usage.completion or 0
    return (prices.prompt * prompt + prices.completion * completion) / MILLION


@dataclass(slots=True)
class Budget:
    """Money: `spent` was reported, `at_risk` is what is in flight, at its worst."""

    limit: Decimal | None
    spent: Decimal = Decimal(0)
    at_risk: Decimal = Decimal(0)

    def reserve(self, worst: Decimal) -> bool:
        """Put one call at risk; False, and nothing counted, where the budget might not hold it."""
        if self.limit is not None and self.spent + self.at_risk + worst > self.limit:
            return False
        self.at_risk += worst
        return True

    def settle(self, worst: Decimal, cost: Decimal) -> None:
        """Replace a call's risk by its cost."""
        self.at_risk -= worst
        self.spent += cost


@dataclass(slots=True)
class Breaker:
    """Counts equal 4xx in a row at one endpoint; `why` says what paused the run."""

    endpoint: str
    limit: int
    status: int | None = None
    row: int = 0
    why: str | None = field(default=None)

    def note(self, status: int | None, found: Classified) -> None:
        """Take in one reply; a transport failure (`status` None) neither counts nor clears."""
        if status is None:
            return
        if not 400 <= status < 500 or status != self.status:
            self.status, self.row = status, 0
        if 400 <= status < 500:
            self.row += 1
        if found.pause:
            self._pause(f"HTTP {status}", found.detail)
        elif self.row >= self.limit and status != 429:
            self._pause(f"HTTP {status} {self.row} times in a row", found.detail)

    def _pause(self, what: str, detail: str) -> None:
        said = f": {detail}" if detail else ""
        self.why = self.why or f"endpoint {self.endpoint}: {what}{said}"
