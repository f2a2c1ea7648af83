"""Outside numbers and clocks: nothing that a server says can hang or crash a study."""

import json
import time

import pytest

from judgeaudit.collect.clock import NS, RealClock
from judgeaudit.errors import RunPaused
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path

URL = "http://judge.example"


@pytest.fixture
def make_registration(make_registration):
    """Registrations of the model that the recording server names."""

    def make(*args, **changes):
        return make_registration(*args, **changes).replace('"simulated"', '"recorded"')

    return make


def readings(study):
    return [row["reason"] or "ok" for row in load_readings(study.root / "log").to_pylist()]


def attempts(study):
    rows = load_attempts(study.root / "log").to_pylist()
    return [row for row in rows if row["condition"] != "preflight"]


def events(study, name):
    found = read_journal(journal_path(study.root / "log", "d1w1")).state.events
    return [event.data for event in found if event.name == name]


LIMITED = b'{"error": {"message": "slow down"}}'


@pytest.mark.parametrize(
    ("headers", "stored_ms"),
    [
        ({"retry-after": "3600"}, 3_600_000),
        ({"retry-after": "1e300"}, 366 * 86_400_000),
        ({"retry-after": "9" * 400}, 366 * 86_400_000),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 366 * 86_400_000),
        ({"retry-after-ms": "1e300"}, 366 * 86_400_000),
    ],
)
def test_a_wait_beyond_the_window_ends_its_call_and_nothing_else(
    study, run, recording, make_registration, headers, stored_ms
):
    """case H1: a window of 90 s. The call is `no_reply`, says what was asked, and is told."""
    frozen = study(make_registration(URL, schedule='max_duration = "90s"'), items=3)
    answer = recording.Answer(429, headers, LIMITED)
    told, begun = [], time.monotonic()
    with recording.Recorder(lambda _, n: answer if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url, teller=told.append)

    assert time.monotonic() - begun < 30
    assert sorted(readings(frozen)) == ["no_reply", "ok", "ok"]
    (first,) = [row for row in attempts(frozen) if row["status"] == 429]
    assert first["retry_after_ms"] == stored_ms
    assert "asked to wait" in first["error"]
    assert "registered longest_wait is 600 s, not tried again" in first["error"]
    assert len(told) == 1
    assert "asked to wait" in told[0]


def test_a_wait_that_outlasts_the_window_is_not_begun(study, run, recording, make_registration):
    """case H1: 30 s are within `longest_wait`, and not within a window of 20 s."""
    frozen = study(make_registration(URL, schedule='max_duration = "20s"'), items=2)
    answer = recording.Answer(429, {"retry-after": "30"}, LIMITED)
    with recording.Recorder(lambda _, n: answer if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url)

    (first,) = [row for row in attempts(frozen) if row["status"] == 429]
    assert "asked to wait 30 s, the window closes in" in first["error"]


@pytest.mark.parametrize("value", ["-5", "nan", "soon", "1_0"])
def test_what_is_no_wait_is_tried_again_by_the_policy(
    study, run, recording, make_registration, value
):
    """case H1."""
    frozen = study(make_registration(URL), items=2)
    answer = recording.Answer(429, {"retry-after": value}, LIMITED)
    with recording.Recorder(lambda _, n: answer if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url)

    assert readings(frozen) == ["ok", "ok"]


def test_a_resume_does_not_wait_for_what_was_refused(study, run, recording, make_registration):
    """case H1: an interrupted run's journal asks for an hour; the next run ends in no time."""
    frozen = study(make_registration(URL), items=3)
    limited = recording.Answer(429, {"retry-after": "3600"}, LIMITED)

    def first(_, number):
        return {1: limited, 3: recording.Answer(401)}.get(number, recording.Answer())

    with recording.Recorder(first) as server, pytest.raises(RunPaused):
        run(frozen, base=server.base_url)
    begun = time.monotonic()
    with recording.Recorder() as server:
        run(frozen, base=server.base_url)

    assert time.monotonic() - begun < 10
    assert sorted(readings(frozen)) == ["no_reply", "ok", "ok"]


@pytest.mark.parametrize(
    "error",
    [
        {"code": 429, "details": [{"retryDelay": "0.4s"}]},
        {"code": 429, "retry_after": 0.4},
        {"code": 429, "retry_after_ms": 400},
        {"code": 429, "details": [{"a": {"retry_after": "400ms"}}]},
    ],
)
def test_a_delay_in_the_body_is_honoured_and_told(study, run, recording, make_registration, error):
    """case A7: 400 ms pass between the refusal and the next request; the policy waits 10 ms."""
    frozen = study(make_registration(URL), items=2)
    limited = recording.Answer(429, {}, json.dumps({"error": error}).encode())
    with recording.Recorder(lambda _, n: limited if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url)

    refused, again = attempts(frozen)[:2]
    assert refused["retry_after_ms"] == 400
    assert (again["sent_at"] - refused["received_at"]).value >= 0.39 * NS


def test_a_long_wait_is_told_when_it_begins(study, run, recording, make_registration):
    """case H1: `waits 1 s as asked`, once, not once a call in flight."""
    text = make_registration(URL, schedule='conditions = [{name = "c", in_flight = 4}]')
    frozen, told = study(text, items=4), []
    limited = recording.Answer(429, {"retry-after": "1"}, LIMITED)
    with recording.Recorder(lambda _, n: limited if 1 <= n <= 4 else recording.Answer()) as server:
        run(frozen, base=server.base_url, teller=told.append)

    assert told == ["endpoint judge: waits 1 s as asked: slow down"]


class Jumping(RealClock):
    """A wall clock that moves by `by_s` after the fifth look at it; the steady one goes on."""

    def __init__(self, monkeypatch, by_s):
        super().__init__()
        looks, real = [0], time.time_ns

        def now():
            looks[0] += 1
            return real() + (round(by_s * NS) if looks[0] > 25 else 0)

        monkeypatch.setattr(time, "time_ns", now)


@pytest.mark.parametrize("by_s", [-20, -3600, 7 * 3600])
def test_a_wall_clock_that_jumps_is_an_event_and_nothing_more(
    study, run, recording, make_registration, monkeypatch, by_s
):
    """case H7: 40 calls at 1200 a minute; none is lost, nothing stalls, the jump is on record."""
    text = make_registration(URL, endpoint="requests_per_minute = 1200")
    frozen, told = study(text, items=40), []
    clock, begun = Jumping(monkeypatch, by_s), time.monotonic()
    with recording.Recorder() as server:
        run(frozen, base=server.base_url, clock=clock, teller=told.append)

    assert time.monotonic() - begun < 30
    assert readings(frozen) == ["ok"] * 40
    (jump,) = events(frozen, "clock_jump")
    assert jump == {"by_s": f"{by_s:+.1f} s"}
    assert told == [f"the wall clock jumped by {by_s:+.1f} s; waits and the window's end do not"]
