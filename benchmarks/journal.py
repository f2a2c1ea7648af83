"""What the audit log costs: time per record, and memory of sealing and verifying.

    python benchmarks/journal.py [--calls 100000] [--body 3000] [--short]

Prints, as one JSON document:

* per record (a reservation or an outcome): microseconds at 10,000 and at 100,000 records, CPU and
  wall, and their ratio: O(1) means a ratio near 1 (the target is within 1.2). 64 workers share
  commits on a real disk; bodies are small, so that what is measured is the record and not the copy;
* sealing and verifying `--calls` attempts with `--body` random bytes each: seconds, and the peak
  resident memory of each in a process of its own (the target is under 400 MB).
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

from judgeaudit.evidence.log.runs import start
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.evidence.log.verify import verify_log

ROOT = Path(__file__).parents[1]
TARGET_RATIO, TARGET_MB = 1.2, 400


def synthetic() -> ModuleType:
    """Return the module that the damaged specimens are made with."""
    spec = importlib.util.spec_from_file_location("kit", ROOT / "tests" / "damaged" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = synthetic()


def plan(calls: int) -> list:
    return kit.plan(items=calls, windows=("d1w1",), endpoints=("a",))


async def write(log: Path, calls: int, body: int) -> dict[str, float]:
    """Write a run of `calls` attempts with 64 workers; return seconds of wall and CPU."""
    planned = plan(calls)
    reply = json.dumps({"score": 7, "pad": os.urandom(body // 2).hex()}).encode()
    journal = start(log, kit.opening("d1w1"), planned)
    todo = iter(planned)

    async def worker() -> None:
        for call in todo:
            await journal.reserve(kit.reservation(call))
            journal.outcome(kit.attempt(call, response_body=reply))

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(64)))
    spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    journal.seal(kit.START + kit.HOUR)
    return spent


def peak_mb() -> float:
    """Return this process's peak resident memory in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def step(name: str, log: Path, calls: int, body: int) -> dict[str, float]:
    """Do one step in this process and return what it took."""
    began = time.perf_counter()
    if name == "write":
        spent = asyncio.run(write(log, calls, body))
        found = {f"{key}_us": 1e6 * value / (2 * calls) for key, value in spent.items()}
    elif name == "seal":
        seal_run(log, "d1w1", plan(calls), kit.LOCK, kit.derive)
        found = {"seconds": time.perf_counter() - began}
    else:
        assert verify_log(log, plan(calls), kit.LOCK, kit.derive) == []
        found = {"seconds": time.perf_counter() - began}
    return {**found, "peak_mb": peak_mb()}


def apart(name: str, log: Path, calls: int, body: int) -> dict[str, float]:
    """Do one step in a process of its own."""
    command = [sys.executable, __file__, "--step", name, "--log", str(log)]
    command += ["--calls", str(calls), "--body", str(body)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return {key: round(value, 2) for key, value in found.items()}


def cost_per_record(folder: Path, sizes: tuple[int, int], rounds: int = 3) -> dict[str, object]:
    """Return microseconds per record at two sizes (best of some rounds) and their ratios."""
    found = {}
    for records in sizes:
        made = [
            apart("write", folder / f"{records}-{round_}", records // 2, 300)
            for round_ in range(rounds)
        ]
        found[records] = {key: min(row[key] for row in made) for key in ("cpu_us", "wall_us")}
    small, large = (found[records] for records in sizes)
    ratios = {f"{key[:-3]}_ratio": round(large[key] / small[key], 3) for key in small}
    return {"per_record": found, **ratios, "target_ratio": TARGET_RATIO}


def main() -> None:
    options = argparse.ArgumentParser(description="Cost of the audit log.")
    options.add_argument("--calls", type=int, default=100_000)
    options.add_argument("--body", type=int, default=3_000)
    options.add_argument("--short", action="store_true", help="a tenth of everything, for CI")
    options.add_argument("--step", choices=["write", "seal", "verify"])
    options.add_argument("--log", type=Path)
    given = options.parse_args()
    if given.step:
        print(json.dumps(step(given.step, given.log, given.calls, given.body)))
        return
    share = 10 if given.short else 1
    with tempfile.TemporaryDirectory() as folder:
        cost = cost_per_record(Path(folder), (10_000 // share, 100_000 // share))
        log, calls = Path(folder) / "large", given.calls // share
        memory = {name: apart(name, log, calls, given.body) for name in ("write", "seal", "verify")}
    print(json.dumps({**cost, "run": memory, "calls": calls, "target_mb": TARGET_MB}, indent=2))


if __name__ == "__main__":
    main()
