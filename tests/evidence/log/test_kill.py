"""`kill -9` at random moments: what the log owes to a process that never came to its end.

The victim runs four workers over 60 calls. Before it "sends", a worker writes the call to an
unbuffered file of its own: the witness of what left the process. Killed and started again until
the run is finished, the journal must account for every send.
"""

import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path
from judgeaudit.evidence.log.seal import seal_run

VICTIM = """
import asyncio, importlib.util, os, sys
from pathlib import Path

log, witness, make = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spec = importlib.util.spec_from_file_location("make_specimens", make)
kit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kit)
from judgeaudit.evidence.log.runs import start
from judgeaudit.model import Outcome

calls = kit.plan(items=60, windows=("d1w1",), endpoints=("a",))
sends = os.open(witness, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
journal = start(log, kit.opening("d1w1"), calls)
todo = iter(calls)

async def worker():
    for call in todo:
        state = journal.state.calls.get(call.call_id)
        if state and state.last is Outcome.OK:
            continue
        number = (state.attempts if state else 0) + 1
        await journal.reserve(kit.reservation(call, number))
        os.write(sends, f"{call.call_id} {number}\\n".encode())
        await asyncio.sleep(0.004)
        journal.outcome(kit.attempt(call, number, score=call.plan_index))

async def main():
    await asyncio.gather(*(worker() for _ in range(4)))

asyncio.run(main())
journal.seal(kit.START + kit.HOUR)
"""


def run_once(log, witness, make, seconds):
    """Run the victim; kill it `seconds` after its first send unless it ends before."""
    before = witness.stat().st_size if witness.exists() else 0
    process = subprocess.Popen([sys.executable, "-c", VICTIM, str(log), str(witness), make])
    while process.poll() is None and not (witness.exists() and witness.stat().st_size > before):
        time.sleep(0.002)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


@pytest.mark.slow
def test_a_killed_and_resumed_run_equals_an_uninterrupted_one(tmp_path, kit):
    log, witness = tmp_path / "log", tmp_path / "sends"
    moments = random.Random(20261129)
    kills = 0
    while not run_once(log, witness, kit.__file__, moments.uniform(0, 0.03) if kills < 4 else 60):
        kills += 1
        assert kills < 10

    calls = kit.plan(items=60, windows=("d1w1",), endpoints=("a",))
    read = read_journal(journal_path(log, "d1w1"))
    sends = Counter(line.split()[0] for line in witness.read_text().splitlines())
    manifest = seal_run(log, "d1w1", calls, kit.LOCK, kit.derive)

    assert kills >= 3
    assert manifest["readings"] == {"planned": 60, "by_status": {"ok": 60}}
    assert read.state.cap_used >= sum(sends.values()), "a send without a durable reservation"
    for call_id, count in sends.items():
        assert count <= 1 + read.state.calls[call_id].unresolved
    book = manifest["ledger"]["calls"]
    assert book["response"] == 60
    assert book["attempts"] == 60 + book["unresolved"]
    assert book["unresolved"] > 0, "no kill hit a call in flight: the test saw nothing"
