"""What has to hold before a byte leaves. Pure; every guard fails closed.

* A window is placed only after every earlier window is sealed, and for each endpoint only once the
  gap since its last activity has passed: `day_gap` after a window of an earlier day, `min_gap`
  after any other. Activity is matched by the endpoint's name; a name that matches nothing is an
  error and not "no activity".
* A window closes `max_duration` after it was opened. What is unsent then stays unsent.
* The cap counts every attempt at a planned call, retries and failures too, before it is sent.
* The budget counts what replies reported, what is in flight at its worst, and the next call.
* The breaker pauses a run at n equal client errors in a row at one endpoint, at n calls in a row
  that end without a reply (an outage, which says nothing of the judge), and at once where no later
  call can fare better (authentication, 404, quota). A refusal of one item shows that the way is
  open. Calls that an outage took are asked again when the run goes on.
* A window in which too few of the calls that were sent brought a reply is not sealed unasked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from judgeaudit.collect.clock import NS
from judgeaudit.design.document import Prices, Schedule
from judgeaudit.errors import EvidenceError, GuardError, TooEarly
from judgeaudit.instrument.provider import Classified, Kind
from judgeaudit.model import Usage, Window

MILLION = Decimal(1_000_000)
LATEST_S = 2**63 // NS
"""The last second that a time in nanoseconds can hold in 64 bits: year 2262."""


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
    seconds = -(-t_ns // NS)
    if not 0 <= seconds <= LATEST_S:
        raise EvidenceError(f"a time of {t_ns} ns since 1970 is none of a log")
    return datetime.fromtimestamp(seconds, UTC)


def sent_share(answered: int, sent: int, least: Decimal) -> str | None:
    """Return what is too few of the calls that were sent, None where it is enough."""
    if sent == 0 or answered >= least * sent:
        return None
    return f"{answered} of {sent} calls that were sent, registered is a share of {least} at least"


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
    """Counts equal client errors, and calls without a reply, in a row at one endpoint.

    `why` says what paused the run, `lost` holds the calls that an outage has taken so far.
    """

    endpoint: str
    limit: int
    outage: int = 5
    status: int | None = None
    row: int = 0
    why: str | None = field(default=None)
    lost: list[str] = field(default_factory=list)
    answered: int = 0

    def note(self, status: int | None, found: Classified) -> None:
        """Take in one reply; a transport failure (`status` None) neither counts nor clears."""
        if status is None:
            return
        refused = not found.about and (
            400 <= status < 500 or (status < 400 and found.kind is Kind.REFUSE)
        )
        if not refused or status != self.status:
            self.status, self.row = status, 0
        if refused:
            self.row += 1
        if found.pause:
            self._pause(f"HTTP {status}", found.detail)
        elif self.row >= self.limit and status != 429:
            self._pause(f"HTTP {status} {self.row} times in a row", found.detail)

    def replied(self) -> None:
        """Take in a call that was answered, or whose item was refused: the way is open."""
        self.answered += 1
        self.lost.clear()

    def lose(self, call_id: str, said: str) -> None:
        """Take in a call that ended without a reply; `said` is how its last attempt ended."""
        self.lost.append(call_id)
        if len(self.lost) >= self.outage:
            self._pause(f"{len(self.lost)} calls in a row without a reply", said)

    def window_ended(self, said: str) -> None:
        """Pause where not one call of the window was answered, however few there were."""
        if self.lost and not self.answered:
            self._pause(f"none of {len(self.lost)} calls was answered", said)

    def _pause(self, what: str, detail: str) -> None:
        said = f": {detail}" if detail else ""
        self.why = self.why or f"endpoint {self.endpoint}: {what}{said}"
