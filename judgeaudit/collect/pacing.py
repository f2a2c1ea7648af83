"""Pacing: requests and tokens per minute, as delays on whatever clock the caller has.

A limit of r per minute is a bucket that refills at r/60 a second. Requests have a bucket of one,
so that they are spread evenly; tokens have a bucket of a second's worth or of one call, whichever
is more. A reservation may overdraw a bucket: it then waits until the bucket is level, and whoever
comes later waits behind it. Limits are totals over all conditions of an endpoint.

Times are of a steady clock: a wall clock that jumps holds nothing back.

Nothing is assumed about limits that are not registered: a `retry-after` from the server holds the
whole endpoint back, not only the call that met it.
"""

from __future__ import annotations

from dataclasses import dataclass

from judgeaudit.collect.clock import MS, NS

NEWS_NS = NS // 2
"""A server that asks for so little more says nothing new."""

CHARS_PER_TOKEN = 3
"""Bytes of a request per token, a low figure so that the estimate is high."""


def estimated_tokens(body_length: int, max_tokens: int) -> int:
    """Return an upper estimate of what a call uses: its request and the longest answer."""
    return -(-body_length // CHARS_PER_TOKEN) + max_tokens


@dataclass(slots=True)
class Bucket:
    """What may be spent, refilled with time; times are nanoseconds."""

    per_minute: float
    capacity: float
    level: float
    stamp: int

    @classmethod
    def full(cls, per_minute: float, capacity: float, now_ns: int) -> Bucket:
        """Return a bucket that is full at `now_ns`."""
        return cls(per_minute, capacity, capacity, now_ns)

    def take(self, amount: float, now_ns: int) -> int:
        """Spend `amount` and return the nanoseconds to wait before using it."""
        passed = max(0, now_ns - self.stamp)
        self.level = min(self.capacity, self.level + passed * self.per_minute / (60 * NS))
        self.stamp = max(self.stamp, now_ns)
        self.level -= amount
        if self.level >= 0:
            return 0
        return round(-self.level * 60 * NS / self.per_minute)


class Pacer:
    """One endpoint's limits. `tokens` is the most that one of its calls uses."""

    def __init__(
        self,
        now_ns: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        tokens: int = 0,
    ) -> None:
        self._tokens = tokens
        self._held_until = now_ns
        self._buckets: list[tuple[Bucket, float]] = []
        if requests_per_minute is not None:
            self._buckets.append((Bucket.full(requests_per_minute, 1, now_ns), 1))
        if tokens_per_minute is not None and tokens:
            capacity = max(tokens_per_minute / 60, tokens)
            self._buckets.append((Bucket.full(tokens_per_minute, capacity, now_ns), tokens))

    def delay_ns(self, now_ns: int) -> int:
        """Reserve one request and return how long it has to wait."""
        waits = [bucket.take(amount, now_ns) for bucket, amount in self._buckets]
        return max([0, self._held_until - now_ns, *waits])

    def hold(self, now_ns: int, milliseconds: int) -> bool:
        """Hold the endpoint back as long as its server asked; True where that is news."""
        until = now_ns + milliseconds * MS
        news = until > max(self._held_until, now_ns) + NEWS_NS
        self._held_until = max(self._held_until, until)
        return news

    def give_back(self, unused: int) -> None:
        """Return tokens that an estimate took and a reply did not use."""
        for bucket, amount in self._buckets:
            if amount == self._tokens and unused > 0:
                bucket.level = min(bucket.capacity, bucket.level + unused)


def virtual_step_ns(
    calls: int,
    max_duration_ns: int,
    *,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    tokens: int = 0,
) -> int:
    """Return how far apart a lane's calls stand on the virtual clock.

    One second, or what the limits ask for, but never so far that limits alone would not have
    closed the window: without limits all calls fit into nine tenths of it.
    """
    limits = [NS]
    if requests_per_minute is not None:
        limits.append(60 * NS // requests_per_minute + 1)
    if tokens_per_minute is not None:
        limits.append(60 * NS * tokens // tokens_per_minute + 1)
    if len(limits) > 1:
        return max(limits) if max(limits) > NS else NS
    return max(1, min(NS, max_duration_ns * 9 // 10 // (calls + 1)))
