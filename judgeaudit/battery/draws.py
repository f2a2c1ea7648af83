"""Seeded integers from SHA-256, the same on every machine and in every Python version.

The generators of the standard library and of numpy promise their bit streams, but not what
`shuffle` or `choice` make of them; a battery must be remade from its seed years later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of integers that depends on its key alone.

    The words are the first eight bytes of SHA-256 of `key/counter`. Streams with different keys
    are independent, so each task has its own: asking for more tasks leaves the first unchanged.
    """

    def __init__(self, *key: object) -> None:
        self._key = "/".join(map(str, key))
        self._count = 0

    def _word(self) -> int:
        digest = hashlib.sha256(f"{self._key}/{self._count}".encode()).digest()
        self._count += 1
        return int.from_bytes(digest[:8], "big")

    def below(self, n: int) -> int:
        """Return an integer in [0, n), each equally likely."""
        # Words past the last multiple of n would favour small remainders.
        limit = 2**64 - 2**64 % n
        while (word := self._word()) >= limit:
            pass
        return word % n

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, p: Fraction) -> bool:
        """Return True with probability p, exactly."""
        return self.below(p.denominator) < p.numerator

    def choice(self, values: Sequence[T]) -> T:
        """Return one of `values`."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Return `values` in a uniformly random order (Fisher and Yates)."""
        mixed = list(values)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed
