"""An outage is not data: it pauses a window unsealed, and what it took is asked anew."""

import gzip
import json

import pytest

from judgeaudit.errors import RunPaused
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path, sealed_runs

URL = "http://judge.example"


def readings(study):
    return [row["reason"] or "ok" for row in load_readings(study.root / "log").to_pylist()]


def attempts(study):
    rows = load_attempts(study.root / "log").to_pylist()
    return [row for row in rows if row["condition"] != "preflight"]


def events(study, name):
    found = read_journal(journal_path(study.root / "log", "d1w1")).state.events
    return [event.data for event in found if event.name == name]


def inside(error):
    return json.dumps({"error": error}).encode()


OUTAGES = {
    "500": {"status": 500},
    "503": {"status": 503},
    "429": {"status": 429},
    "dropped": {"drop": True},
    "cut": {"cut": True},
    "web page": {"body": b"<html>Maintenance</html>"},
    "429 inside": {"body": inside({"code": 429, "message": "slow down"})},
    "overloaded inside": {"body": inside({"type": "overloaded_error", "message": "busy"})},
}


@pytest.mark.parametrize("kind", OUTAGES)
def test_an_outage_pauses_unsealed_and_its_calls_are_asked_anew(
    study, run, recording, make_registration, kind
):
    """case H5 and A2: after the registered 3 calls in a row; then the same calls are all read."""
    text = make_registration(URL, extra="attempts = 2\noutage = 3")
    frozen = study(text, items=10)
    bad = recording.Answer(**OUTAGES[kind])
    with (
        recording.Recorder(lambda _, n: bad if n > 2 else recording.Answer()) as server,
        pytest.raises(RunPaused, match="3 calls in a row without a reply"),
    ):
        run(frozen, base=server.base_url)

    assert sealed_runs(frozen.root / "log") == []
    assert len(events(frozen, "pause")[0]["anew"]) == 3
    with recording.Recorder() as server:
        run(frozen, base=server.base_url)

    assert readings(frozen) == ["ok"] * 10


@pytest.mark.parametrize("kind", ["500", "429 inside"])
def test_a_window_too_small_for_the_breaker_is_not_sealed_without_one_answer(
    study, run, recording, make_registration, kind
):
    """case H5: two calls, both lost; the breaker's five are never reached."""
    frozen = study(make_registration(URL, extra="attempts = 1"), items=2)
    bad = recording.Answer(**OUTAGES[kind])
    with (
        recording.Recorder(lambda _, n: bad if n else recording.Answer()) as server,
        pytest.raises(RunPaused, match="none of 2 calls was answered"),
    ):
        run(frozen, base=server.base_url)

    assert sealed_runs(frozen.root / "log") == []


def test_an_error_inside_a_success_is_retried_as_its_code_says(
    study, run, recording, make_registration
):
    """case A2: the first try is a 429 inside a 200, booked as an HTTP error; the second is read."""
    frozen = study(make_registration(URL), items=2)
    bad = recording.Answer(**OUTAGES["429 inside"])
    with recording.Recorder(lambda _, n: bad if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url)

    first, second = attempts(frozen)[:2]
    assert (first["status"], first["outcome"], first["responsibility"]) == (
        200,
        "http_error",
        "provider",
    )
    assert first["error"] == "HTTP 200: 429: slow down"
    assert (second["call_id"], second["outcome"]) == (first["call_id"], "ok")


def test_a_quota_inside_a_success_pauses_at_once(study, run, recording, make_registration):
    """case A2: `insufficient_quota` is no plain rate limit."""
    frozen = study(make_registration(URL), items=4)
    bad = recording.Answer(body=inside({"code": "insufficient_quota", "message": "pay"}))
    with (
        recording.Recorder(lambda _, n: bad if n == 2 else recording.Answer()) as server,
        pytest.raises(RunPaused, match="insufficient_quota"),
    ):
        run(frozen, base=server.base_url)

    assert len(server.requests) == 3


def test_too_few_replies_are_sealed_only_where_that_is_asked_for(
    study, run, recording, make_registration
):
    """case H5: every second call lost and one more, 4 of 9 answered, registered .5. `seal_anyway`
    sends nothing, and the journal says who asked.
    """
    frozen = study(make_registration(URL, extra="attempts = 1"), items=9)
    with (
        recording.Recorder(lambda _, n: recording.Answer(500 if n % 2 else 200)) as server,
        pytest.raises(RunPaused, match=r"4 of 9 calls that were sent, .* 0\.5 .*--seal-anyway"),
    ):
        run(frozen, base=server.base_url)
    asked = len(server.requests)
    with recording.Recorder() as server:
        run(frozen, base=server.base_url, seal_anyway=True)

    assert (asked, len(server.requests)) == (10, 0)
    assert readings(frozen).count("ok") == 4
    assert len(events(frozen, "seal_anyway")) == 1


