"""An embedded judge on a loopback port, for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from judgeaudit.collect.clock import RealClock
from judgeaudit.endpoint.server import start_embedded
from judgeaudit.model import JSON


@dataclass(frozen=True, slots=True)
class Served:
    """Where an embedded judge answers, and what is known of it."""

    base_url: str
    identity: Mapping[str, JSON]


@contextmanager
def serve(name: str, *, port: int = 0, seed: int = 0) -> Iterator[Served]:
    """Serve `embedded:local` or `embedded:SCENARIO` while the block runs.

    `port` 0 takes a free one; `seed` is the simulated judge's.
    """
    with start_embedded(name, clock=RealClock(), seed=seed, options={"port": port}) as server:
        yield Served(server.base_url, server.identity)
