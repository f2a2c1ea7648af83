"""A window from its first guard to its seal, against simulated and recorded endpoints."""

import itertools
import json
from datetime import UTC, datetime

import pytest

from judgeaudit.collect.clock import NS, RealClock, VirtualClock
from judgeaudit.collect.guards import to_ns
from judgeaudit.collect.keys import keys_for
from judgeaudit.errors import ExecutorBusy, GuardError, InputError, RunPaused, TooEarly
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path, sealed_runs
from judgeaudit.evidence.log.verify import verify_log

START = 1_767_225_600_000_000_000
URL = "http://judge.example"


def readings(study):
    return load_readings(study.root / "log").to_pylist()


def attempts(study, condition=None):
    rows = load_attempts(study.root / "log").to_pylist()
    return [row for row in rows if condition is None or row["condition"] == condition]


def planned(study):
    return [row for row in attempts(study) if row["condition"] != "preflight"]


def test_a_window_is_run_sealed_and_verifies(study, run):
    frozen = study()

    summary = run(frozen)

    assert [row["status"] for row in readings(frozen)] == ["ok"] * 8
    assert summary.manifest["readings"] == {"planned": 8, "by_status": {"ok": 8}}
    log = frozen.root / "log"
    assert verify_log(log, frozen.plan, str(frozen.lock_digest), derive(frozen)) == []


def test_a_sealed_window_is_not_run_again(study, run):
    frozen = study()
    run(frozen)

    with pytest.raises(GuardError, match="sealed"):
        run(frozen)


def test_what_is_sent_follows_the_plan_by_call_id(study, run, recording, make_registration):
    """Reservations stand in plan order, matched by id, in a lane of eight in flight too."""
    schedule = 'conditions = [{name = "loaded", in_flight = 8}]'
    frozen = study(make_registration(URL, schedule=schedule), items=40)
    with recording.Recorder(lambda r, n: recording.Answer(delay_s=0.01 * (n % 3))) as server:
        run(frozen, base=server.base_url)

    state = read_journal(journal_path(frozen.root / "log", "d1w1")).state
    assert state.lanes["judge"] == [call.call_id for call in frozen.plan]


@pytest.mark.parametrize("width", [1, 3, 8])
def test_the_number_in_flight_is_the_conditions(study, run, recording, make_registration, width):
    schedule = f'conditions = [{{name = "c", in_flight = {width}}}]'
    frozen = study(make_registration(URL, schedule=schedule), items=24)
    with recording.Recorder(lambda *_: recording.Answer(delay_s=0.02)) as server:
        run(frozen, base=server.base_url)

    assert server.peak == width
    assert max(row["in_flight"] for row in planned(frozen)) == width


def test_a_quiet_call_never_has_company(study, run, recording, make_registration):
    """Interleaved conditions: the stretch of eight is drained before a quiet call is sent."""
    schedule = """chunk = 4
conditions = [{name = "quiet", in_flight = 1}, {name = "loaded", in_flight = 8}]"""
    frozen = study(make_registration(URL, schedule=schedule), items=16)
    with recording.Recorder(lambda r, n: recording.Answer(delay_s=0.01 + 0.01 * (n % 2))) as server:
        run(frozen, base=server.base_url)

    quiet = [row for row in planned(frozen) if row["condition"] == "quiet"]
    others = planned(frozen)
    assert len(quiet) == 16
    assert all(row["in_flight"] == 1 for row in quiet)
    for row in quiet:
        beside = [
            o
            for o in others
            if o["call_id"] != row["call_id"]
            and o["sent_at"] < row["received_at"]
            and o["received_at"] > row["sent_at"]
        ]
        assert beside == []


def test_invalid_readings_are_never_tried_again(study, run, recording, make_registration):
    """The incident: one probe answered with a bare array ten times of ten. Asked once, counted."""
    body = recording.OK.replace(b'"pass"', b'"[1, 2]"')
    frozen = study(make_registration(URL), items=4)
    with recording.Recorder(lambda *_: recording.Answer(body=body)) as server:
        run(frozen, base=server.base_url)

    assert [row["reason"] for row in readings(frozen)] == ["unparsed"] * 4
    assert len(planned(frozen)) == 4


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_transient_failures_are_retried_and_every_attempt_is_a_row(
    study, run, recording, make_registration, status
):
    frozen = study(make_registration(URL, extra="attempts = 3"), items=2)
    told = {1: status, 2: status}
    with recording.Recorder(lambda r, n: recording.Answer(told.get(n, 200))) as server:
        run(frozen, base=server.base_url)

    first = [row for row in planned(frozen) if row["call_id"] == frozen.plan[0].call_id]
    assert [row["status"] for row in first] == [status, status, 200]
    assert [row["attempt"] for row in first] == [1, 2, 3]
    assert [row["responsibility"] for row in first] == ["provider", "provider", None]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refusals_are_not_retried(study, run, recording, make_registration, status):
    frozen = study(make_registration(URL), items=3)
    with recording.Recorder(lambda r, n: recording.Answer(status if n == 2 else 200)) as server:
        run(frozen, base=server.base_url)

    assert sorted(row["reason"] or "ok" for row in readings(frozen)) == ["no_reply", "ok", "ok"]
    assert len(planned(frozen)) == 3


