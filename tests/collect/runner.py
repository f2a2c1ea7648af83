"""Runs window d1w1 of the study in `ROOT` against its embedded endpoint; a process to kill."""

import asyncio
import os
import sys
from pathlib import Path

from judgeaudit.collect.clock import RealClock, VirtualClock
from judgeaudit.collect.collector import collect
from judgeaudit.endpoint.server import start_embedded
from judgeaudit.errors import ExecutorBusy
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.files import load_frozen

START = 1_767_225_600_000_000_000


def main(root):
    """Collect and seal."""
    study = load_frozen(root)
    virtual = study.registration.schedule.clock == "virtual"
    clock = VirtualClock(START) if virtual else RealClock()
    spec = study.registration.endpoints[0]
    with start_embedded(spec.base_url, clock=clock, seed=7) as server:
        window = collect(
            study,
            "d1w1",
            clock=clock,
            bases={spec.id: server.base_url},
            keys={},
            derive=derive(study),
        )
        asyncio.run(window)


if __name__ == "__main__":
    with open(WORDS, "w") as words:  # noqa: F821 - WORDS and ROOT come from whoever runs this file
        os.dup2(words.fileno(), 2)
    try:
        main(Path(ROOT))  # noqa: F821
    except ExecutorBusy as busy:
        sys.exit(f"error: {busy}")
