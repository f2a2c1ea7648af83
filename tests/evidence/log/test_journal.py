"""The journal on disk: durable before sending, resumable after any end."""

import asyncio
import threading

import pytest

from judgeaudit.errors import EvidenceError, GuardError
from judgeaudit.evidence.log.journal import CRASHED, Journal
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.model import Outcome, Reason

WINDOW = "d1w1"


@pytest.fixture
def calls(kit):
    return kit.calls_in(WINDOW, kit.plan(items=20))


@pytest.fixture
def lane(calls):
    """The calls of endpoint a."""
    return [call for call in calls if call.endpoint == "a"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal" / "d1w1.jsonl"


@pytest.fixture
def begin(kit, path, calls):
    return lambda **options: Journal.open(path, kit.opening(WINDOW), calls, **options)


@pytest.fixture
def resume(kit, path, calls):
    return lambda **options: Journal.resume(path, calls, opening=kit.opening(WINDOW), **options)


def test_a_reserve_is_durable_when_it_returns(kit, begin, lossy, lane, path):
    """What fsync has not confirmed may be lost; a reservation never is."""

    async def run():
        journal = begin(opener=lossy)
        await journal.reserve(kit.reservation(lane[0]))

    asyncio.run(run())
    lossy.files[0].lose()

    assert list(read_journal(path).state.open_attempts) == [lane[0].call_id]


def test_a_blocking_reserve_is_durable_too(kit, begin, lossy, lane, path):
    begin(opener=lossy).reserve_blocking(kit.reservation(lane[0]))
    lossy.files[0].lose()

    assert list(read_journal(path).state.open_attempts) == [lane[0].call_id]


def test_concurrent_reserves_share_their_fsyncs(kit, begin, lossy, lane):
    """Twenty reserves that start together need two commits at most."""

    async def run():
        with begin(opener=lossy) as journal:
            await asyncio.gather(*(journal.reserve(kit.reservation(call)) for call in lane))
            return lossy.files[0].syncs

    assert asyncio.run(run()) <= 2


def test_a_reserve_that_comes_during_a_commit_waits_for_the_next(kit, begin, lossy, lane, path):
    entered, leave = threading.Event(), threading.Event()

    async def run():
        journal = begin(opener=lossy)
        file, sync = lossy.files[0], lossy.files[0].sync

        def slow_sync():
            entered.set()
            leave.wait(5)
            size_before = file.durable
            sync()
            if not slow_sync.done:  # the first fsync covers what was there when it began
                file.durable = slow_sync.size
            slow_sync.done = True
            assert file.durable >= size_before

        slow_sync.done, file.sync = False, slow_sync
        first = asyncio.create_task(journal.reserve(kit.reservation(lane[0])))
        while not entered.is_set():
            await asyncio.sleep(0.001)
        slow_sync.size = path.stat().st_size
        second = asyncio.create_task(journal.reserve(kit.reservation(lane[1])))
        await asyncio.sleep(0.01)
        leave.set()
        await asyncio.gather(first, second)
        file.lose()

    asyncio.run(run())

    assert set(read_journal(path).state.open_attempts) == {c.call_id for c in lane[:2]}


def test_a_cancelled_waiter_does_not_cancel_the_others(kit, begin, lossy, lane):
    async def run():
        with begin(opener=lossy) as journal:
            tasks = [asyncio.create_task(journal.reserve(kit.reservation(c))) for c in lane[:3]]
            await asyncio.sleep(0)
            tasks[0].cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

    cancelled, *others = asyncio.run(run())

    assert isinstance(cancelled, asyncio.CancelledError)
    assert others == [None, None]


def test_after_a_failed_fsync_nothing_is_reserved_any_more(kit, begin, lossy, lane):
    """A later fsync that succeeds says nothing about the pages the first one lost."""

    async def run():
        journal = begin(opener=lossy)
        lossy.files[0].fail = "disk failure"
        with pytest.raises(GuardError, match="disk failure"):
            await journal.reserve(kit.reservation(lane[0]))
        lossy.files[0].fail = None
        with pytest.raises(GuardError, match="disk failure"):
            await journal.reserve(kit.reservation(lane[1]))
        journal.close()

    asyncio.run(run())


def test_reservations_enter_in_plan_order_or_not_at_all(kit, begin, lane):
    """What resume would refuse is refused before it is written."""
    with begin() as journal:
        with pytest.raises(GuardError, match="not the plan's next"):
            journal.reserve_blocking(kit.reservation(lane[1]))
        journal.reserve_blocking(kit.reservation(lane[0]))
        journal.outcome(kit.attempt(lane[0], outcome=Outcome.TIMEOUT))
        journal.reserve_blocking(kit.reservation(lane[1]))
        journal.reserve_blocking(kit.reservation(lane[0], 2))

    assert journal.state.lanes == {"a": [c.call_id for c in lane[:2]]}


def test_a_refused_reservation_leaves_the_lane_where_it_was(kit, begin, lane):
    with begin() as journal:
        with pytest.raises(GuardError):
            journal.reserve_blocking(kit.reservation(lane[0], 1, at="never"))
        journal.reserve_blocking(kit.reservation(lane[0]))


def test_a_second_journal_of_a_run_is_refused(begin):
    begin().close()

    with pytest.raises(GuardError, match="has a journal already"):
        begin()


def test_a_closed_journal_takes_nothing_more(kit, begin, lane):
    journal = begin()
    journal.close()
    journal.close()

    with pytest.raises(GuardError, match="closed"):
        journal.reserve_blocking(kit.reservation(lane[0]))


def test_resume_closes_what_is_open_and_counts_it_unresolved(kit, begin, resume, lane):
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
        journal.outcome(kit.attempt(lane[0]))
        journal.reserve_blocking(kit.reservation(lane[1]))

    with resume() as journal:
        assert [(a.call_id, a.outcome, a.error) for a in journal.voided] == [
            (lane[1].call_id, Outcome.UNRESOLVED, CRASHED)
        ]
        assert journal.state.ledger["a"].bars == {"response": 1, "transport": 0, "unresolved": 1}
        assert journal.state.calls[lane[1].call_id].unresolved == 1
        assert [event.name for event in journal.state.events] == ["resume"]
        journal.reserve_blocking(kit.reservation(lane[1], 2))


@pytest.mark.parametrize("cut", [1, 7, 90, 300])
def test_resume_cuts_a_torn_line_off_and_says_so(kit, begin, resume, lane, path, cut):
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
        journal.outcome(kit.attempt(lane[0]))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])

    with resume() as journal:
        assert [a.call_id for a in journal.voided] == [lane[0].call_id]
        line = whole.splitlines(keepends=True)[-1]
        assert journal.state.events[0].data["torn_bytes"] == len(line) - cut

    assert read_journal(path).torn == 0


