"""The rules of a journal, one test each; writing and reading obey the same code."""

import pytest

from judgeaudit.errors import OtherVersion
from judgeaudit.evidence.formats.catalogue import TODAY
from judgeaudit.evidence.log.chain import Broken
from judgeaudit.evidence.log.records import (
    Kind,
    Reservation,
    attempt_from,
    attempt_payload,
    opening_payload,
    reservation_payload,
)
from judgeaudit.evidence.log.state import JournalState
from judgeaudit.model import Outcome, Reason


@pytest.fixture
def call(kit):
    return kit.plan()[0]


@pytest.fixture
def state(kit):
    state = JournalState()
    state.apply({**opening_payload(kit.opening("d1w1"), TODAY), "kind": Kind.OPEN})
    return state


@pytest.fixture
def say(kit, state, call):
    """`say("reserve", 1)`, `say("outcome", 1, status=500)`: apply one record about one call."""

    def reserve(number=1, **changes):
        payload = reservation_payload(kit.reservation(call, number), TODAY)
        state.apply({**payload, **changes, "kind": Kind.RESERVE})

    def outcome(number=1, kind=Kind.OUTCOME, raw=None, **changes):
        payload = attempt_payload(kit.attempt(call, number, **changes), TODAY)
        state.apply({**payload, **(raw or {}), "kind": kind})

    return {"reserve": reserve, "outcome": outcome}


FAILED = {"outcome": Outcome.HTTP_ERROR, "status": 503}


def test_a_second_opening_is_refused(state, kit):
    with pytest.raises(Broken, match="one open record"):
        state.apply({**opening_payload(kit.opening("d1w1"), TODAY), "kind": Kind.OPEN})


def test_nothing_comes_before_the_opening():
    with pytest.raises(Broken, match="one open record"):
        JournalState().apply({"kind": "event", "name": "x", "at": "0", "data": None})


def test_a_journal_of_another_version_is_told_as_such(kit):
    with pytest.raises(OtherVersion, match=r"format journal/9, written by judgeaudit 0"):
        JournalState().apply(
            {**opening_payload(kit.opening("d1w1"), TODAY), "version": "journal/9", "kind": "open"}
        )


def test_a_call_is_not_reserved_twice_while_its_outcome_is_unknown(say):
    say["reserve"](1)

    with pytest.raises(Broken, match="attempt 1 has no outcome yet"):
        say["reserve"](2)


def test_an_answered_call_is_never_asked_again(say):
    """An unparsable answer is a value; asking until it parses would be selection."""
    say["reserve"](1)
    say["outcome"](1)

    with pytest.raises(Broken, match="is answered and not asked again"):
        say["reserve"](2)


def test_attempts_are_numbered_without_gaps(say):
    say["reserve"](1)
    say["outcome"](1, **FAILED)

    with pytest.raises(Broken, match="expected attempt 2, got 3"):
        say["reserve"](3)


def test_an_outcome_needs_a_reservation(say):
    with pytest.raises(Broken, match="outcome without a reservation"):
        say["outcome"](1)


def test_an_outcome_comes_once(say):
    say["reserve"](1)
    say["outcome"](1, **FAILED)

    with pytest.raises(Broken, match="outcome without a reservation"):
        say["outcome"](1, **FAILED)


@pytest.mark.parametrize("name", ["body_sha256", "endpoint", "condition", "repeat", "reserved_at"])
def test_an_outcome_repeats_what_was_reserved(say, name):
    """What was sent must be what was reserved, the frozen body first of all."""
    say["reserve"](1)

    with pytest.raises(Broken, match=f"{name} was reserved as"):
        say["outcome"](1, raw={name: "other"})


def test_only_a_void_says_unresolved(say):
    say["reserve"](1)

    with pytest.raises(Broken, match="cannot say unresolved"):
        say["outcome"](1, outcome=Outcome.UNRESOLVED)
    with pytest.raises(Broken, match="cannot say ok"):
        say["outcome"](1, kind=Kind.VOID)


