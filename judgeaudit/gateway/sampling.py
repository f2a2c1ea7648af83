"""Which calls are asked again, and when: functions of seed, body and how often it came.

A call is asked again with chance `share`, drawn by SHA-256 from the seed, the digest of its body
and its number among the answered calls with these bytes. So within every kind of call the same
share is drawn, whatever else passes, and the same session drawn again gives the same calls.

Each chosen call is asked again twice, after lags drawn log-uniformly from `LAGS` seconds: two
re-asks of one call lie apart as far as they lie from the original, so that what lag, load and
caching do shows as original against re-ask minus re-ask against re-ask.
"""

from __future__ import annotations

import hashlib

LAGS = (1.0, 60.0)
TIMES = 2
"""How often a chosen call is asked again."""


def draw(seed: int, purpose: str, body_sha256: str, occurrence: int) -> float:
    """Return a number in [0, 1) that belongs to one call and one purpose."""
    name = "\x1f".join((str(seed), purpose, body_sha256, str(occurrence)))
    return (int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 11) * 2.0**-53


def is_chosen(seed: int, share: float, body_sha256: str, occurrence: int) -> bool:
    """Return whether the answered call number `occurrence` (from 1) of a body is asked again."""
    return draw(seed, "reask", body_sha256, occurrence) < share


def lags(seed: int, body_sha256: str, occurrence: int) -> tuple[float, ...]:
    """Return after how many seconds a chosen call is asked again, each time from its answer."""
    low, high = LAGS
    drawn = (draw(seed, f"lag {k}", body_sha256, occurrence) for k in range(TIMES))
    return tuple(sorted(low * (high / low) ** u for u in drawn))
