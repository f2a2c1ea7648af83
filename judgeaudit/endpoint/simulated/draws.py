"""Randomness as a pure function of what it belongs to.

A draw is named by a seed and some parts (a purpose, a digest, a time); the same name gives the
same number in any process, so that a kill and a resume change nothing.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_BLOCK = 32
_NO_ANSWER = re.compile(r"\bno answer was given\b", re.I)


class Stream:
    """Uniform numbers from SHA-256 of (seed, parts) in counter mode."""

    __slots__ = ("_block", "_count", "_key", "_used")

    def __init__(self, seed: int, *parts: object) -> None:
        name = "\x1f".join([str(seed), *map(str, parts)])
        self._key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        self._block, self._used, self._count = self._key, 0, 0

    def uniform(self) -> float:
        """Return a number in [0, 1) with 53 random bits."""
        if self._used == _BLOCK:
            self._count += 1
            self._block = hashlib.sha256(self._key + self._count.to_bytes(8, "big")).digest()
            self._used = 0
        word = int.from_bytes(self._block[self._used : self._used + 8], "big")
        self._used += 8
        return (word >> 11) * 2.0**-53

    def normal(self) -> float:
        """Return a standard normal deviate."""
        return _NORMAL.inv_cdf(min(max(self.uniform(), 1e-15), 1 - 1e-15))

    def index(self, count: int) -> int:
        """Return a whole number in [0, `count`), each equally likely."""
        return int(self.uniform() * count)


@lru_cache(maxsize=65536)
def latent(seed: int, text: str, purpose: str = "latent") -> float:
    """Return the standard normal deviate that belongs to `text`.

    White space at the ends is not part of the text.
    """
    return Stream(seed, purpose, text.strip()).normal()


def quality(seed: int, text: str) -> float:
    """Return the planted quality of a candidate or point: `latent`, about -4 without an answer.

    Empty text and "No answer was given" are what a gold control shows, so that a known worst
    candidate is judged as such. Public, so that an analysis of a simulated study can recompute
    the truth.
    """
    z = latent(seed, text)
    return -4 + z / 10 if not text.strip() or _NO_ANSWER.search(text) else z


def normal_share(z: float) -> float:
    """Return the standard normal distribution function at `z`."""
    return _NORMAL.cdf(z)