def test_only_preflight_has_no_plan_index(say):
    with pytest.raises(Broken, match="only preflight has no plan index"):
        say["reserve"](1, plan_index=None)
    with pytest.raises(Broken, match="only preflight has no plan index"):
        say["reserve"](1, condition="preflight")


def test_a_reserved_call_cannot_be_skipped_nor_a_skipped_one_reserved(say, state, call):
    skip = {"kind": "skip", "call_id": call.call_id, "endpoint": "a", "reason": "no_memory"}
    state.apply({**skip, "at": "0"})

    assert state.missing_reason("a", call.call_id) is Reason.NO_MEMORY
    with pytest.raises(Broken, match="was skipped as no_memory"):
        say["reserve"](1)
    with pytest.raises(Broken, match="cannot be skipped"):
        state.apply({**skip, "at": "0"})


def seal(state, **changes):
    record = {"kind": "seal", "at": "9", "missing": {}, "ledger": state.ledger_json()}
    state.apply({**record, **changes})


def test_a_run_is_not_sealed_while_an_attempt_is_open(say, state):
    say["reserve"](1)

    with pytest.raises(Broken, match="attempts are open: a-d1w1-q0"):
        seal(state)


def test_a_seal_whose_ledger_is_not_that_of_the_records_is_refused(say, state):
    with pytest.raises(Broken, match="ledger: the records give"):
        seal(state, ledger={})


def test_a_ledger_that_does_not_close_is_not_sealed(say, state):
    """An attempt that is on no bar: counted, ended nowhere."""
    say["reserve"](1)
    say["outcome"](1)
    state.ledger["a"].attempts += 1

    with pytest.raises(Broken, match="the ledger does not close"):
        seal(state)


def test_nothing_follows_the_seal(say, state):
    seal(state)

    with pytest.raises(Broken, match="reserve record follows the seal"):
        say["reserve"](1)


def test_a_refused_record_changes_nothing(say, state):
    say["reserve"](1)
    before = state.ledger_json()
    with pytest.raises(Broken):
        say["reserve"](2)

    assert state.ledger_json() == before
    assert state.cap_used == 1


def test_the_ledger_counts_retries_and_failures_and_closes(say, state):
    """Three attempts: 503, timeout, ok. By hand: 2 responses, 1 transport, 0 unresolved."""
    for number, changes in enumerate([FAILED, {"outcome": Outcome.TIMEOUT}, {}], 1):
        say["reserve"](number)
        say["outcome"](number, **changes)

    calls = state.ledger_json()["calls"]
    bars = {name: calls[name] for name in ("attempts", "response", "transport", "unresolved")}
    assert bars == {"attempts": 3, "response": 2, "transport": 1, "unresolved": 0}
    assert state.cap_used == 3


def test_preflight_is_on_a_ledger_of_its_own_and_in_no_lane(kit, state):
    body = kit.LOCK
    made = Reservation.preflight(
        "a",
        call_id="preflight-a-1",
        attempt=1,
        window="d1w1",
        body_sha256=body,
        canonical_sha256=body,
        reserved_at=kit.START,
    )
    state.apply({**reservation_payload(made, TODAY), "kind": Kind.RESERVE})

    assert (state.cap_used, state.preflights, state.lanes) == (0, 1, {})


def test_spans_take_the_first_send_and_the_last_receive(say, state, kit):
    """Sent 1 microsecond after the reservation, received 2 ms after it."""
    say["reserve"](1)
    say["outcome"](1)

    span = state.spans["a"]
    assert span.first_sent == kit.START + 1_000
    assert span.last_received == span.last_activity == kit.START + 2_000_000


def test_a_malformed_record_is_no_crash(state):
    with pytest.raises(Broken, match="malformed record: KeyError"):
        state.apply({"kind": "reserve"})
    with pytest.raises(Broken, match="malformed record: ValueError"):
        state.apply({"kind": "bribe"})


def test_an_attempt_reads_back_as_it_was_written(kit, call):
    made = kit.attempt(call, ttfb_ms=0.1 + 0.2, response_body=bytes(range(256)))

    assert attempt_from(attempt_payload(made, TODAY), TODAY) == made
