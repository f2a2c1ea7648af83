"""One executor a journal, guarded on the journal itself (case H4)."""

import errno
import importlib.util
import os
from pathlib import Path

import pytest

from judgeaudit.errors import EvidenceError, ExecutorBusy, GuardError
from judgeaudit.evidence.log import files
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.reader import read_journal

_spec = importlib.util.spec_from_file_location(
    "make_specimens_for_guards", Path(__file__).parents[1] / "damaged" / "make.py"
)
kit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kit)

CALLS = kit.calls_in("d1w1", kit.plan(items=4))
LANE = [call for call in CALLS if call.endpoint == "a"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study" / "log" / "journal" / "d1w1.jsonl"


def begin(path):
    return Journal.open(path, kit.opening("d1w1"), CALLS)


def resume(path):
    return Journal.resume(path, CALLS, opening=kit.opening("d1w1"))


def ask(journal, call):
    journal.reserve_blocking(kit.reservation(call))
    journal.outcome(kit.attempt(call))


def by_symlink(path, tmp_path):
    (tmp_path / "copy").symlink_to(tmp_path / "study")
    return tmp_path / "copy" / "log" / "journal" / "d1w1.jsonl"


def by_hard_link(path, tmp_path):
    (tmp_path / "other").mkdir()
    os.link(path, tmp_path / "other" / "d1w1.jsonl")
    return tmp_path / "other" / "d1w1.jsonl"


@pytest.mark.parametrize("other_way", [lambda path, _: path, by_symlink, by_hard_link])
def test_a_second_executor_of_one_journal_is_refused_by_whatever_name(other_way, path, tmp_path):
    """No lock file takes part: deleting one changes nothing. The first goes on undisturbed."""
    with begin(path) as first:
        ask(first, LANE[0])
        with pytest.raises(ExecutorBusy, match="another process writes this journal"):
            resume(other_way(path, tmp_path))
        ask(first, LANE[1])

    state = read_journal(path).state
    assert (state.cap_used, state.open_attempts) == (2, {})


def test_the_lock_ends_with_its_holder(path):
    begin(path).close()

    with resume(path) as journal:
        ask(journal, LANE[0])


@pytest.fixture
def no_locks(monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def flock(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)


def test_without_locks_the_first_stops_when_another_has_written(no_locks, path):
    """Both could open it. What the second wrote is whole, and the first writes nothing after it."""
    with begin(path) as first:
        ask(first, LANE[0])
        with resume(path) as second:
            with pytest.raises(GuardError, match=r"another process writes to it.*are whole"):
                ask(first, LANE[1])
            ask(second, LANE[1])
        with pytest.raises(GuardError, match="nothing more is sent from here"):
            first.event("later", 0, {})

    state = read_journal(path).state
    assert (state.cap_used, state.open_attempts) == (2, {})


def test_a_file_system_without_locks_is_told_in_the_log(no_locks, path):
    with begin(path) as journal:
        assert not journal.locked
    with resume(path):
        pass

    told = [(event.name, event.data) for event in read_journal(path).state.events]
    assert told[0] == ("no_locks", {})
    assert told[1][0] == "resume"
    assert told[1][1]["no_locks"] is True


def test_with_locks_nothing_is_told(path):
    begin(path).close()

    assert read_journal(path).state.events == []


@pytest.mark.parametrize("change", ["moved", "replaced", "edited"])
def test_a_journal_that_is_not_where_or_what_it_was_is_not_written(change, path):
    """By size, last bytes and place: a copy in its place has the size and not the place."""
    with begin(path) as journal:
        ask(journal, LANE[0])
        data = path.read_bytes()
        if change == "edited":
            with path.open("r+b") as stream:
                stream.seek(-3, os.SEEK_END)
                stream.write(b"x")
        else:
            path.rename(path.with_suffix(".old"))
        if change == "replaced":
            path.write_bytes(data)
        with pytest.raises(GuardError, match="nothing more is sent from here"):
            ask(journal, LANE[1])


def test_a_broken_journal_says_how_much_of_it_is_whole(path):
    """Line 3 of five is damaged: two lines before it are whole."""
    with begin(path) as journal:
        ask(journal, LANE[0])
        ask(journal, LANE[1])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"200", b"201"), *lines[3:]]))

    whole = len(b"".join(lines[:2]))
    with pytest.raises(EvidenceError, match=rf"the 2 lines before it \({whole} bytes\) are whole"):
        read_journal(path)

    os.truncate(path, whole)
    with resume(path) as journal:
        assert [attempt.call_id for attempt in journal.voided] == [LANE[0].call_id]


def test_a_device_error_of_locking_is_no_lack_of_locks(monkeypatch, path):
    fcntl = pytest.importorskip("fcntl")
    begin(path).close()

    def flock(descriptor, how):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="Input/output"):
        files.DiskFile(path)
