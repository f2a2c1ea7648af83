"""The worked memory-luck study whole: 90,112 calls, interrupted twice, with time and peak memory.

    python benchmarks/memory_luck_full.py [--worlds 256] [--dir DIR]

Makes the study of prereg/memory-luck in DIR (a temporary folder without it), freezes it, starts
`judgeaudit run --all`, kills it once in each stage (the first time as a keyboard would, the second
time with no warning), goes on, verifies, analyses. Each step is a process of its own; its peak
memory is its resident set with that of the embedded judges it started, sampled five times a
second. Exits 1 where the ledger does not close or the budget (20 minutes, 1.5 GB) is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
SEED = 20260911
BUDGET_S, BUDGET_MB = 20 * 60, 1500
PAGE = os.sysconf("SC_PAGE_SIZE")


def judgeaudit(*words: str) -> list[str]:
    return [sys.executable, "-m", "judgeaudit", *words]


def resident(pid: int) -> int:
    """Return the resident bytes of a process and its descendants; 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):
        return 0
    return pages * PAGE + sum(resident(int(child)) for child in children)


def hear_interrupts() -> None:
    """Undo what a shell does to its background jobs: let SIGINT be heard again."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Step:
    """One command: its seconds, peak memory, exit code and what it said."""

    def __init__(self, name: str, *words: str, stop: Callable[[], int | None] | None = None):
        self.name, self.peak = name, 0
        began = time.perf_counter()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                judgeaudit(*words), stdout=out, stderr=err, preexec_fn=hear_interrupts
            )
            while process.poll() is None:
                self.peak = max(self.peak, resident(process.pid))
                wanted = stop() if stop is not None else None
                if wanted is not None:
                    process.send_signal(wanted)
                    stop = None
                time.sleep(0.2)
            self.code = process.returncode
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read().decode(), err.read().decode()
        self.seconds = time.perf_counter() - began
        last = (self.err.strip().splitlines() or [""])[-1]
        cost = f"{self.seconds:7.1f} s  {self.peak / 1e6:7.0f} MB  exit {self.code}"
        print(f"{name:<18}{cost}  {last}", flush=True)


def once_journal_holds(path: Path, megabytes: float, wanted: int) -> Callable[[], int | None]:
    """Return a question that answers with a signal once a journal has grown to a size."""

    def ask() -> int | None:
        grown = path.is_file() and path.stat().st_size > megabytes * 1e6
        return wanted if grown else None

    return ask


def main() -> int:
    """Run everything; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return whole(given.dir or Path(scratch) / "study", given.worlds)


def whole(root: Path, worlds: int) -> int:
    """Make, freeze, run with two interruptions, verify and analyse the study in `root`."""
    shutil.copytree(HOME / "prereg" / "memory-luck", root)
    study, items = str(root), str(root / "items.jsonl")
    journal = root / "log" / "journal"
    size = worlds / 256
    first = once_journal_holds(journal / "d1w1.jsonl", 10 * size, signal.SIGINT)
    second = once_journal_holds(journal / "s2-d1w1.jsonl", 60 * size, signal.SIGKILL)
    kind = ("--n", str(worlds), "--seed", str(SEED), "--out", items)
    steps = [
        Step("worlds", "battery", "worlds", *kind),
        Step("freeze", "prereg", "freeze", study),
        Step("run, interrupted", "run", study, "--all", stop=first),
        Step("run, killed", "run", study, "--all", stop=second),
        Step("run to its end", "run", study, "--all"),
        Step("verify", "verify", study),
        Step("analyze", "analyze", study, "--json"),
    ]
    return told(steps, worlds)


def told(steps: list[Step], worlds: int) -> int:
    """Print ledger and totals; returns 0 where everything held."""
    execution = json.loads(steps[-1].out)["execution"]
    ledger, calls = execution["ledger"], worlds * 11 * 32
    closes = ledger["attempts"] == sum(ledger[k] for k in ("response", "transport", "unresolved"))
    seconds, peak = sum(step.seconds for step in steps), max(step.peak for step in steps) / 1e6
    codes = [step.code for step in steps]
    interrupted = codes[2:4] == [130, -signal.SIGKILL]
    sound = codes[:2] == [0, 0] and codes[4:] == [0, 0, 0] and interrupted
    print(f"planned {execution['planned']} of {calls}; {execution['by_status']}")
    print(f"ledger {ledger}: {'closes' if closes else 'DOES NOT CLOSE'}")
    print(f"total {seconds:.0f} s of {BUDGET_S}, peak {peak:.0f} MB of {BUDGET_MB}")
    kept = seconds <= BUDGET_S and peak <= BUDGET_MB
    return 0 if sound and closes and kept and execution["planned"] == calls else 1


if __name__ == "__main__":
    sys.exit(main())