@pytest.mark.parametrize("kept", [0, 10, 400])
def test_a_cut_of_power_costs_outcomes_and_no_reservation(kit, begin, resume, lossy, lane, kept):
    """Everything after the last fsync is lost, or some bytes of it are kept."""
    journal = begin(opener=lossy)
    for call in lane[:3]:
        journal.reserve_blocking(kit.reservation(call))
        journal.outcome(kit.attempt(call))
    lossy.files[0].lose(kept)

    with resume() as journal:
        assert journal.state.cap_used == 3
        assert [a.call_id for a in journal.voided] == [lane[2].call_id]
        assert journal.state.calls[lane[1].call_id].last is Outcome.OK


def test_resume_refuses_another_lock(kit, begin, path, calls):
    begin().close()
    opening = kit.opening(WINDOW, lock_digest="sha256:" + "0" * 64)

    with pytest.raises(GuardError, match="lock_digest is sha256"):
        Journal.resume(path, calls, opening=opening)


def test_resume_refuses_a_virtual_clock_after_a_real_one(kit, begin, path, calls):
    begin().close()

    with pytest.raises(GuardError, match="clock is virtual, this study has utc"):
        Journal.resume(path, calls, opening=kit.opening(WINDOW, clock="utc"))


def test_resume_refuses_reservations_that_are_no_prefix_of_the_plan(kit, begin, path, calls, lane):
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))

    with pytest.raises(GuardError, match=r"call 'a-d1w1-q0' is not in the plan"):
        Journal.resume(path, calls[2:], opening=kit.opening(WINDOW))


def test_resume_refuses_an_altered_journal(kit, begin, resume, path, lane):
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
    path.write_bytes(path.read_bytes().replace(b'"attempt":1', b'"attempt":2'))

    with pytest.raises(EvidenceError, match=r"d1w1\.jsonl: line 2: record altered"):
        resume()


def test_bytes_after_the_seal_are_refused(begin, path, calls):
    begin().seal(9, {"a": Reason.WINDOW_CLOSED, "b": Reason.CAP_REACHED})
    with path.open("ab") as stream:
        stream.write(b"more")

    with pytest.raises(EvidenceError, match="4 bytes follow the seal"):
        read_journal(path)


def test_a_finished_run_is_not_resumed(begin, resume):
    begin().seal(9, {"a": Reason.WINDOW_CLOSED, "b": Reason.CAP_REACHED})

    with pytest.raises(GuardError, match="the run is finished"):
        resume()


def test_a_run_with_unsent_calls_needs_a_reason_to_finish(begin):
    with begin() as journal, pytest.raises(GuardError, match="20 calls of 'b' were not sent"):
        journal.seal(9, {"a": Reason.WINDOW_CLOSED})


def test_a_run_with_an_open_attempt_is_not_finished(kit, begin, lane):
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
        with pytest.raises(GuardError, match="attempts are open"):
            journal.seal(9, {"a": Reason.WINDOW_CLOSED, "b": Reason.CAP_REACHED})


def test_a_skipped_call_lets_the_next_enter(kit, begin, lane):
    with begin() as journal:
        journal.skip(lane[0], Reason.NO_MEMORY, 5)
        journal.reserve_blocking(kit.reservation(lane[1]))

    assert journal.state.skipped == {lane[0].call_id: Reason.NO_MEMORY}


def test_secrets_do_not_reach_the_file(kit, begin, lane, path):
    key = "sk-very-secret-key"
    with begin(secrets=[key]) as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
        body = f'{{"echo":"Bearer {key}"}}'.encode()
        stored = journal.outcome(kit.attempt(lane[0], response_body=body, error=f"bad {key}"))
        journal.event("preflight", 5, {"said": [f"key {key}"], key: 1})
        journal.reserve_blocking(kit.reservation(lane[1]))
        journal.void(lane[1].call_id, f"lost {key}")

    assert stored.redacted
    assert key.encode() not in path.read_bytes()
    assert read_journal(path).state.events[0].data["said"] == ["key [redacted]"]


def test_reading_holds_one_record_at_a_time(kit, begin, lane):
    """The state keeps no body."""
    with begin() as journal:
        journal.reserve_blocking(kit.reservation(lane[0]))
        journal.outcome(kit.attempt(lane[0], response_body=b"B" * 1000))

    assert "QkJC" not in repr([call for call in journal.state.calls.values()])
