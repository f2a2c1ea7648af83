"""A run that is killed again and again ends as one that was never disturbed."""

import multiprocessing
import os
import random
import runpy
import signal
import time
from pathlib import Path

import pytest

from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path, sealed_path
from judgeaudit.evidence.log.verify import verify_log

RUNNER = Path(__file__).with_name("runner.py")
TIMES = {"attempt", "previous_digest", "row_digest"}
"""Columns of a reading that say how often it was asked, not what came back."""

SCHEDULE = """clock = "virtual"
repeats = 4
conditions = [{name = "quiet", in_flight = 1}, {name = "loaded", in_flight = 8}]"""


@pytest.fixture(scope="module")
def start():
    """Starts a runner in a process of its own, from a server that has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "judgeaudit.collect.collector",
            "judgeaudit.endpoint.server",
            "judgeaudit.evidence.derive",
            "judgeaudit.evidence.lock.files",
        ]
    )

    def _start(study, words=os.devnull):
        given = {"ROOT": str(study.root), "WORDS": str(words)}
        process = context.Process(target=runpy.run_path, args=(str(RUNNER), given, "__main__"))
        process.start()
        return process

    return _start


@pytest.fixture
def kill_at(start):
    """Start a run and kill it -9 as soon as its journal has `wanted` lines, but some of its own."""

    def _kill_at(study, wanted):
        journal = journal_path(study.root / "log", "d1w1")
        wanted = max(wanted, lines_in(journal) + 8)
        process = start(study)
        while lines_in(journal) < wanted and process.is_alive():
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.join()

    return _kill_at


def lines_in(journal):
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def readings(study):
    rows = load_readings(study.root / "log").to_pylist()
    return [{name: row[name] for name in row if name not in TIMES} for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "kills"), [("shared-floor", 10), ("flaky-transport", 3)])
def test_killed_ten_times_and_resumed_equals_an_uninterrupted_run(
    study, run, start, kill_at, make_registration, scenario, kills
):
    """400 calls; kill -9 at random places; then resume.

    `shared-floor` draws its noise from (body, virtual time): a call that met another moment after a
    resume would read differently. No call is sent twice except where its outcome was unresolved.
    """
    text = make_registration(f"embedded:{scenario}", schedule=SCHEDULE)
    whole, killed = study(text, items=50, name="whole"), study(text, items=50, name="killed")
    run(whole)
    places = sorted(random.Random(20261129).sample(range(20, 700), kills))
    for place in places:
        kill_at(killed, place)
    journal = journal_path(killed.root / "log", "d1w1")
    assert not sealed_path(killed.root / "log", "d1w1").exists()

    process = start(killed)
    process.join(120)
    assert process.exitcode == 0

    rows = readings(killed)
    assert [row["status"] for row in rows] == ["ok"] * 400
    assert rows == readings(whole)
    tried = load_attempts(killed.root / "log").to_pylist()
    calls = {}
    for row in tried:
        calls.setdefault(row["call_id"], []).append(row["outcome"])
    for outcomes in calls.values():
        assert "ok" not in outcomes[:-1]
    if scenario == "shared-floor":
        assert {o for outcomes in calls.values() for o in outcomes[:-1]} <= {"unresolved"}
    events = [event.name for event in read_journal(journal).state.events]
    assert events.count("resume") == kills
    log = killed.root / "log"
    assert verify_log(log, killed.plan, str(killed.lock_digest), derive(killed)) == []


@pytest.mark.slow
def test_two_executors_together_exactly_one_runs(study, start, make_registration, tmp_path):
    """Started at the same moment; the loser exits at once with a line that names the winner."""
    text = make_registration(schedule=SCHEDULE)
    frozen = study(text, items=50)

    words = [tmp_path / "first.txt", tmp_path / "second.txt"]
    processes = [start(frozen, path) for path in words]
    for process in processes:
        process.join(120)

    codes = [process.exitcode for process in processes]
    assert sorted(codes) == [0, 1]
    winner, said = processes[codes.index(0)], words[codes.index(1)].read_text()
    assert f"held by process {winner.pid} on" in said or "which has just started" in said
    assert len(said.splitlines()) == 1
    assert len(load_readings(frozen.root / "log")) == 400


def test_a_torn_last_line_is_cut_off_and_the_run_goes_on(study, run, kill_at, make_registration):
    """Half a record at the end of the journal was never relied on."""
    frozen = study(make_registration(schedule='clock = "virtual"'), items=30)
    kill_at(frozen, 20)
    journal = journal_path(frozen.root / "log", "d1w1")
    with journal.open("ab") as stream:
        stream.write(b'{"digest":"sha256:00')

    run(frozen)

    assert [row["status"] for row in load_readings(frozen.root / "log").to_pylist()] == ["ok"] * 30


def test_the_lock_goes_with_its_holder(study, run, kill_at, make_registration):
    """A killed process leaves its lock file and its note; neither keeps the next one out."""
    frozen = study(make_registration(schedule='clock = "virtual"'), items=30)
    kill_at(frozen, 10)
    assert (frozen.root / ".executor.json").exists()

    run(frozen)

    assert not (frozen.root / ".executor.json").exists()