def test_attempts_used_up_are_no_reply(study, run, recording, make_registration):
    frozen = study(make_registration(URL, extra="attempts = 2"), items=2)
    with recording.Recorder(lambda r, n: recording.Answer(500 if n in (1, 2) else 200)) as server:
        run(frozen, base=server.base_url)

    assert [row["reason"] for row in readings(frozen)] == ["no_reply", None]
    assert [row["attempt"] for row in planned(frozen)] == [1, 2, 1]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [({"drop": True}, "transport_error"), ({"cut": True}, "transport_error")],
)
def test_broken_connections_are_transport_failures_and_retried(
    study, run, recording, make_registration, answer, outcome
):
    frozen = study(make_registration(URL), items=2)

    def reply(request, number):
        return recording.Answer(**answer) if number == 1 else recording.Answer()

    with recording.Recorder(reply) as server:
        run(frozen, base=server.base_url)

    assert [row["outcome"] for row in planned(frozen)] == [outcome, "ok", "ok"]
    assert [row["status"] for row in readings(frozen)] == ["ok", "ok"]


def test_a_timed_out_attempt_is_logged_and_asked_again(study, run, recording, make_registration):
    frozen = study(make_registration(URL, endpoint='timeouts = {read = "100ms"}'), items=2)
    with recording.Recorder(lambda r, n: recording.Answer(delay_s=0.5 if n == 1 else 0)) as server:
        run(frozen, base=server.base_url)

    assert [row["outcome"] for row in planned(frozen)] == ["timeout", "ok", "ok"]


def test_a_success_that_is_no_reply_is_bad_body_and_kept(study, run, recording, make_registration):
    frozen = study(make_registration(URL), items=2)
    page = b"<html>Sign in</html>"
    with recording.Recorder(
        lambda r, n: recording.Answer(body=page if n == 1 else recording.OK)
    ) as server:
        run(frozen, base=server.base_url)

    rows = planned(frozen)
    assert [row["outcome"] for row in rows] == ["bad_body", "ok"]
    assert rows[0]["response_body"] == page
    assert [row["reason"] for row in readings(frozen)] == ["bad_body", None]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, b'{"error":{"message":"expired key"}}', "HTTP 401: expired key"),
        (404, b"", "HTTP 404"),
        (429, b'{"error":{"code":"insufficient_quota"}}', "HTTP 429: insufficient_quota"),
    ],
)
def test_failures_that_only_a_person_mends_pause_at_once_and_cost_no_reading(
    study, run, recording, make_registration, status, body, said
):
    """The third planned call meets it: the run stays unsealed, and goes on with that same call."""
    frozen = study(make_registration(URL), items=6)
    bad = {"on": True}

    def answer(request, number):
        if bad["on"] and number == 3:
            return recording.Answer(status, {}, body)
        return recording.Answer()

    with recording.Recorder(answer) as server:
        with pytest.raises(RunPaused, match=said):
            run(frozen, base=server.base_url)
        assert len(server.requests) == 4
        assert sealed_runs(frozen.root / "log") == []
        bad["on"] = False
        run(frozen, base=server.base_url)

    assert [row["status"] for row in readings(frozen)] == ["ok"] * 6
    assert len(planned(frozen)) == 7


def test_equal_client_errors_in_a_row_pause_the_run(study, run, recording, make_registration):
    frozen = study(make_registration(URL, extra="breaker = 3"), items=9)
    with (
        recording.Recorder(lambda r, n: recording.Answer(400 if n else 200)) as server,
        pytest.raises(RunPaused, match="HTTP 400 3 times in a row"),
    ):
        run(frozen, base=server.base_url)

    assert len(server.requests) == 1 + 3


def test_a_failing_preflight_spends_no_planned_call(study, run, recording, make_registration):
    frozen = study(make_registration(URL), items=6)
    with (
        recording.Recorder(lambda *_: recording.Answer(401)) as server,
        pytest.raises(RunPaused, match="HTTP 401"),
    ):
        run(frozen, base=server.base_url)

    state = read_journal(journal_path(frozen.root / "log", "d1w1")).state
    assert (state.cap_used, state.preflights) == (0, 1)


