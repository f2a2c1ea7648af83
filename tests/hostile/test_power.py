"""A file system that loses, tears or reorders what was not synced: no durable record is lost."""

import importlib.util
import random
import sys
from pathlib import Path

import pytest

from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.log.files import DiskFile
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.reader import read_journal

_path = Path(__file__).parents[1] / "evidence" / "log" / "conftest.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_tests_hostile_log", _path)
_log = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _log
_spec.loader.exec_module(_log)
kit = _log.kit

WINDOW = "d1w1"


class Cache(DiskFile):
    """A file whose unsynced writes are in memory; `power_cut` says what of them got to the disk."""

    def __init__(self, path):
        super().__init__(path)
        self.waiting = []

    def write(self, data):
        self.waiting.append(data)

    def sync(self):
        for data in self.waiting:
            super().write(data)
        self.waiting = []
        super().sync()

    def power_cut(self, rng, how):
        whole = b"".join(self.waiting)
        if how == "lost":
            whole = b""
        elif how == "torn":
            whole = whole[: rng.randrange(len(whole) + 1)]
        elif how == "reordered":  # later blocks are there, earlier ones are still zeros
            at = rng.randrange(len(whole) + 1)
            whole = bytes(at) + whole[at:]
        super().write(whole)
        self.close()


@pytest.mark.parametrize("how", ["kept", "lost", "torn", "reordered"])
@pytest.mark.parametrize("seed", range(12))
def test_what_was_synced_survives_and_the_rest_is_known_to_be_open(kit, tmp_path, how, seed):
    """Each reserve is durable on return. After the cut every reserved call is on record; a journal
    whose tail is no record any more says so in one line, and what was durable is still read.
    """
    rng, files = random.Random(seed), []
    calls = kit.calls_in(WINDOW, kit.plan(items=20))

    def opener(path):
        files.append(Cache(path))
        return files[-1]

    path = tmp_path / "journal.jsonl"
    journal = Journal.open(path, kit.opening(WINDOW), calls, opener=opener)
    reserved = []
    for call in calls[: rng.randrange(2, len(calls))]:
        journal.reserve_blocking(kit.reservation(call))
        reserved.append(call.call_id)
        if rng.random() < 0.7:
            journal.outcome(kit.attempt(call))
    durable = path.read_bytes()
    files[-1].power_cut(rng, how)

    assert path.read_bytes().startswith(durable)
    told = broken(path)
    if told is not None:
        assert (how, len(told.splitlines())) == ("reordered", 1)
        path.write_bytes(durable)
    resumed = Journal.resume(path, calls, opening=kit.opening(WINDOW))
    assert set(resumed.state.calls) == set(reserved)
    assert resumed.state.open_attempts == {}
    resumed.close()


def broken(path):
    """Return what is wrong with a journal, None where it can be read."""
    try:
        read_journal(path)
    except EvidenceError as error:
        return str(error)
    return None