@pytest.mark.parametrize(("least", "sealed"), [("0", True), ("0.5", False)])
def test_a_judge_that_nobody_can_parse_is_a_finding_unless_readings_are_registered(
    study, run, recording, make_registration, least, sealed
):
    """`least_valid` counts valid readings; its default 0 leaves bad judges to the verdict."""
    text = make_registration(URL, schedule=f'least_valid = "{least}"')
    frozen = study(text, items=3)
    body = recording.OK.replace(b'"pass"', b'"mu"')
    with recording.Recorder(lambda *_: recording.Answer(body=body)) as server:
        if sealed:
            run(frozen, base=server.base_url)
            assert readings(frozen) == ["unparsed"] * 3
        else:
            with pytest.raises(RunPaused, match="a valid reading has 0 of 3"):
                run(frozen, base=server.base_url)


REFUSALS = {
    "openai": (400, {"code": "content_filter", "message": "The response was filtered"}),
    "invalid prompt": (400, {"code": "invalid_prompt", "message": "flagged"}),
    "azure": (400, {"code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
    "anthropic": (
        400,
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
    ),
    "openrouter": (403, {"code": 403, "metadata": {"flagged_input": "...", "reasons": ["x"]}}),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_an_items_own_refusal_shows_that_the_way_is_open(
    study, run, recording, make_registration, kind
):
    """case A3: eight items, the first of the plan is refused by a filter, at preflight too."""
    frozen = study(make_registration(URL), items=8)
    status, error = REFUSALS[kind]
    body = frozen.body_of(frozen.plan[0]).request.body

    def answer(request, _):
        if request.body == body:
            return recording.Answer(status, {}, json.dumps({"error": error}).encode())
        return recording.Answer()

    with recording.Recorder(answer) as server:
        run(frozen, base=server.base_url)

    assert readings(frozen).count("ok") == 7
    assert readings(frozen).count("refused") == 1


def test_items_that_are_refused_one_after_the_other_do_not_pause(
    study, run, recording, make_registration
):
    """case A3: nine content filters in a row, with a breaker of 3."""
    frozen = study(make_registration(URL, extra="breaker = 3"), items=9)
    status, error = REFUSALS["openai"]
    refused = recording.Answer(status, {}, json.dumps({"error": error}).encode())
    with recording.Recorder(lambda *_: refused) as server:
        run(frozen, base=server.base_url)

    assert readings(frozen) == ["refused"] * 9


def test_another_model_is_told_before_a_planned_call(study, run, recording, make_registration):
    """case A12: registered is `simulated`, the server says `recorded`."""
    frozen, told = study(make_registration(URL), items=2), []
    asked = []
    with recording.Recorder() as server:
        run(
            frozen,
            base=server.base_url,
            teller=lambda text: (told.append(text), asked.append(len(server.requests))),
        )

    assert "names model 'recorded', registered is 'simulated'" in told[0]
    assert asked[0] == 1
    assert events(frozen, "other_model") == [
        {"endpoint": "judge", "registered": "simulated", "returned": "recorded"}
    ]


def test_a_compressed_reply_is_stored_as_received_and_read(
    study, run, recording, make_registration
):
    frozen = study(make_registration(URL), items=2)
    packed = gzip.compress(recording.OK, mtime=0)
    answer = recording.Answer(headers={"content-encoding": "gzip"}, body=packed)
    with recording.Recorder(lambda *_: answer) as server:
        run(frozen, base=server.base_url)

    assert readings(frozen) == ["ok"] * 2
    assert [row["response_body"] for row in attempts(frozen)] == [packed] * 2
    assert events(frozen, "compressed") == [{"endpoint": "judge", "codings": ["gzip"]}]


@pytest.mark.parametrize(
    ("coding", "body", "said"),
    [
        ("br", b"\x8b\x00", "compressed as 'br', which is not read here"),
        ("gzip", gzip.compress(b"{}", mtime=0)[:-9], "compressed as 'gzip', and broken"),
        ("gzip", gzip.compress(b" " * (65 << 20), mtime=0), "more than 67108864 bytes"),
    ],
)
def test_what_cannot_be_unpacked_is_a_bad_body_by_name(
    study, run, recording, make_registration, coding, body, said
):
    """64 MB are the bound; the bomb has 65 and travels as 65 kB."""
    frozen = study(make_registration(URL), items=2)
    answer = recording.Answer(headers={"content-encoding": coding}, body=body)
    with recording.Recorder(lambda _, n: answer if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url)

    bad = [row for row in attempts(frozen) if row["outcome"] == "bad_body"]
    assert len(bad) == 1
    assert said in bad[0]["error"]