def test_a_server_that_is_not_the_api_spends_no_planned_call(
    study, run, recording, make_registration
):
    """A 200 with a web page, twice: the base URL is somebody else's. Once could be a cut answer."""
    frozen = study(make_registration(URL), items=6)
    page = recording.Answer(body=b"<html>Welcome</html>")
    with (
        recording.Recorder(lambda *_: page) as server,
        pytest.raises(RunPaused, match="preflight failed"),
    ):
        run(frozen, base=server.base_url)

    state = read_journal(journal_path(frozen.root / "log", "d1w1")).state
    assert (state.cap_used, state.preflights) == (0, 2)


def test_preflight_is_on_the_ledger_and_in_no_reading(study, run):
    frozen = study(items=4)

    summary = run(frozen)

    assert summary.manifest["ledger"]["preflight"]["attempts"] == 1
    assert len(attempts(frozen, "preflight")) == 1
    assert len(readings(frozen)) == 4


def test_the_echo_control_records_what_arrived(study, run):
    frozen = study(items=2)
    run(frozen)

    events = read_journal(journal_path(frozen.root / "log", "d1w1")).state.events
    (echo,) = [event for event in events if event.name == "echo"]
    assert echo.data["body_sha256"] == frozen.plan[0].body_sha256


def test_the_cap_is_reserved_before_the_network_and_counts_retries(
    study, run, recording, make_registration
):
    """Cap 5, four calls, and two retries of the first: 3 + 1 + 1 attempts, then the cap."""
    frozen = study(make_registration(URL, cap=5), items=4)
    with recording.Recorder(lambda r, n: recording.Answer(500 if n in (1, 2) else 200)) as server:
        run(frozen, base=server.base_url)

    assert len(planned(frozen)) == 5
    assert sorted(row["reason"] or "ok" for row in readings(frozen)) == [
        "cap_reached",
        "ok",
        "ok",
        "ok",
    ]


def test_a_window_closes_and_says_so(study, run, recording, make_registration):
    schedule = 'max_duration = "300ms"'
    frozen = study(make_registration(URL, schedule=schedule), items=9)
    with recording.Recorder(lambda *_: recording.Answer(delay_s=0.1)) as server:
        run(frozen, base=server.base_url)

    found = [row["reason"] or "ok" for row in readings(frozen)]
    assert set(found) == {"ok", "window_closed"}
    assert len(planned(frozen)) == found.count("ok") < 9


PRICED = "prices = {prompt = 0, completion = 1000000}"
"""One unit a completion token; a call is at risk for its 32 tokens."""


@pytest.mark.parametrize("then", ["pause", "close"])
def test_the_budget_stops_before_it_is_exceeded(study, run, recording, make_registration, then):
    """Budget 70, each reply reports 10: sent while spent + 32 <= 70, so at 0, 10, 20, 30. The
    preflight is paid for as well, which makes it three planned calls.
    """
    body = json.dumps(json.loads(recording.OK) | {"usage": {"completion_tokens": 10}}).encode()
    schedule = f'budget = 70\non_budget = "{then}"'
    frozen = study(make_registration(URL, schedule=schedule, endpoint=PRICED), items=9)
    with recording.Recorder(lambda *_: recording.Answer(body=body)) as server:
        if then == "pause":
            with pytest.raises(RunPaused, match="budget"):
                run(frozen, base=server.base_url)
        else:
            run(frozen, base=server.base_url)
            assert [row["reason"] for row in readings(frozen)].count("cap_reached") == 6

    assert len(server.requests) == 1 + 3


def test_requests_per_minute_are_kept(study, run, recording, make_registration):
    """600 a minute: 100 ms between sends, for a condition of four in flight as well."""
    schedule = 'conditions = [{name = "c", in_flight = 4}]'
    frozen = study(
        make_registration(URL, schedule=schedule, endpoint="requests_per_minute = 600"), items=8
    )
    with recording.Recorder() as server:
        run(frozen, base=server.base_url)

    sent = sorted(row["sent_at"].value for row in planned(frozen))
    assert sent[-1] - sent[0] >= 0.095 * 7 * NS


def test_a_rate_limited_endpoint_is_waited_for(study, run, make_registration):
    frozen = study(
        make_registration("embedded:rate-limited", schedule='clock = "virtual"'), items=40
    )

    run(frozen)

    assert [row["status"] for row in readings(frozen)] == ["ok"] * 40
    limited = [row for row in planned(frozen) if row["status"] == 429]
    assert limited
    assert all(row["retry_after_ms"] is not None for row in limited)


