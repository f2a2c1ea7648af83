"""Work that starts an event loop of its own, where a caller may already be inside one.

A notebook's cell runs inside the kernel's loop, a suite's test inside its plugin's. A loop cannot
be started there; the work is then done in a thread, and the caller waits for it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def outside_a_loop(work: Callable[P, R]) -> Callable[P, R]:
    """Let `work` be called from inside a running event loop too."""

    @functools.wraps(work)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return work(*args, **kwargs)
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(work, *args, **kwargs).result()

    return called
