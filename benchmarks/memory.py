"""Memory of a whole run: plan, collection and sealing, in a process of its own.

    python benchmarks/memory.py [--calls N] [--repeats R]

Freezes N / R different bodies asked R times, collects and seals against one nginx (see client.py),
and prints the largest resident size. Target (issue 2): 100,000 calls under 400 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def _client():  # type: ignore[no-untyped-def]
    path = Path(__file__).with_name("client.py")
    spec = importlib.util.spec_from_file_location("judgeaudit_benchmark_client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def resident_mb() -> float:
    """Return the largest resident size of this process so far.

    From /proc where there is one: `ru_maxrss` also remembers the process that this one came from.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def collect_in(root: Path) -> None:
    """Collect the study in `root` and print how the memory grew."""
    from judgeaudit.collect.clock import RealClock
    from judgeaudit.collect.collector import collect
    from judgeaudit.evidence.derive import derive
    from judgeaudit.evidence.lock.files import load_frozen

    imported = resident_mb()
    study = load_frozen(root)
    loaded, sealing = resident_mb(), []
    inner = derive(study)

    def noting(attempts, call):  # type: ignore[no-untyped-def]
        if not sealing:
            sealing.append(resident_mb())
        return inner(attempts, call)

    begun = time.perf_counter()
    asyncio.run(collect(study, "d1w1", clock=RealClock(), bases={}, keys={}, derive=noting))
    seconds = time.perf_counter() - begun
    print(
        f"{len(study.plan)} calls in {seconds:.0f} s: {imported:.0f} MB imported, "
        f"{loaded:.0f} loaded, {sealing[0]:.0f} collected, {resident_mb():.0f} sealed"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--collect", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.collect:
        collect_in(given.collect)
        return
    client = _client()
    with client.nginx() as url, tempfile.TemporaryDirectory() as name:
        items = given.calls // given.repeats
        text = client.REGISTRATION + f"repeats = {given.repeats}\n"
        client.REGISTRATION = text
        client.make_study(Path(name), url, items, 64)
        subprocess.run([sys.executable, __file__, "--collect", name], check=True)


if __name__ == "__main__":
    main()