def test_flaky_transport_costs_attempts_and_no_readings(study, run, make_registration):
    frozen = study(
        make_registration("embedded:flaky-transport", schedule='clock = "virtual"'), items=60
    )

    summary = run(frozen)

    assert [row["status"] for row in readings(frozen)] == ["ok"] * 60
    ledger = summary.manifest["ledger"]["calls"]
    assert ledger["attempts"] == ledger["response"] + ledger["transport"] + ledger["unresolved"]
    assert ledger["transport"] > 0


WINDOWS = 'days = 2\nwindows_per_day = 2\nmin_gap = "2h"\nday_gap = "20h"\n'


def test_a_window_before_its_time_is_refused_with_the_earliest(study, run, make_registration):
    """The incident: 10.6 minutes against a rule of 2 hours."""
    frozen = study(make_registration(schedule=WINDOWS), items=2)
    run(frozen)
    last = max(row["received_at"] for row in attempts(frozen))

    class Later(RealClock):
        def now_ns(self):
            return last.value + round(10.6 * 60 * NS)

    with pytest.raises(TooEarly) as refused:
        run(frozen, "d1w2", clock=Later())

    assert to_ns(refused.value.earliest) >= last.value + 2 * 3600 * NS
    assert not journal_path(frozen.root / "log", "d1w2").exists()


def test_a_window_out_of_turn_is_refused(study, run, make_registration):
    frozen = study(make_registration(schedule=WINDOWS), items=2)

    with pytest.raises(GuardError, match="d1w1 is not sealed"):
        run(frozen, "d1w2")


def test_days_pass_on_the_virtual_clock(study, run, make_registration):
    """Four windows at least 2 h apart within a day and 20 h between days, in no time."""
    frozen = study(make_registration(schedule=WINDOWS + 'clock = "virtual"'), items=3)
    clock = VirtualClock(START)
    for window in frozen.windows():
        run(frozen, window.id, clock=clock)

    spans = {}
    for row in attempts(frozen):
        spans.setdefault(row["window"], []).extend([row["sent_at"].value, row["received_at"].value])
    edges = [(min(times), max(times)) for _, times in sorted(spans.items())]
    gaps = [(later[0] - earlier[1]) / (3600 * NS) for earlier, later in itertools.pairwise(edges)]
    assert gaps[0] >= 2
    assert gaps[1] >= 20
    assert gaps[2] >= 2


def test_a_registered_start_in_the_future_is_waited_for(study, run, make_registration):
    frozen = study(make_registration(schedule="start = 2100-01-01T00:00:00Z"), items=2)

    with pytest.raises(TooEarly) as refused:
        run(frozen)

    assert refused.value.earliest == datetime(2100, 1, 1, tzinfo=UTC)


def test_a_second_executor_of_the_same_process_tree_is_refused(
    study, run, recording, make_registration
):
    """While one thread runs the window, another is turned away at once and sends nothing."""
    import threading

    frozen = study(make_registration(URL), items=4)
    errors = []

    def second():
        try:
            run(frozen, base="http://127.0.0.1:9")
        except ExecutorBusy as busy:
            errors.append(str(busy))

    def answer(request, number):
        if number == 2:
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()
        return recording.Answer()

    with recording.Recorder(answer) as server:
        run(frozen, base=server.base_url)

    assert len(errors) == 1
    assert "held by process" in errors[0]


class Spec:
    def __init__(self, key_env):
        self.id, self.key_env = "judge", key_env


def test_keys_come_from_the_named_variable_alone():
    environment = {"MY_KEY": "k-1", "OPENAI_API_KEY": "k-2"}

    assert keys_for([Spec("MY_KEY")], environment) == {"judge": "k-1"}
    assert keys_for([Spec(None)], environment) == {}


@pytest.mark.parametrize(("value", "said"), [(None, "not set"), ("  ", "empty"), ("a b", "header")])
def test_a_missing_key_is_one_line_that_names_the_variable(value, said):
    environment = {} if value is None else {"MY_KEY": value}

    with pytest.raises(InputError, match=f"MY_KEY.*{said}") as refused:
        keys_for([Spec("MY_KEY")], environment)

    assert "\n" not in str(refused.value)
    assert "a b" not in str(refused.value)


def test_a_run_that_ended_before_its_seal_is_sealed_without_sending_anything(
    study, run, recording, make_registration, monkeypatch
):
    """The journal is finished, the disk full: running again only seals."""
    from judgeaudit.collect import collector

    frozen = study(make_registration(URL), items=3)
    with recording.Recorder() as server:
        with monkeypatch.context() as broken:
            broken.setattr(collector, "seal_run", lambda *_: (_ for _ in ()).throw(OSError("full")))
            with pytest.raises(OSError, match="full"):
                run(frozen, base=server.base_url)
        sent = len(server.requests)
        run(frozen, base=server.base_url)

    assert len(server.requests) == sent == 4
    assert [row["status"] for row in readings(frozen)] == ["ok"] * 3
